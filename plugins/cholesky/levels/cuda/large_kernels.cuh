// SPDX-License-Identifier: BSD-3-Clause
// Large fronts, all of a level in one launch each: assembly, panels of 64 columns, products in tiles. The front's
// columns lie in the factor, the rest of it is its contribution block.
#pragma once

#include "numbers.cuh"

namespace sextant_cholesky_levels {

// ---- assembly: bytes of the children's blocks once, of the front's twice ------------------------------------------

constexpr int assemble_threads = 32 * assemble_columns;
constexpr int assemble_ahead = 4;  // numbers that a thread has asked for before it adds the first

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
    for (int i0 = j + lane; i0 < rows; i0 += 32 * assemble_ahead) {
      T *at[assemble_ahead];
      T value[assemble_ahead];
#pragma unroll
      for (int e = 0; e < assemble_ahead; ++e) {
        const int i = min(i0 + 32 * e, rows - 1);
        at[e] = to + place[i], value[e] = from[i];
      }
#pragma unroll
      for (int e = 0; e < assemble_ahead; ++e) value[e] = numbers::sum(value[e], *at[e]);
#pragma unroll
      for (int e = 0; e < assemble_ahead; ++e)
        if (i0 + 32 * e < rows) *at[e] = value[e];
    }
    __syncwarp();
  }
}

// ---- panels: a chain of pivots, one barrier for two columns ---------------------------------------------------------

constexpr int panel_threads = panel_columns + panel_rows, panel_ld = panel_threads + 2;

template <class T>
constexpr std::size_t panel_shared() {
  return sizeof(T) * panel_columns * panel_ld;
}

// Columns k0 .. k1-1 of a front. Every block factors the triangle with rows of its own below it; the last one writes the
// triangle, when all have read it. tickets: 0 before and after, one a large front of a level.
template <class T>
__global__ void __launch_bounds__(panel_threads)
    factor_panels(Numbers<T> v, const Job *jobs, int count, unsigned *tickets) {
  T *const x = dynamic_memory<T>();
  __shared__ Real<T> pivots[panel_columns], inverses[panel_columns];
  __shared__ bool last;
  const Job job = job_of_block(jobs, count);
  const Front f = v.fronts[job.front];
  const Call<T> call = *v.call;
  const int w = job.k1 - job.k0, block = static_cast<int>(blockIdx.x) - job.first_block;
  const int row = static_cast<int>(threadIdx.x);
  const bool in_triangle = row < panel_columns;
  const int place = in_triangle ? row : w + block * panel_rows + row - panel_columns;  // from row k0 on
  const bool there = in_triangle ? row < w : place < f.rows - job.k0;
  T *const a = call.l + f.value_at + job.k0 * (std::int64_t{f.rows} + 1) + (there ? place : 0);
  for (int c0 = 0; c0 < w; c0 += group_columns) {
    T value[group_columns];
#pragma unroll
    for (int c = 0; c < group_columns; ++c)
      value[c] = there && c0 + c < w && place >= c0 + c ? a[(c0 + c) * std::int64_t{f.rows}] : T{};
#pragma unroll
    for (int c = 0; c < group_columns; ++c)
      if (c0 + c < w) x[row + (c0 + c) * panel_ld] = value[c];
  }
  const PanelOf<T> panel{x, panel_ld, w, pivots, inverses, f.first + job.k0, block == 0};
  __syncthreads();
  const int good = factor_panel_rows(call, panel, row, there);
  if (there && !in_triangle)
    for (int c = 0; c < w; ++c) a[c * std::int64_t{f.rows}] = factor_entry(panel, good, row, c);
  if (threadIdx.x == 0) {
    __threadfence();
    last = atomicInc(tickets + job.place, static_cast<unsigned>(job.blocks) - 1) == static_cast<unsigned>(job.blocks) - 1;
  }
  __syncthreads();
  if (!last || !in_triangle || !there) return;
  for (int c = 0; c <= row; ++c) a[c * std::int64_t{f.rows}] = factor_entry(panel, good, row, c);
}

}  // namespace sextant_cholesky_levels
