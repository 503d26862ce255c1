// SPDX-License-Identifier: BSD-3-Clause
// The reference kernels of kinds sxt.vector_group/1 and sxt.vector_group_dots/1 and the kinds themselves.
#pragma once

#include "sextant/kinds/vector_group.h"
#include "sextant/kinds/vector_group_dots.h"

namespace sextant::vector_group_reference {

extern const sxt_kernel kernel;
extern const sxt_kind kind;
extern const sxt_kernel dots_kernel;
extern const sxt_kind dots_kind;

// The statements of a group, one after the other.
sxt_status update_group(sxt_value_type type, const sxt_vector_group_args &args, const sxt_exec *exec);

}  // namespace sextant::vector_group_reference
