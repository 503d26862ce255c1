// SPDX-License-Identifier: BSD-3-Clause
// The kernels of this plugin.
#pragma once

#include "sextant/sdk/kernel.hpp"

namespace sextant::hermitian_pivoted {

extern const sxt_kernel tile_kernel;  // hermitian.pivoted_tile.cuda

}  // namespace sextant::hermitian_pivoted
