// SPDX-License-Identifier: BSD-3-Clause
// The reference kernel of kind sxt.vector_group/1 and the kind itself.
#pragma once

#include "sextant/kinds/vector_group.h"

namespace sextant::vector_group_reference {

extern const sxt_kernel kernel;
extern const sxt_kind kind;

}  // namespace sextant::vector_group_reference
