// SPDX-License-Identifier: BSD-3-Clause
// Small fronts: one block of threads each, all of a class in one launch. The front lies in shared memory: A's values,
// then what its children contribute, in their order; its columns are factored there; L and the contribution block are
// written once. Bound: barriers, one a column, for narrow fronts; shared memory for the products.
#pragma once

#include "numbers.cuh"

namespace sextant_cholesky_levels {

constexpr int small_threads(int of_class) { return 64 << of_class; }

// A's values and zeros.
template <class T, int threads>
__device__ void load_front(const Front &f, const T *l, T *x, int ld) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const T *const from = l + f.value_at;
  for (int c = warp; c < f.rows; c += threads / 32)
    for (int r = c + lane; r < f.rows; r += 32)
      x[r + c * ld] = c < f.width ? from[r + static_cast<std::int64_t>(c) * f.rows] : T{};
  __syncthreads();
}

template <class T, int threads>
__device__ void add_children(const Numbers<T> &v, const Front &f, T *x, int ld) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int k = f.child_begin; k < f.child_end; ++k) {
    const Front child = v.fronts[v.children[k]];
    const int below = child.rows - child.width;
    const std::int32_t *const place = v.place + child.row_at + child.width;
    const T *const from = v.update(child);
    for (int j = warp; j < below; j += threads / 32) {
      T *const to = x + place[j] * ld;
      for (int i = j + lane; i < below; i += 32)
        to[place[i]] = numbers::sum(to[place[i]], from[i + static_cast<std::int64_t>(j) * below]);
    }
    __syncthreads();
  }
}

// The contribution block: what the front has there, less the products of L's rows below. A thread takes rows and
// columns that are `quarter` apart, so that neighbours read neighbouring numbers.
template <class T, int threads>
__device__ void give_contribution(const Front &f, const T *x, int ld, T *to) {
  const int below = f.rows - f.width, quarter = (below + 3) / 4;
  for (int e = threadIdx.x; e < quarter * quarter; e += threads) {
    const int ti = e % quarter, tj = e / quarter;
    int row[4], column[4];
    T sum[4][4] = {};
#pragma unroll
    for (int a = 0; a < 4; ++a) {
      row[a] = f.width + min(ti + a * quarter, below - 1);
      column[a] = f.width + min(tj + a * quarter, below - 1);
    }
    for (int k = 0; k < f.width; ++k) {
      T left[4], right[4];
#pragma unroll
      for (int a = 0; a < 4; ++a) {
        left[a] = x[row[a] + k * ld];
        right[a] = numbers::conjugate(x[column[a] + k * ld]);
      }
#pragma unroll
      for (int a = 0; a < 4; ++a)
#pragma unroll
        for (int b = 0; b <= a; ++b) sum[a][b] = numbers::plus_product(sum[a][b], left[a], right[b]);
    }
#pragma unroll
    for (int a = 0; a < 4; ++a)
#pragma unroll
      for (int b = 0; b <= a; ++b) {
        const int i = ti + a * quarter, j = tj + b * quarter;
        if (i < below && j < below && i >= j)
          to[i + static_cast<std::int64_t>(j) * below] =
              numbers::difference(x[f.width + i + (f.width + j) * ld], sum[a][b]);
      }
  }
}

template <class T, int threads>
__global__ void __launch_bounds__(threads) factor_small_fronts(Numbers<T> v, const std::int32_t *list) {
  T *const x = dynamic_memory<T>();
  __shared__ Real<T> pivots[256];
  const Front f = v.fronts[list[blockIdx.x]];
  const int ld = static_cast<int>(small_ld(f.rows)), lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const Call<T> call = *v.call;
  load_front<T, threads>(f, call.l, x, ld);
  add_children<T, threads>(v, f, x, ld);
  factor_columns<T, threads>(call, x, ld, f.rows, f.width, pivots, f.first, true);
  T *const l = call.l + f.value_at;
  for (int c = warp; c < f.width; c += threads / 32)
    for (int r = c + lane; r < f.rows; r += 32) l[r + static_cast<std::int64_t>(c) * f.rows] = x[r + c * ld];
  if (f.parent >= 0) give_contribution<T, threads>(f, x, ld, v.update(f));
}

}  // namespace sextant_cholesky_levels
