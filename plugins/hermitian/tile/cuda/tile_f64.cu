// SPDX-License-Identifier: BSD-3-Clause
// hermitian.tile.cuda for f64.
#include "tile_kernels.cuh"

namespace sextant::hermitian_tile {

SXT_TILE_KERNELS(double);

}  // namespace sextant::hermitian_tile
