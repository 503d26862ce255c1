// SPDX-License-Identifier: BSD-3-Clause
// The reference kernel of kind sxt.spmv_dots/1 and the kind itself.
#pragma once

#include "sextant/plugin/kinds/alike.h"
#include "sextant/plugin/kinds/spmv_dots.h"

namespace sextant::spmv_dots_reference {

extern const sxt_kernel kernel;
extern const sxt_kind_alike kind;

}  // namespace sextant::spmv_dots_reference
