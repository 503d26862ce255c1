// SPDX-License-Identifier: BSD-3-Clause
// Which of the equal tiles of entries that products by segmented sums take (plugins/formats/cuda/entry_tiles.hpp) begin
// inside a row: such a row is summed in parts, which wait for each other. A thread checks a tile; beyond some number of
// tiles only a sample is checked.
#pragma once

#include "features.cuh"
#include "plugins/formats/cuda/entry_tiles.hpp"

namespace sextant::features_cuda {

inline constexpr std::int64_t most_cuts_looked = 1 << 14;

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

// The row of that entry: the last that begins there or before. Three rows are read at once, because a search is bound
// by memory latency.
template <class Offset>
__device__ unsigned row_of(const Offset *row_ptr, unsigned rows, std::int64_t place) {
  unsigned low = 0, high = rows;
  while (high - low > 1) {
    const unsigned quarter = (high - low) / 4, middle = low + (high - low) / 2;
    const unsigned at[] = {low + quarter, middle, middle + quarter};
    const bool here[] = {row_ptr[at[0]] <= place, row_ptr[at[1]] <= place, row_ptr[at[2]] <= place};
    low = here[2] ? at[2] : here[1] ? at[1] : here[0] ? at[0] : low;
    high = here[2] ? high : here[1] ? at[2] : here[0] ? at[1] : at[0];
  }
  return low;
}

// A block's part of the tiles of a shape, a thread each.
template <class Offset>
__device__ void look_at_cuts(const Offset *row_ptr, std::int64_t rows, std::int64_t nnz, const CutShapes &shapes,
                             int of, std::int64_t block, std::int64_t longest, CutCounts *out) {
  const plugin::cuda::TileShape shape = shapes.shape[of];
  const std::int64_t slack = shape.slack_for(longest);
  if (longest <= slack) return;  // the tile's part of a row is no longer than the row
  const std::int64_t tiles = cut_tiles(shape, slack, nnz), looked = min(tiles, most_cuts_looked);
  const std::int64_t which = block * blockDim.x + threadIdx.x;
  bool cut = false;
  if (which < looked) {
    const std::int64_t t = tiles / looked * which + tiles % looked * which / looked;
    const std::int64_t place = t * plugin::cuda::TileShape::entries(shape.threads, slack);
    cut = place - row_ptr[row_of(row_ptr, static_cast<unsigned>(rows), place)] > slack;
  }
  add_sum(&out->cut[of], cut);
}

// ---- on the host

inline CutShapes cut_shapes() {
  CutShapes shapes{};
  std::copy_n(plugin::cuda::tile_shapes, plugin::cuda::n_tile_shapes, shapes.shape);
  return shapes;
}
// Blocks of so many threads for each shape: enough for the smallest tiles.
inline unsigned cut_blocks(const sxt_csr &a, int threads) {
  std::int64_t most = 1;
  for (const plugin::cuda::TileShape &shape : plugin::cuda::tile_shapes) {
    const std::int64_t slack = plugin::cuda::TileShape::most_slack(shape.threads);
    most = std::max(most, std::min(cut_tiles(shape, slack, a.s.nnz), most_cuts_looked));
  }
  return static_cast<unsigned>(plugin::cuda::divide_up<std::int64_t>(most, threads));
}

// The share of the sampled tiles that begin inside a row.
inline double cut_share(const CutCounts &counts, int s, const sxt_csr &a, double longest) {
  const auto &shape = plugin::cuda::tile_shapes[s];
  const std::int64_t tiles = cut_tiles(shape, shape.slack(longest), a.s.nnz);
  return tiles > 0 ? static_cast<double>(counts.cut[s]) / static_cast<double>(std::min(tiles, most_cuts_looked)) : 0;
}

}  // namespace sextant::features_cuda
