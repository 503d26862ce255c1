// SPDX-License-Identifier: BSD-3-Clause
// Common parts of the adaptive kernels: a block brings the products of a tile of consecutive entries into shared
// memory, in memory order, and then sums rows from there (Greathouse and Daga, SC 2014).
#pragma once

#include <cstdint>

#include "csr_rows.cuh"

namespace sextant::spmv_csr_cuda {

inline constexpr int few_rows = 8;     // up to which all warps share each row
inline constexpr int most_warps = 16;  // of a block
inline constexpr int most_threads = 32 * most_warps;

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

// Threads a row of the tile: as many as let all rows be summed at once, where there are few.
__device__ __forceinline__ int lanes_for(int rows) {
  int lanes = 32;
  while (lanes > 1 && rows * lanes > static_cast<int>(blockDim.x)) lanes /= 2;
  return lanes;
}

// done(j, sum) for the rows 0 .. rows - 1 of a tile; bounds(j, from, to) gives the products of row j. partial: few_rows
// x most_warps values of shared memory. Every thread of the block calls; products are in place.
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

}  // namespace sextant::spmv_csr_cuda
