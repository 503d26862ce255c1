// SPDX-License-Identifier: BSD-3-Clause
// Tiles of equal numbers of entries, as products by segmented sums take them (plugins/formats/cuda/row_ends.hpp): the
// offered shapes, the entries of each, and their cost for a matrix in performance models. Feature kernels examine the
// same shapes. Include from .cu files.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "sextant/sdk/cuda/spmv.hpp"

namespace sextant::plugin::cuda {

inline constexpr int own_entries = 4;  // of a lane

// Threads a block, and the part of its entries that may be left free so that no row is cut.
struct TileShape {
  int threads, part;
  // Less than a tile: where one moves to the beginning of a row, it stays behind the tile before.
  __host__ __device__ static std::int64_t most_slack(int threads) { return own_entries * (threads - 1) / 2 - 1; }
  // Entries a tile holds besides those that a long row may bring into it; a tile may begin inside a lane's four.
  __host__ __device__ static std::int64_t entries(int threads, std::int64_t slack) {
    const std::int64_t most = most_slack(threads);
    return own_entries * (threads - 1) - (slack < most ? slack : most);
  }
  // Free places where no row is longer than `longest`.
  __host__ __device__ std::int64_t slack_for(std::int64_t longest) const {
    const std::int64_t share = own_entries * threads / part, most = most_slack(threads);
    const std::int64_t given = share < most ? share : most;
    return longest < given ? longest : given;
  }
  std::int64_t slack(double longest) const {  // NaN: unknown
    return slack_for(std::isfinite(longest) ? static_cast<std::int64_t>(longest) : most_slack(threads));
  }
};
// Shapes that are equivalent, because no row is long enough, are offered once: those with most free places come first.
inline constexpr TileShape tile_shapes[] = {{128, 2}, {128, 8}, {256, 2}, {256, 8}};
inline constexpr int n_tile_shapes = 4;
inline bool same_as_before(const TileShape &shape, double longest) {
  const TileShape *const before = &shape - 1;
  return &shape > tile_shapes && before->threads == shape.threads && before->slack(longest) == shape.slack(longest);
}
// Shares of the tiles that begin inside a row, a name a shape.
#define SXT_TILE_CUTS "tile_cuts_128_2", "tile_cuts_128_8", "tile_cuts_256_2", "tile_cuts_256_8"

// ---- models

// A warp's 128 entries and their scan take what three steps of a warp over 32 entries do, a tile beside them one;
// places left free take nothing.
inline double steps_of_tiles(double nnz, double tiles) { return 3 * nnz / (32 * own_entries) + tiles; }
// The extra wait for the parts of a long row, sent and received. cuts: the share of cut tiles; without it a row is cut
// where it is longer than the free places.
inline double chain_of_tiles(double cuts, double longest, int threads, std::int64_t slack) {
  const auto size = static_cast<double>(TileShape::entries(threads, slack)), free = static_cast<double>(slack);
  const bool cut = std::isfinite(cuts) ? cuts > 0 || longest > free + size : longest > free;
  return cut ? 1 + 0.5 * std::log2(1 + std::max(1.0, longest / size)) : 0;
}
// Rows without an entry come from lists of rows: one more load to wait for.
inline double busiest_of_tiles(double empty_rows) { return empty_rows > 0 ? 1 : 0; }

}  // namespace sextant::plugin::cuda
