// SPDX-License-Identifier: BSD-3-Clause
// Large fronts, all of a level in one launch each: assembly, panels of 64 columns, products in tiles. The front's
// columns lie in the factor, the rest of it is its contribution block.
#pragma once

#include "numbers.cuh"

namespace sextant_cholesky_levels {

// ---- assembly: bytes of the children's blocks once, of the front's twice ------------------------------------------

constexpr int assemble_threads = 32 * assemble_columns;

// A warp a column: no other warp writes it, and children come in their order.
template <class T>
__global__ void __launch_bounds__(assemble_threads) assemble_fronts(Numbers<T> v, const Job *jobs, int count) {
  const Job job = job_of_block(jobs, count);
  const Front f = v.fronts[job.front];
  const int lane = threadIdx.x % 32, below = f.rows - f.width;
  const int c = (static_cast<int>(blockIdx.x) - job.first_block) * assemble_columns + threadIdx.x / 32;
  if (c >= f.rows) return;
  T *to = v.call->l + f.value_at + static_cast<std::int64_t>(c) * f.rows;
  if (c >= f.width) {
    to = v.update(f) + static_cast<std::int64_t>(c - f.width) * below - f.width;
    for (int r = c + lane; r < f.rows; r += 32) to[r] = T{};
    __syncwarp();
  }
  for (int k = f.child_begin; k < f.child_end; ++k) {
    const Front child = v.fronts[v.children[k]];
    const int rows = child.rows - child.width;
    const std::int32_t *const place = v.place + child.row_at + child.width;
    const int j = sextant_cholesky::lower_bound_of(place, rows, c);
    if (j == rows || place[j] != c) continue;
    const T *const from = v.update(child) + static_cast<std::int64_t>(j) * rows;
    for (int i = j + lane; i < rows; i += 32) to[place[i]] = numbers::sum(to[place[i]], from[i]);
    __syncwarp();
  }
}

// ---- panels: a chain of pivots, one barrier a column -----------------------------------------------------------------

constexpr int panel_threads = panel_rows, panel_ld = panel_columns + 1, rows_ld = panel_rows + 1;

template <class T>
constexpr std::size_t panel_shared() {
  return sizeof(T) * panel_columns * (panel_ld + rows_ld);
}

// Rows below the triangle, a thread a row: x[r + c rows_ld] from B, in groups of 16 columns.
template <class T>
__device__ void solve_panel_rows(const T *l, const Real<T> *inverse, int w, T *x) {
  T *const mine = x + threadIdx.x;
  for (int c0 = 0; c0 < w; c0 += 16) {
    T sum[16];
    const int width = min(16, w - c0);
#pragma unroll
    for (int c = 0; c < 16; ++c) sum[c] = c < width ? mine[(c0 + c) * rows_ld] : T{};
    for (int k = 0; k < c0; ++k) {
      const T known = mine[k * rows_ld];
      const T *const column = l + c0 + k * panel_ld;
#pragma unroll
      for (int c = 0; c < 16; ++c) sum[c] = numbers::minus_product(sum[c], known, numbers::conjugate(column[c]));
    }
#pragma unroll
    for (int k = 0; k < 16; ++k) {
      if (k >= width) break;
      sum[k] = numbers::scaled(sum[k], inverse[c0 + k]);
      const T *const column = l + c0 + (c0 + k) * panel_ld;
#pragma unroll
      for (int c = k + 1; c < 16; ++c) sum[c] = numbers::minus_product(sum[c], sum[k], numbers::conjugate(column[c]));
    }
#pragma unroll
    for (int c = 0; c < 16; ++c)
      if (c < width) mine[(c0 + c) * rows_ld] = sum[c];
  }
}

// Columns k0 .. k1-1 of a front. Every block factors the triangle for itself and solves for its rows; the last one
// writes the triangle, when all have read it. tickets: 0 before and after, one a large front of a level.
template <class T>
__global__ void __launch_bounds__(panel_threads)
    factor_panels(Numbers<T> v, const Job *jobs, int count, unsigned *tickets) {
  T *const l = dynamic_memory<T>(), *const x = l + panel_columns * panel_ld;
  __shared__ Real<T> pivots[panel_columns];
  __shared__ bool last;
  const Job job = job_of_block(jobs, count);
  const Front f = v.fronts[job.front];
  const Call<T> call = *v.call;
  const int w = job.k1 - job.k0, block = static_cast<int>(blockIdx.x) - job.first_block;
  const std::int64_t ld = f.rows;
  T *const a = call.l + f.value_at + job.k0 * (ld + 1);
  const int row = w + block * panel_rows + threadIdx.x, rows = f.rows - job.k0;
  // Numbers that are not there are zeros: groups of 16 columns read them.
  for (int e = threadIdx.x; e < panel_columns * panel_columns; e += panel_threads) {
    const int r = e % panel_columns, c = e / panel_columns;
    l[r + c * panel_ld] = r >= c && r < w ? a[r + c * ld] : T{};
  }
  for (int c = 0; c < w; ++c) x[threadIdx.x + c * rows_ld] = row < rows ? a[row + c * ld] : T{};
  __syncthreads();
  const bool good =
      factor_columns<T, panel_threads>(call, l, panel_ld, w, w, pivots, f.first + job.k0, block == 0);
  if (good) {
    if (threadIdx.x < w) pivots[threadIdx.x] = 1 / numbers::real_of(l[threadIdx.x * (panel_ld + 1)]);
    __syncthreads();
    solve_panel_rows(l, pivots, w, x);
    if (row < rows)
      for (int c = 0; c < w; ++c) a[row + c * ld] = x[threadIdx.x + c * rows_ld];
  }
  if (threadIdx.x == 0) {
    __threadfence();
    last = atomicInc(tickets + job.place, static_cast<unsigned>(job.blocks) - 1) ==
           static_cast<unsigned>(job.blocks) - 1;
  }
  __syncthreads();
  if (!last) return;
  for (int e = threadIdx.x; e < w * w; e += panel_threads) {
    const int r = e % w, c = e / w;
    if (r >= c) a[r + c * ld] = l[r + c * panel_ld];
  }
}

}  // namespace sextant_cholesky_levels
