// SPDX-License-Identifier: BSD-3-Clause
// y = alpha op(A) x + beta y on SELL-C-sigma with slices of 32 rows: 12 bytes a stored entry (f64), one gather an
// entry, 2 flops. Bound: sectors of x from the last cache, or the arrays from memory. A lane is a row; a warp takes a
// slice, or several warps of a block share one: each takes every n-th column of the slice, and their sums are added in
// order. The first entries are loaded before the previous kernel of the stream has ended.
#pragma once

#include "sextant/sdk/cuda/chain.hpp"
#include "sextant/sdk/cuda/spmv.hpp"

namespace sextant::spmv_sell_cuda {

using namespace plugin::cuda;

inline constexpr int slice_rows = 32, most_sharing = 8;

template <class M>
struct Slices {
  const void *slice_ptr;
  bool wide;  // of slice_ptr
  const std::int32_t *col, *perm;
  const M *values;
  std::int64_t rows, count;
};

// Entries of one lane that are in flight together; a column below zero is padding, or beyond the slice.
template <class M, int flight>
struct Flight {
  std::int32_t col[flight];
  M value[flight];
  __device__ __forceinline__ void load(const std::int32_t *cols, const M *values, int k, int step, int width) {
#pragma unroll
    for (int f = 0; f < flight; ++f) {
      const bool in = k + f * step < width;
      col[f] = in ? streamed(cols + static_cast<std::int64_t>(k + f * step) * slice_rows) : -1;
      value[f] = in ? streamed(values + static_cast<std::int64_t>(k + f * step) * slice_rows) : M{};
    }
  }
  template <class V, int R>
  __device__ __forceinline__ void add(const Product<V> &p, V (&sum)[R]) const {
    V x[flight][R];
#pragma unroll
    for (int f = 0; f < flight; ++f)
#pragma unroll
      for (int r = 0; r < R; ++r) x[f][r] = col[f] >= 0 && r < p.n_rhs ? p.x[r * p.ldx + col[f]] : V{};
#pragma unroll
    for (int f = 0; f < flight; ++f)
#pragma unroll
      for (int r = 0; r < R; ++r) sum[r] = multiply_add(convert<V>(value[f]), x[f][r], sum[r]);
  }
};

// `sharing` warps of a block share a slice, a power of two up to the warps of a block.
template <class V, class M, int R, int flight>
__global__ void __launch_bounds__(256) sell_slices(Slices<M> a, Product<V> p, int sharing) {
  __shared__ V partial[most_sharing][R][slice_rows];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32, part = warp % sharing;
  const std::int64_t slice = static_cast<std::int64_t>(blockIdx.x) * (warps / sharing) + warp / sharing;
  const std::int64_t i = slice * slice_rows + lane;
  const bool present = slice < a.count;
  const std::int64_t begin = present ? offset_at(a.slice_ptr, a.wide, slice) : 0;
  const std::int64_t end = present ? offset_at(a.slice_ptr, a.wide, slice + 1) : 0;
  const int width = static_cast<int>((end - begin) / slice_rows);
  const std::int32_t *col = a.col + begin + lane;
  const M *values = a.values + begin + lane;
  Flight<M, flight> entries;
  entries.load(col, values, part, sharing, width);
  const std::int64_t row = i < a.rows ? (a.perm ? __ldg(a.perm + i) : i) : 0;
  await_predecessor();
  release_successor();
  V sum[R] = {};
  entries.add(p, sum);
  for (int k = part + flight * sharing; k < width; k += flight * sharing) {
    entries.load(col, values, k, sharing, width);
    entries.add(p, sum);
  }
  if (sharing > 1) {
#pragma unroll
    for (int r = 0; r < R; ++r) partial[warp][r][lane] = sum[r];
    __syncthreads();
    if (part > 0) return;
    for (int other = 1; other < sharing; ++other)
#pragma unroll
      for (int r = 0; r < R; ++r) sum[r] = plus(sum[r], partial[warp + other][r][lane]);
  }
  if (i >= a.rows) return;
  const V alpha = p.alpha(), beta = p.beta();
#pragma unroll
  for (int r = 0; r < R; ++r)
    if (r < p.n_rhs) store(p.y + r * p.ldy + row, sum[r], alpha, beta);
}

// y += alpha op(A) x with op a transpose: an atomic addition an entry; y was scaled by beta before.
template <class V, class M, int R>
__global__ void __launch_bounds__(256) sell_transposed(Slices<M> a, Product<V> p, bool conjugate) {
  const int lane = threadIdx.x % 32;
  const std::int64_t slice = (static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
  const std::int64_t i = slice * slice_rows + lane;
  if (i >= a.rows) return;
  const std::int64_t begin = offset_at(a.slice_ptr, a.wide, slice), end = offset_at(a.slice_ptr, a.wide, slice + 1);
  const std::int64_t row = a.perm ? __ldg(a.perm + i) : i;
  V x[R];
#pragma unroll
  for (int r = 0; r < R; ++r) x[r] = r < p.n_rhs ? times(p.alpha(), p.x[r * p.ldx + row]) : V{};
  for (std::int64_t at = begin + lane; at < end; at += slice_rows) {
    const std::int32_t j = streamed(a.col + at);
    if (j < 0) continue;
    const V stored = convert<V>(streamed(a.values + at)), value = conjugate ? conjugated(stored) : stored;
#pragma unroll
    for (int r = 0; r < R; ++r)
      if (r < p.n_rhs) add_atomically(p.y + r * p.ldy + j, times(value, x[r]));
  }
}

}  // namespace sextant::spmv_sell_cuda
