// SPDX-License-Identifier: BSD-3-Clause
// The work of blocks that bring the products of a tile of entries to shared memory and sum rows from there: as many
// lanes a row as the tile's rows leave, so that one long row among many short ones occupies the whole block. Counted in
// steps of such a sum (about 25 ns), for tiles of whole rows in every shape that kernels of the library use. A warp
// examines a tile; beyond some number of tiles only a sample is examined.
#pragma once

#include "features.cuh"

namespace sextant::features_cuda {

// Entries of a tile, threads of a block.
#define SXT_TILE_SHAPES(X) X(512, 128) X(1024, 128) X(1024, 256) X(2048, 256) X(4096, 512)
#define SXT_TILE_NAMES(entries, threads) "tile_steps_" #entries "_" #threads, "tile_most_" #entries "_" #threads,

struct TileShape {
  int entries, threads;
};
struct TileShapes {
#define SXT_X(entries, threads) +1
  static constexpr int count = SXT_TILE_SHAPES(SXT_X);
#undef SXT_X
  TileShape shape[count];
};
#define SXT_X(entries, threads) {entries, threads},
inline constexpr TileShapes all_tile_shapes = {{SXT_TILE_SHAPES(SXT_X)}};
#undef SXT_X
inline constexpr int tile_shapes = TileShapes::count;
inline constexpr std::int64_t most_tiles = 1056;  // looked at, of each shape
inline constexpr int look_threads = 512, look_warps = look_threads / 32, most_block_warps = 16;

// Costs in steps: each row of a block of few rows, reading row pointers again in a pass, a row longer than a tile, and
// a round of loads over it, four entries a thread.
inline constexpr int few_rows = 8, few_rows_steps = 4, unread_steps = 6, long_row_steps = 15, round_steps = 45;

struct TileCounts {
  Count sum[tile_shapes], most[tile_shapes], looked[tile_shapes];
};

// How much a tile may weigh, entries counting eight and rows one: short rows leave room for the last one, where there
// are long ones a sixteenth stays free.
inline __host__ __device__ std::int64_t tile_weight(const TileShape &shape, std::int64_t longest) {
  const std::int64_t last = longest > 0 ? longest - 1 : 0;
  return 8 * (shape.entries - (longest <= shape.entries / 8 ? last : shape.entries / 16));
}
inline __host__ __device__ std::int64_t tiles_of(std::int64_t weight, std::int64_t rows, std::int64_t nnz) {
  return (rows + 8 * nnz + weight - 1) / weight;
}

// Where tile t begins and ends: the first rows in [0, rows] with t and t + 1 tiles' weight before them, found side by
// side, since they are bound by memory latency. All lanes search at once.
struct TileRows {
  unsigned first, last;
};
template <class Offset>
__device__ TileRows tile_rows(const Offset *row_ptr, unsigned rows, std::int64_t weight, std::int64_t t) {
  const unsigned lane = threadIdx.x % 32;
  unsigned low[2] = {0, 0}, high[2] = {rows, rows};  // each lies in low .. high
  while (low[0] < high[0] || low[1] < high[1]) {
    bool before[2];
    unsigned width[2];
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      width[e] = high[e] - low[e] + 31 >> 5;
      const unsigned at = low[e] + lane * width[e];
      before[e] = at < high[e] && 8 * static_cast<std::int64_t>(row_ptr[at]) + at < (t + e) * weight;
    }
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      const unsigned passed = __popc(__ballot_sync(0xffffffffu, before[e]));  // they come first
      if (passed > 0) low[e] += (passed - 1) * width[e] + 1;
      high[e] = passed > 0 ? min(high[e], low[e] + width[e] - 1) : low[e];
    }
  }
  return {low[0], low[1]};
}

// Steps of a block with `threads` for rows first .. first + count - 1.
template <class Offset>
__device__ int tile_steps(const Offset *row_ptr, std::int64_t first, int count, int threads, int *of_warp) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  row_ptr += first;
  if (count <= few_rows) {
    int steps = lane < count ? (row_length(row_ptr, lane) + threads - 1) / threads + few_rows_steps : 0;
    for (int d = 16; d > 0; d /= 2) steps += __shfl_xor_sync(0xffffffffu, steps, d);
    return steps;
  }
  int power = 5;  // of the lanes that share a row
  while (power > 0 && count << power > threads) --power;
  const int groups = threads >> power, rows_a_warp = 32 >> power, lanes = 1 << power;
  if (lane < most_block_warps) of_warp[lane] = 0;
  __syncwarp();
  // Several loads are in flight at once, and those of the next rows during the work on these: the warp has no other
  // work to hide them.
  constexpr int flight = 4;
  const auto read = [&](int from, int(&own)[flight]) {
#pragma unroll
    for (int f = 0; f < flight; ++f) {
      const int j = from + 32 * f + lane;
      own[f] = j < count ? (row_length(row_ptr, j) + lanes - 1 >> power) + 1 : 0;
    }
  };
  int next[flight];
  read(0, next);
  for (int chunk = 0; chunk < count; chunk += 32 * flight) {
    int most[flight];
    for (int f = 0; f < flight; ++f) most[f] = next[f];
    read(chunk + 32 * flight, next);
    for (int d = 1; d < rows_a_warp; d *= 2)
#pragma unroll
      for (int f = 0; f < flight; ++f) most[f] = max(most[f], __shfl_xor_sync(0xffffffffu, most[f], d));
#pragma unroll
    for (int f = 0; f < flight; ++f) {
      const int j = chunk + 32 * f + lane;
      if (j < count && lane % rows_a_warp == 0) atomicAdd(of_warp + ((j & (groups - 1)) >> (5 - power)), most[f]);
    }
  }
  __syncwarp();
  int steps = lane < most_block_warps ? of_warp[lane] : 0;
  for (int d = 16; d > 0; d /= 2) steps = max(steps, __shfl_xor_sync(0xffffffffu, steps, d));
  __syncwarp();
  if (count >= 3 * threads) steps += unread_steps * ((count + groups - 1) / groups);
  return steps;
}

