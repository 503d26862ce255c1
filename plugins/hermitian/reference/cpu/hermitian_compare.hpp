// SPDX-License-Identifier: BSD-3-Clause
// The comparison of kind sxt.hermitian/1.
#pragma once

#include "hermitian_cases.hpp"

namespace sextant::hermitian_reference {

sxt_status compare(const sxt_case *got, const sxt_case *want, double *error, sxt_message *message);

}  // namespace sextant::hermitian_reference
