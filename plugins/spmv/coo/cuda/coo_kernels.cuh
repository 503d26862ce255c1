// SPDX-License-Identifier: BSD-3-Clause
// y = alpha A x + beta y on coordinates: 16 bytes and one gather an entry (f64), 2 flops. Bound: sectors of x from the
// last cache, or the arrays from memory. A warp takes tiles of consecutive entries (plugin_cuda_segments.hpp); a row
// begins where the row index changes.
#pragma once

#include "sextant/plugin_cuda_chain.hpp"
#include "sextant/plugin_cuda_segments.hpp"

namespace sextant::spmv_coo_cuda {

using namespace plugin::cuda;

template <class M>
struct Entries {
  const std::int32_t *row, *col;
  const M *values;
  std::int64_t nnz;
};

// One tile; `open` is left with the sum of its last row.
template <class V, class M, int R, class Close>
__device__ __forceinline__ void sum_tile(const Entries<M> &a, const Product<V> &p, std::int64_t begin, std::int64_t end,
                                         bool inner, V (&open)[R], Close &&close) {
  const int lane = threadIdx.x % 32;
  std::int32_t last_row = -1;  // of the entry before the chunk
  for (std::int64_t chunk = begin / lane_entries * lane_entries; chunk < end; chunk += chunk_entries) {
    const std::int64_t k = chunk + lane * lane_entries;
    std::int32_t row[lane_entries], col[lane_entries], ended[lane_entries];
    M value[lane_entries];
    load_four(a.col, k, a.nnz, col);
    load_four(a.row, k, a.nnz, row);
    load_four(a.values, k, a.nnz, value);
    V product[lane_entries][R];
#pragma unroll
    for (int j = 0; j < lane_entries; ++j)
#pragma unroll
      for (int r = 0; r < R; ++r)
        product[j][r] = k + j >= begin && k + j < end && r < p.n_rhs ? p.x[r * p.ldx + col[j]] : V{};
    const std::int32_t below = __shfl_up_sync(whole_warp, row[lane_entries - 1], 1);
    bool start[lane_entries];
#pragma unroll
    for (int j = 0; j < lane_entries; ++j) {
      const bool first = k + j == begin, in = k + j >= begin && k + j < end;
      ended[j] = first ? -1 : j ? row[j > 0 ? j - 1 : 0] : lane ? below : last_row;
      start[j] = in && (first ? !inner : row[j] != ended[j]);
#pragma unroll
      for (int r = 0; r < R; ++r) product[j][r] = times(convert<V>(value[j]), product[j][r]);
    }
    sum_chunk(product, start, ended, lane, open, close);
    last_row = __shfl_sync(whole_warp, row[lane_entries - 1], 31);
  }
}

// Tiles are dealt to the warps of the grid in turn. accumulate: y was scaled by beta before. carries: one an inner tile
// and column, ld apart.
template <class V, class M, int R>
__global__ void __launch_bounds__(256)
    coo_segments(Entries<M> a, Tiles tiles, Product<V> p, bool accumulate, V *carries, std::int64_t ld) {
  const int lane = threadIdx.x % 32;
  const std::int64_t warps = static_cast<std::int64_t>(gridDim.x) * (blockDim.x / 32);
  await_predecessor();
  release_successor();
  const V alpha = p.alpha(), beta = accumulate ? one<V>() : p.beta();
  const auto put = [&](std::int32_t row, const V(&sum)[R]) {
#pragma unroll
    for (int r = 0; r < R; ++r)
      if (r < p.n_rhs) store(p.y + r * p.ldy + row, sum[r], alpha, beta);
  };
  std::int64_t t = (static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
  for (; t < tiles.count; t += warps) {
    const unsigned long long stated = __ldg(tiles.begin + t);
    const std::int64_t begin = place_of(stated), end = place_of(__ldg(tiles.begin + t + 1));
    if (begin >= end) continue;
    const bool inner = (stated & inner_tile) != 0;
    V open[R] = {};
    sum_tile<V, M, R>(a, p, begin, end, inner, open, put);
    if (lane > 0) continue;
    if (!inner) put(__ldg(a.row + end - 1), open);
#pragma unroll
    for (int r = 0; r < R; ++r)
      if (inner && r < p.n_rhs) carries[r * ld + t] = open[r];
  }
}

// Where tiles of `size` entries begin: at the first row that begins in them. Notes the row of every tile's first entry,
// and counts the rows that hold an entry and the inner tiles. A warp a tile.
inline __global__ void __launch_bounds__(256)
    find_tiles(const std::int32_t *row, std::int64_t nnz, std::int64_t size, std::int64_t count,
               unsigned long long *begin, std::int32_t *row_of_tile, unsigned long long *rows_and_inner) {
  const std::int64_t t = (static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
  const int lane = threadIdx.x % 32;
  if (t > count) return;
  const std::int64_t from = t * size, to = min(nnz, from + size);
  if (t == count) {
    if (lane == 0) begin[t] = static_cast<unsigned long long>(nnz);
    return;
  }
  unsigned long long found = inner_tile | static_cast<unsigned long long>(from), rows = 0;
  for (std::int64_t k = from + lane; __any_sync(whole_warp, k < to); k += 32) {
    const bool start = k < to && (k == 0 || row[k] != row[k - 1]);
    const unsigned votes = __ballot_sync(whole_warp, start);
    if (votes && rows == 0) found = static_cast<unsigned long long>(k - lane + __ffs(votes) - 1);
    rows += __popc(votes);
  }
  if (lane > 0) return;
  begin[t] = found;
  row_of_tile[t] = row[from];
  if (rows)
    atomicAdd(rows_and_inner, rows);
  else
    atomicAdd(rows_and_inner + 1, 1ull);
}

// y += alpha op(A) x, an atomic addition an entry: y was scaled by beta before.
template <class V, class M, int R>
__global__ void __launch_bounds__(256) coo_atomic(Entries<M> a, Product<V> p, bool transposed, bool conjugate) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  const V alpha = p.alpha();
  for (std::int64_t k = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; k < a.nnz; k += stride) {
    const std::int32_t i = streamed(a.row + k), j = streamed(a.col + k);
    const V value = convert<V>(streamed(a.values + k)), factor = times(alpha, conjugate ? conjugated(value) : value);
#pragma unroll
    for (int r = 0; r < R; ++r)
      if (r < p.n_rhs)
        add_atomically(p.y + r * p.ldy + (transposed ? j : i), times(factor, p.x[r * p.ldx + (transposed ? i : j)]));
  }
}

}  // namespace sextant::spmv_coo_cuda
