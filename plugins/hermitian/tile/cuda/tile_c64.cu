// SPDX-License-Identifier: BSD-3-Clause
// hermitian.tile.cuda for c64.
#include "tile_kernels.cuh"

namespace sextant::hermitian_tile {

SXT_TILE_KERNELS(dense::Complex<float>);

}  // namespace sextant::hermitian_tile
