// SPDX-License-Identifier: BSD-3-Clause
// The CPU's kernel of kind sxt.hermitian_step/1, which is also its reference, and the kind itself.
#pragma once

#include "sextant/plugin/kinds/hermitian_step.h"

namespace sextant::hermitian_steps_cpu {

extern const sxt_kernel kernel;
extern const sxt_kind kind;

}  // namespace sextant::hermitian_steps_cpu
