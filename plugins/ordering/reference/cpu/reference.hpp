// SPDX-License-Identifier: BSD-3-Clause
// Common declarations of this plugin's files.
#pragma once

#include "sextant/sdk/ordering.hpp"

namespace sextant::ordering_reference {

extern const sxt_kernel kernel;
extern const sxt_kind kind;

}  // namespace sextant::ordering_reference
