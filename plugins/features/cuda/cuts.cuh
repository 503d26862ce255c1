// SPDX-License-Identifier: BSD-3-Clause
// Which of the equal tiles of entries that products by segmented sums take (plugin_cuda_entry_tiles.hpp) begin inside a
// row: such a row is summed in parts, which wait for each other. A thread looks at a tile, beyond some number of tiles
// at every so-many-th.
#pragma once

#include "features.cuh"
#include "sextant/plugin_cuda_entry_tiles.hpp"

namespace sextant::features_cuda {

inline constexpr std::int64_t most_cuts_looked = 1 << 14;
inline constexpr int cut_threads = 128;

struct CutCounts {
  Count cut[plugin::cuda::n_tile_shapes];
};
struct CutShapes {
  plugin::cuda::TileShape shape[plugin::cuda::n_tile_shapes];
};

inline __host__ __device__ std::int64_t cut_tiles(const plugin::cuda::TileShape &shape, std::int64_t slack,
                                                  std::int64_t nnz) {
  const std::int64_t size = plugin::cuda::TileShape::entries(shape.threads, slack);
  return (nnz + size - 1) / size;
}

template <class Offset>
__global__ void __launch_bounds__(cut_threads) look_at_cuts(const Offset *row_ptr, std::int64_t rows, std::int64_t nnz,
                                                            CutShapes shapes, const Count *longest, CutCounts *out) {
  const auto &shape = shapes.shape[blockIdx.y];
  const std::int64_t slack = shape.slack_for(static_cast<std::int64_t>(*longest));
  const std::int64_t tiles = cut_tiles(shape, slack, nnz), looked = min(tiles, most_cuts_looked);
  const std::int64_t which = static_cast<std::int64_t>(blockIdx.x) * cut_threads + threadIdx.x;
  bool cut = false;
  if (which < looked) {
    const std::int64_t t = tiles / looked * which + tiles % looked * which / looked;
    const std::int64_t place = t * plugin::cuda::TileShape::entries(shape.threads, slack);
    // The row of that place: the last that begins there or before.
    std::int64_t low = 0, high = rows;
    while (high - low > 1) {
      const std::int64_t middle = (low + high) / 2;
      (row_ptr[middle] <= place ? low : high) = middle;
    }
    cut = place - row_ptr[low] > slack;
  }
  add_sum(&out->cut[blockIdx.y], cut);
}

// ---- on the host

template <class Offset>
void count_cuts(const Offset *row_ptr, const sxt_csr &a, const Count *longest, CutCounts *out, const sxt_exec *exec) {
  CutShapes shapes{};
  std::int64_t most = 1;
  for (int s = 0; s < plugin::cuda::n_tile_shapes; ++s) {
    shapes.shape[s] = plugin::cuda::tile_shapes[s];
    const std::int64_t slack = plugin::cuda::TileShape::most_slack(shapes.shape[s].threads);  // the smallest tiles
    most = std::max(most, std::min(cut_tiles(shapes.shape[s], slack, a.s.nnz), most_cuts_looked));
  }
  const dim3 grid(static_cast<unsigned>(plugin::cuda::divide_up<std::int64_t>(most, cut_threads)),
                  plugin::cuda::n_tile_shapes);
  look_at_cuts<<<grid, cut_threads, 0, plugin::cuda::stream_of(*exec)>>>(row_ptr, a.s.rows, a.s.nnz, shapes, longest,
                                                                         out);
  plugin::cuda::need_launch("a look at tiles of entries");
}

// The share of the looked-at tiles that begin inside a row.
inline double cut_share(const CutCounts &counts, int s, const sxt_csr &a, double longest) {
  const auto &shape = plugin::cuda::tile_shapes[s];
  const std::int64_t tiles = cut_tiles(shape, shape.slack(longest), a.s.nnz);
  return tiles > 0 ? static_cast<double>(counts.cut[s]) / static_cast<double>(std::min(tiles, most_cuts_looked)) : 0;
}

}  // namespace sextant::features_cuda
