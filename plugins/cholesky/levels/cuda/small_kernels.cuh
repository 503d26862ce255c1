// SPDX-License-Identifier: BSD-3-Clause
// Small fronts: one block of threads each, all of a class in one launch. The front lies in shared memory: A's values,
// then what its children contribute, in their order; its columns are factored there; L and the contribution block are
// written once. Bound: barriers, one a column, for narrow fronts; shared memory for the products.
#pragma once

#include "numbers.cuh"

namespace sextant_cholesky_levels {

constexpr int small_threads(int of_class) { return 64 << of_class; }

// A launch may begin while the one of the level below ends (Recorder::chains): what the children's launch writes is
// read after wait_for_children() alone. Without such an order both do nothing.
__device__ __forceinline__ void let_parents_begin() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}
__device__ __forceinline__ void wait_for_children() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
constexpr int chains_from = 90;  // the architecture, times ten, whose code has both

// Numbers that a thread has asked for before it uses the first.
constexpr int ahead = 4;

// A's values and zeros.
template <class T, int threads>
__device__ void load_front(const Front &f, const T *l, T *x, int ld) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, count = f.rows * f.width;
  const T *const from = l + f.value_at;
  for (int c = f.width + warp; c < f.rows; c += threads / 32)
    for (int r = c + lane; r < f.rows; r += 32) x[r + c * ld] = T{};
  for (int e0 = threadIdx.x; e0 < count; e0 += ahead * threads) {
    T value[ahead];
#pragma unroll
    for (int k = 0; k < ahead; ++k) value[k] = e0 + k * threads < count ? from[e0 + k * threads] : T{};
#pragma unroll
    for (int k = 0; k < ahead; ++k) {
      const int e = e0 + k * threads;
      if (e < count) x[e % f.rows + e / f.rows * ld] = value[k];
    }
  }
  __syncthreads();
}

template <class T, int threads>
__device__ void add_children(const Numbers<T> &v, const Front &f, T *x, int ld) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (f.child_begin == f.child_end) return;
  Child child = v.children[f.child_begin];
  for (int k = f.child_begin; k < f.child_end; ++k) {
    const Child next = v.children[min(k + 1, f.child_end - 1)];
    const int below = child.rows;
    const std::int32_t *const place = v.place + child.row_at;
    const T *const from = v.update(child);
    for (int j = warp; j < below; j += threads / 32) {
      T *const to = x + place[j] * ld;
      for (int i0 = j + lane; i0 < below; i0 += ahead * 32) {
        T value[ahead];
        int at[ahead];
#pragma unroll
        for (int e = 0; e < ahead; ++e) {
          const int i = min(i0 + 32 * e, below - 1);
          at[e] = place[i], value[e] = from[i + j * below];
        }
#pragma unroll
        for (int e = 0; e < ahead; ++e)
          if (i0 + 32 * e < below) to[at[e]] = numbers::sum(to[at[e]], value[e]);
      }
    }
    child = next;
    __syncthreads();
  }
}

// The contribution block: what the front has there, less the products of L's rows below; weights: D in L D L^H, or
// NULL. A thread takes rows and
// columns that are `quarter` apart, so that neighbours read neighbouring numbers.
template <class T, int threads>
__device__ void give_contribution(const Front &f, const T *x, int ld, const Real<T> *weights, T *to) {
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
        left[a] = weights ? numbers::scaled(x[row[a] + k * ld], weights[k]) : x[row[a] + k * ld];
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
__global__ void __launch_bounds__(threads) factor_small_fronts(Numbers<T> v, const Front *fronts) {
  T *const x = dynamic_memory<T>();
  __shared__ Real<T> pivots[threads], inverses[threads];
  const Front f = fronts[blockIdx.x];
  const int ld = static_cast<int>(small_ld(f.rows)), lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const Call<T> call = call_here(v);
  let_parents_begin();
  if (call.l) load_front<T, threads>(f, call.l, x, ld);
  wait_for_children();
  if (!call.l) return;
  add_children<T, threads>(v, f, x, ld);
  const PanelOf<T> panel{x, ld, f.width, pivots, inverses, f.first, true};
  const int row = static_cast<int>(threadIdx.x);  // a class has as many threads as its fronts have rows
  const int good = factor_panel_rows(call, panel, row, row < f.rows);
  T *const l = call.l + f.value_at;
  for (int c = warp; c < f.width; c += threads / 32)
    for (int r = c + lane; r < f.rows; r += 32) l[r + c * f.rows] = x[r + c * ld] = factor_entry(panel, good, r, c);
  __syncthreads();
  if (f.parent >= 0) give_contribution<T, threads>(f, x, ld, call.rule.definite ? nullptr : pivots, v.update(f));
}

}  // namespace sextant_cholesky_levels
