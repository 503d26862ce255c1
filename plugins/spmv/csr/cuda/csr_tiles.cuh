// SPDX-License-Identifier: BSD-3-Clause
// What the adaptive and the balanced kernel share: a block brings the products of a tile of consecutive entries into
// shared memory, in the order in which they lie in memory, and then sums rows from there (Greathouse and Daga, SC
// 2014).
#pragma once

#include <cstdint>

#include "csr_rows.cuh"

namespace sextant::spmv_csr_cuda {

inline constexpr int few_rows = 8;     // up to which all warps share each row
inline constexpr int most_warps = 16;  // of a block
inline constexpr int most_threads = 32 * most_warps;
inline constexpr std::uint64_t most_shared = 44 << 10;  // bytes of products; what a block may have unasked is 48 KB

// A thread's share of the entries first .. last - 1 of a tile: at most `items`, a block's width apart.
template <int items, class M>
struct Share {
  std::int32_t col[items];
  M value[items];

  template <class Offset>
  __device__ __forceinline__ void load(const Csr<M, Offset> &a, std::int64_t first, std::int64_t last) {
#pragma unroll
    for (int j = 0; j < items; ++j) {
      const std::int64_t k = first + threadIdx.x + j * blockDim.x;
      col[j] = k < last ? cuda::streamed(a.col + k) : -1;
      value[j] = k < last ? cuda::streamed(a.values + k) : M{};
    }
  }
  // products[k - first] = a_k x[col_k]
  template <class V>
  __device__ __forceinline__ void multiply(const V *x, bool conjugated, V *products) const {
    V element[items];
#pragma unroll
    for (int j = 0; j < items; ++j) element[j] = col[j] >= 0 ? x[col[j]] : V{};
#pragma unroll
    for (int j = 0; j < items; ++j)
      if (col[j] >= 0) products[threadIdx.x + j * blockDim.x] = cuda::times(entry<V>(value[j], conjugated), element[j]);
  }
};

// Threads a row of the tile: so many that all rows are summed at once, if there are that few.
__device__ __forceinline__ int lanes_for(int rows) {
  int lanes = 32;
  while (lanes > 1 && rows * lanes > static_cast<int>(blockDim.x)) lanes /= 2;
  return lanes;
}

// done(j, sum) for the rows 0 .. rows - 1 of a tile; bounds(j, from, to) says which products are row j's. partial:
// few_rows x most_warps values of shared memory. Every thread of the block calls; products are in place.
template <class V, class Bounds, class Done>
__device__ __forceinline__ void sum_rows(int rows, Bounds &&bounds, const V *products, V *partial, Done &&done) {
  if (rows <= few_rows) {
    const int warp = threadIdx.x / 32, warps = blockDim.x / 32;
    for (int j = 0; j < rows; ++j) {
      int from, to;
      bounds(j, from, to);
      V sum{};
      for (int k = from + threadIdx.x; k < to; k += blockDim.x) sum = cuda::plus(sum, products[k]);
      sum = sum_of_lanes(sum, 32);
      if (threadIdx.x % 32 == 0) partial[j * most_warps + warp] = sum;
    }
    __syncthreads();
    if (static_cast<int>(threadIdx.x) >= rows) return;
    V sum{};
    for (int w = 0; w < warps; ++w) sum = cuda::plus(sum, partial[threadIdx.x * most_warps + w]);
    done(static_cast<int>(threadIdx.x), sum);
    return;
  }
  const int lanes = lanes_for(rows), lane = threadIdx.x & (lanes - 1), groups = blockDim.x / lanes;
  for (int j = threadIdx.x / lanes; j - static_cast<int>(threadIdx.x) / lanes < rows; j += groups) {
    V sum{};
    if (j < rows) {
      int from, to;
      bounds(j, from, to);
      for (int k = from + lane; k < to; k += lanes) sum = cuda::plus(sum, products[k]);
    }
    sum = sum_of_lanes(sum, lanes);
    if (j < rows && lane == 0) done(j, sum);
  }
}

// The sum over the block of one value a thread, in thread 0. partial: most_warps values of shared memory.
template <class V>
__device__ __forceinline__ V sum_of_block(V value, V *partial) {
  value = sum_of_lanes(value, 32);
  __syncthreads();
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = value;
  __syncthreads();
  V sum{};
  if (threadIdx.x == 0)
    for (unsigned w = 0; w < blockDim.x / 32; ++w) sum = cuda::plus(sum, partial[w]);
  return sum;
}

// The entries of a part of one row, summed by a block: its thread's share.
template <int flight, class V, class M, class Offset>
__device__ __forceinline__ V gather_part(const Csr<M, Offset> &a, const V *x, std::int64_t first, std::int64_t last) {
  V sum[flight]{};
  for (std::int64_t k = first + threadIdx.x; k < last; k += flight * blockDim.x) {
#pragma unroll
    for (int f = 0; f < flight; ++f) {
      const std::int64_t at = k + f * blockDim.x;
      if (at < last)
        sum[f] = cuda::multiply_add(entry<V>(cuda::streamed(a.values + at), a.conjugated),
                                    x[cuda::streamed(a.col + at)], sum[f]);
    }
  }
#pragma unroll
  for (int half = flight / 2; half > 0; half /= 2)
#pragma unroll
    for (int f = 0; f < half; ++f) sum[f] = cuda::plus(sum[f], sum[f + half]);
  return sum[0];
}

// ---- balanced: tiles of equal rows plus entries, along the merge path (Merrill and Garland, SC 2016)

// Row tile_row[b] is the first that has not ended before tile b; its first entry there is b * tile - tile_row[b]. A row
// that ends in a tile is finished there if it began there; what else a tile holds goes to carry[b] (its last row, which
// does not end) and head[b] (its first row, which began earlier), to be added in order afterwards.
template <int items, class V, class M, class Offset>
__global__ void __launch_bounds__(most_threads)
    balanced_kernel(Csr<M, Offset> a, cuda::Product<V> p, std::int64_t items_in_all, const std::int32_t *tile_row,
                    V *carry, V *head) {
  extern __shared__ __align__(16) unsigned char shared[];
  V *products = reinterpret_cast<V *>(shared);
  __shared__ V partial[few_rows * most_warps];
  const std::int64_t tile = static_cast<std::int64_t>(items) * blockDim.x, b = blockIdx.x;
  const std::int64_t first_row = tile_row[b], last_row = tile_row[b + 1];
  const std::int64_t begin = b * tile - first_row, end = min((b + 1) * tile, items_in_all) - last_row;
  Share<items, M> share;
  share.load(a, begin, end);
  cuda::await_predecessor();  // which may still be adding what this kernel will leave in carry and head
  cuda::release_successor();
  const V alpha = p.alpha(), beta = p.beta();
  share.multiply(p.x, a.conjugated, products);
  if (threadIdx.x == 0) carry[b] = V{};
  __syncthreads();
  // The row that stays open is summed with the others, unless nothing of it lies here.
  const bool open = last_row < a.rows && end > max(static_cast<std::int64_t>(a.row_ptr[last_row]), begin);
  sum_rows(
      static_cast<int>(last_row - first_row) + open,
      [&](int j, int &from, int &to) {
        const Offset *at = a.row_ptr + first_row + j;
        from = static_cast<int>(max(static_cast<std::int64_t>(at[0]), begin) - begin);
        to = static_cast<int>(min(static_cast<std::int64_t>(at[1]), end) - begin);
      },
      products, partial,
      [&](int j, V sum) {
        const std::int64_t i = first_row + j;
        if (i == last_row)
          carry[b] = sum;
        else if (i == first_row && a.row_ptr[i] < begin)
          head[b] = sum;
        else
          cuda::store(p.y + i, sum, alpha, beta);
      });
}

// Rows that began before the tile in which they end: a warp a tile adds what the tiles between left, in order.
template <class V, class M, class Offset>
__global__ void __launch_bounds__(256)
    add_carries(Csr<M, Offset> a, cuda::Product<V> p, std::int64_t tiles, std::int64_t tile,
                const std::int32_t *tile_row, const V *carry, const V *head) {
  const std::int64_t b = (static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
  const int lane = threadIdx.x % 32;
  const std::int64_t i = b < tiles ? tile_row[b] : a.rows;
  const bool ends = i < a.rows && tile_row[b + 1] > i;
  const std::int64_t start = ends ? static_cast<std::int64_t>(a.row_ptr[i]) : 0;
  cuda::await_predecessor();
  cuda::release_successor();
  if (!ends || start >= b * tile - i) return;  // nothing ends here, or it began here
  V sum{};
  for (std::int64_t t = (start + i) / tile + lane; t < b; t += 32) sum = cuda::plus(sum, carry[t]);
  sum = sum_of_lanes(sum, 32);
  if (lane == 0) cuda::store(p.y + i, cuda::plus(sum, head[b]), p.alpha(), p.beta());
}

}  // namespace sextant::spmv_csr_cuda
