// SPDX-License-Identifier: BSD-3-Clause
// The CPU's kernel of kind sxt.hermitian_toeplitz/1, which is also its reference, and the kind itself.
#pragma once

#include "sextant/plugin/kinds/hermitian_toeplitz.h"

namespace sextant::hermitian_toeplitz {

extern const sxt_kernel kernel;
extern const sxt_kind kind;

}  // namespace sextant::hermitian_toeplitz
