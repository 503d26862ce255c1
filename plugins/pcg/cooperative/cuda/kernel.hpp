// SPDX-License-Identifier: BSD-3-Clause
// The kernel for each pair of types, from C++.
#pragma once

#include "sextant/types.h"

namespace cooperative {

// (const Matrix, const Work, const Run); NULL for types that it does not know.
const void *kernel_for(sxt_value_type vectors, sxt_value_type stored, sxt_index_type offsets);

}  // namespace cooperative
