// SPDX-License-Identifier: BSD-3-Clause
// hermitian.tile.cuda for f32.
#include "tile_kernels.cuh"

namespace sextant::hermitian_tile {

SXT_TILE_KERNELS(float);

}  // namespace sextant::hermitian_tile
