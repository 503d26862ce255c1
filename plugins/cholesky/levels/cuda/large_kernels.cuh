// SPDX-License-Identifier: BSD-3-Clause
// Large fronts, all of a level in one launch each: assembly, panels of 64 columns, products in tiles. The front's
// columns lie in the factor, the rest of it is its contribution block.
#pragma once

#include "numbers.cuh"

namespace sextant_cholesky_levels {

// ---- assembly: each number of the children's blocks is read once, each of the front's is written once ---------------

constexpr int assemble_threads = 32 * assemble_columns;
constexpr int assemble_chunk = 256;  // rows of a column that gather in shared memory
constexpr int assemble_ahead = 4;    // numbers that a thread has asked for before it adds the first

template <class T>
constexpr std::size_t assemble_shared() {
  return sizeof(T) * assemble_columns * assemble_chunk;
}

// The first row of a child's block that is not above row r0 of the parent; as many as it has where it lacks column c.
__device__ inline int first_row(const std::int32_t *place, int rows, int c, int r0) {
  const int j = sextant_cholesky::lower_bound_of(place, rows, c);
  if (j == rows || place[j] != c) return rows;
  return r0 <= c ? j : j + sextant_cholesky::lower_bound_of(place + j, rows - j, r0);
}

// Adds to mine[0 .. assemble_chunk) what a child has in column c (its own column j) for rows r0 .. of the parent, from
// its row `at` on. The child's first row that was left.
template <class T>
__device__ int add_child(const std::int32_t *place, const T *column, int rows, int at, int r0, T *mine) {
  const int lane = threadIdx.x % 32;
  for (bool more = at < rows; more;) {
    T value[assemble_ahead];
    int row[assemble_ahead], taken = 0;
#pragma unroll
    for (int e = 0; e < assemble_ahead; ++e) {
      const int i = min(at + lane + 32 * e, rows - 1);
      row[e] = at + lane + 32 * e < rows ? place[i] - r0 : assemble_chunk, value[e] = column[i];
    }
#pragma unroll
    for (int e = 0; e < assemble_ahead; ++e) {
      const bool inside = row[e] < assemble_chunk;
      if (inside) mine[row[e]] = numbers::sum(mine[row[e]], value[e]);
      taken += __popc(__ballot_sync(~0u, inside));
    }
    at += taken;
    more = taken == 32 * assemble_ahead && at < rows;
  }
  __syncwarp();
  return at;
}

// A warp a column: no other warp writes it, and children come in their order.
template <class T>
__global__ void __launch_bounds__(assemble_threads) assemble_fronts(Numbers<T> v, const Job *jobs, int count) {
  __shared__ int next_rows[assemble_columns][32], own_columns[assemble_columns][32];  // of children
  const Job job = job_of_block(jobs, count);
  const Front f = v.fronts[job.front];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, below = f.rows - f.width;
  const int c = (static_cast<int>(blockIdx.x) - job.first_block) * assemble_columns + warp;
  if (c >= f.rows || (c < f.width && f.child_begin == f.child_end)) return;
  const Call<T> call = call_here(v);
  if (!call.l) return;
  T *const to = c < f.width ? call.l + f.value_at + static_cast<std::int64_t>(c) * f.rows
                            : v.update(f) + static_cast<std::int64_t>(c - f.width) * below - f.width;
  T *const mine = dynamic_memory<T>() + warp * assemble_chunk;
  int *const next = next_rows[warp], *const own = own_columns[warp];
  if (f.child_begin + lane < f.child_end) {  // the first 32 are looked up at once
    const Child child = v.children[f.child_begin + lane];
    next[lane] = own[lane] = first_row(v.place + child.row_at, child.rows, c, c);
  }
  __syncwarp();
  for (int r0 = c; r0 < f.rows; r0 += assemble_chunk) {
    for (int r = lane; r < assemble_chunk; r += 32) mine[r] = T{};
    __syncwarp();
    for (int k = f.child_begin; k < f.child_end; ++k) {
      const Child child = v.children[k];
      const std::int32_t *const place = v.place + child.row_at;
      const int rows = child.rows, kept = k - f.child_begin;
      const int at = kept < 32 ? next[kept] : first_row(place, rows, c, r0);
      if (at == rows) continue;
      const std::int64_t j = kept < 32 ? own[kept] : first_row(place, rows, c, c);
      const int left = add_child(place, v.update(child) + j * rows, rows, at, r0, mine);
      if (kept < 32 && lane == 0) next[kept] = left;
      __syncwarp();
    }
    for (int r = lane; r < assemble_chunk && r0 + r < f.rows; r += 32)
      to[r0 + r] = c < f.width ? numbers::sum(to[r0 + r], mine[r]) : mine[r];
    __syncwarp();
  }
}

// ---- panels: a chain of pivots, one barrier for two columns ---------------------------------------------------------

constexpr int panel_threads = panel_columns + panel_rows, panel_ld = panel_threads + 2;
constexpr int panel_ahead = 32;  // columns that a thread has asked for before it keeps the first

template <class T>
constexpr std::size_t panel_shared() {
  return sizeof(T) * panel_columns * panel_ld;
}

// Columns k0 .. k1-1 of a front. Every block factors the triangle with rows of its own below it; the last one writes
// the triangle, when all have read it. tickets: 0 before and after, one a large front of a level, `places` a set.
template <class T>
__global__ void __launch_bounds__(panel_threads)
    factor_panels(Numbers<T> v, const Job *jobs, int count, unsigned *tickets, std::int64_t places) {
  T *const x = dynamic_memory<T>();
  __shared__ Real<T> pivots[panel_columns], inverses[panel_columns];
  __shared__ bool last;
  const Job job = job_of_block(jobs, count);
  const Front f = v.fronts[job.front];
  const Call<T> call = call_here(v);
  if (!call.l) return;
  const int w = job.k1 - job.k0, block = static_cast<int>(blockIdx.x) - job.first_block;
  const int row = static_cast<int>(threadIdx.x);
  const bool in_triangle = row < panel_columns;
  const int place = in_triangle ? row : w + block * panel_rows + row - panel_columns;  // from row k0 on
  const bool there = in_triangle ? row < w : place < f.rows - job.k0;
  T *const a = call.l + f.value_at + job.k0 * (std::int64_t{f.rows} + 1) + (there ? place : 0);
  for (int c0 = 0; c0 < w; c0 += panel_ahead) {
    T value[panel_ahead];
#pragma unroll
    for (int c = 0; c < panel_ahead; ++c)
      value[c] = there && c0 + c < w && place >= c0 + c ? a[(c0 + c) * std::int64_t{f.rows}] : T{};
#pragma unroll
    for (int c = 0; c < panel_ahead; ++c)
      if (c0 + c < w) x[row + (c0 + c) * panel_ld] = value[c];
  }
  const PanelOf<T> panel{x, panel_ld, w, pivots, inverses, f.first + job.k0, block == 0};
  __syncthreads();
  const int good = factor_panel_rows(call, panel, row, there);
  if (there && !in_triangle)
    for (int c = 0; c < w; ++c) a[c * std::int64_t{f.rows}] = factor_entry(panel, good, row, c);
  if (threadIdx.x == 0) {
    __threadfence();
    const unsigned others = static_cast<unsigned>(job.blocks) - 1;
    last = atomicInc(tickets + blockIdx.y * places + job.place, others) == others;
  }
  __syncthreads();
  if (!last || !in_triangle || !there) return;
  for (int c = 0; c <= row; ++c) a[c * std::int64_t{f.rows}] = factor_entry(panel, good, row, c);
}

}  // namespace sextant_cholesky_levels