template <class Offset>
__device__ int look_at_tile(const Offset *row_ptr, std::int64_t rows, const TileShape &shape, std::int64_t weight,
                            std::int64_t t, int *of_warp) {
  const auto [first, last] = tile_rows(row_ptr, static_cast<unsigned>(rows), weight, t);
  const std::int64_t begin = row_ptr[first], end = row_ptr[last];
  const int count = static_cast<int>(last - first);  // each row weighs at least one
  if (end - begin <= shape.entries) return tile_steps(row_ptr, first, count, shape.threads, of_warp);
  // The last row is longer than what is left of the tile: the block sums it alone.
  const std::int64_t alone = end - static_cast<std::int64_t>(row_ptr[last - 1]);
  const std::int64_t rounds = (alone + 4 * shape.threads - 1) / (4 * shape.threads);
  return tile_steps(row_ptr, first, count - 1, shape.threads, of_warp) + long_row_steps +
         static_cast<int>(min(rounds, std::int64_t{1} << 24)) * round_steps;
}

// A block's part of the tiles of a shape, a warp each.
template <class Offset>
__device__ void look_at_tiles(const Offset *row_ptr, std::int64_t rows, std::int64_t nnz, const TileShapes &shapes,
                              int of, unsigned block, std::int64_t longest, TileCounts *out) {
  __shared__ int of_warp[look_warps][most_block_warps];
  __shared__ Count steps[look_warps];
  const TileShape shape = shapes.shape[of];
  const std::int64_t weight = tile_weight(shape, longest);
  const auto tiles = static_cast<unsigned>(tiles_of(weight, rows, nnz));  // of half a thousand entries at least
  const unsigned looked = min(tiles, static_cast<unsigned>(most_tiles));
  const int warp = static_cast<int>(threadIdx.x / 32), lane = static_cast<int>(threadIdx.x % 32);
  const unsigned which = block * look_warps + warp;
  if (which < looked) {
    const auto own =
        static_cast<Count>(look_at_tile(row_ptr, rows, shape, weight, spread(tiles, looked, which), of_warp[warp]));
    if (lane == 0) steps[warp] = own;
  }
  __syncthreads();
  // One addition a block: counters take them one after the other.
  if (warp > 0 || block * look_warps >= looked) return;
  const unsigned here = min(static_cast<unsigned>(look_warps), looked - block * look_warps);
  const Count its = lane < here ? steps[lane] : 0;
  add_sum(&out->sum[of], its);
  add_most(&out->most[of], its);
  if (lane == 0) atomicAdd(&out->looked[of], Count{here});
}

// ---- on the host

// Blocks for each shape: enough for the lightest tiles that any longest row could leave.
inline unsigned tile_blocks(const sxt_csr &a) {
  std::int64_t most = 1;
  for (const TileShape &shape : all_tile_shapes.shape)
    most = std::max(most, std::min(tiles_of(tile_weight(shape, shape.entries / 8), a.s.rows, a.s.nnz), most_tiles));
  return static_cast<unsigned>(plugin::cuda::divide_up<std::int64_t>(most, look_warps));
}

// values: the mean and the most of each shape. A row that no looked-at tile had counts for the most all the same.
inline void tell_tiles(const TileCounts &counts, int shape, const sxt_csr &a, double longest, double *values) {
  const TileShape &its = all_tile_shapes.shape[shape];
  const double looked = static_cast<double>(counts.looked[shape]);
  double most = static_cast<double>(counts.most[shape]);
  if (longest > its.entries)
    most = std::max(most, long_row_steps + round_steps * std::ceil(longest / (4.0 * its.threads)));
  values[2 * shape] = looked > 0 ? static_cast<double>(counts.sum[shape]) / looked : 0;
  values[2 * shape + 1] = a.s.nnz > 0 ? most : 0;
}

}  // namespace sextant::features_cuda
