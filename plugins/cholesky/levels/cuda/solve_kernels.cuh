// SPDX-License-Identifier: BSD-3-Clause
// Solves, one kernel a direction: blocks of threads take tasks in an order in which each waits for tasks before it
// alone, so that any number of blocks ends. Forwards each front has a vector of its rows, to which its children's are
// added in their order; backwards it reads the solution at its rows. L is read once a direction. Sums have one order.
// Bound: the memory that holds L; near the root the chain of column blocks.
#pragma once

#include <type_traits>

#include "sweep.cuh"

namespace sextant_cholesky_levels {

// ---- forwards ----------------------------------------------------------------------------------------------------

// Rows begin .. end-1 of a front's vector: the right-hand side at its own columns, and what its children hand on.
template <class T>
__device__ void assemble_rows(const Sweep<T> &v, const Front &f, const Task &t, T *to, int ld) {
  for (int k = f.child_begin + static_cast<int>(threadIdx.x); k < f.child_end; k += solve_threads)
    wait_until(v.done + v.children[k], v.tasks_of[v.children[k]]);
  for (int c = 0; c < v.columns; ++c)
    for (int r = t.begin + threadIdx.x; r < t.end; r += solve_threads)
      to[r - t.begin + c * ld] = r < f.width ? v.x[f.first + r + c * v.n] : T{};
  __syncthreads();
  for (int k = f.child_begin; k < f.child_end; ++k) {
    const Front child = v.fronts[v.children[k]];
    const int count = child.rows - child.width;
    const std::int32_t *const place = v.place + child.row_at + child.width;
    const T *const from = v.vectors + child.row_at + child.width;
    const int first = t.begin > 0 ? sextant_cholesky::lower_bound_of(place, count, t.begin) : 0;
    for (int i = first + static_cast<int>(threadIdx.x); i < count; i += solve_threads) {
      const int row = place[i];
      if (row >= t.end) break;
      for (int c = 0; c < v.columns; ++c) {
        T &number = to[row - t.begin + c * ld];
        number = numbers::sum(number, fresh(from + i + c * v.size));
      }
    }
    __syncthreads();
  }
}

// Numbers of L that a thread has asked for before it uses the first.
constexpr int entries_ahead(int most) { return most == 1 ? 32 : 16; }

// Entries k .. of a row; zeros from w on.
template <class T, int ahead>
__device__ void fetch_entries(const T *row, std::int64_t ld, int k, int w, T (&entry)[ahead]) {
#pragma unroll
  for (int e = 0; e < ahead; ++e) entry[e] = k + e < w ? row[(k + e) * ld] : T{};
}

// sum += a row's first w entries times what is known; the first of them are in `entry`.
template <class T, int most, int ahead>
__device__ void add_products(const T *row, std::int64_t ld, int w, const T *known, T (&entry)[ahead], T (&sum)[most]) {
  for (int k = 0; k < w; k += ahead) {
    if (k > 0) fetch_entries(row, ld, k, w, entry);
#pragma unroll
    for (int e = 0; e < ahead; ++e)
#pragma unroll
      for (int c = 0; c < most; ++c)
        if (k + e < w) sum[c] = numbers::plus_product(sum[c], entry[e], known[k + e + c * solve_rows]);
  }
}

// Columns k0 .. k0 + w - 1 of the solution, once they are there.
template <class T>
__device__ void await_columns(const Sweep<T> &v, const Front &f, int front, int k0, int w, T *known) {
  if (threadIdx.x == 0) wait_until(v.solved + front, k0 / solve_columns + 1);
  __syncthreads();
  for (int e = threadIdx.x; e < w * v.columns; e += solve_threads)
    known[e % w + e / w * solve_rows] = fresh(v.x + f.first + k0 + e % w + e / w * v.n);
  __syncthreads();
}

// Rows of one task lose what the columns before them give: of the front's own columns, all that stand before `end`.
template <class T, int most>
__device__ void take_off_known(const Sweep<T> &v, const Front &f, const Task &t, int end,
                               const SolveMemory<T> &memory) {
  const T *const block = v.l + f.value_at;
  const int count = t.end - t.begin;
  // Where rows are few, two threads share one.
  const int shares = count <= solve_threads / 2 ? 2 : 1, apart = solve_threads / shares;
  const int row = static_cast<int>(threadIdx.x) % apart, share = static_cast<int>(threadIdx.x) / apart;
  T sum[most] = {};
  for (int k0 = 0; k0 < end; k0 += solve_columns) {
    const int w = min(solve_columns, end - k0), half = shares == 2 ? (w + 1) / 2 : w;
    const int from = share * half, own = min(half, w - from);
    const T *const entries = block + t.begin + row + (k0 + from) * std::int64_t{f.rows};
    const int mine = row < count ? own : 0;
    T entry[entries_ahead(most)];
    fetch_entries(entries, f.rows, 0, mine, entry);
    await_columns(v, f, t.front, k0, w, memory.known);
    add_products(entries, f.rows, mine, memory.known + from, entry, sum);
    __syncthreads();
  }
  for (int turn = 0; turn < shares; ++turn) {
    if (share == turn && row < count)
#pragma unroll
      for (int c = 0; c < most; ++c) {
        T &number = memory.vector[row + c * most_task_rows];
        if (c < v.columns) number = numbers::difference(number, sum[c]);
      }
    __syncthreads();
  }
}

// A front of few numbers: its columns, then its rows below, from what is in shared memory.
template <class T, int most>
__device__ void forward_below(const Sweep<T> &v, const Front &f, const SolveMemory<T> &memory) {
  const T *const block = v.l + f.value_at;
  for (int e = threadIdx.x; e < f.width * v.columns; e += solve_threads)
    memory.known[e % f.width + e / f.width * solve_rows] = memory.vector[e % f.width + e / f.width * most_task_rows];
  __syncthreads();
  const int row = f.width + threadIdx.x;
  T sum[most] = {}, entry[entries_ahead(most)];
  const int mine = row < f.rows ? f.width : 0;
  fetch_entries(block + row, f.rows, 0, mine, entry);
  add_products(block + row, f.rows, mine, memory.known, entry, sum);
  if (row < f.rows)
#pragma unroll
    for (int c = 0; c < most; ++c) {
      T &number = memory.vector[row + c * most_task_rows];
      if (c < v.columns) number = numbers::difference(number, sum[c]);
    }
  __syncthreads();
}

template <class T, int most>
__global__ void __launch_bounds__(solve_threads) forward_sweep(Sweep<T> v) {
  const SolveMemory<T> memory = solve_memory<T, most>();
  Task t;
  while (next_task(v, t)) {
    if (t.index < 0) {  // narrow fronts, a warp each
      const int warp = static_cast<int>(threadIdx.x) / 32, at = t.begin + warp;
      if (at < t.end) forward_narrow<T, most>(v, v.narrow[at], memory.vector + warp * most * narrow_rows);
      continue;
    }
    const Front f = v.fronts[t.front];
    const bool whole = t.begin == 0 && t.end == f.rows, columns = t.begin < f.width;
    const int w = columns ? min(t.end, f.width) - t.begin : 0;
    if (columns && f.factored) load_triangle(v.l + f.value_at, f.rows, t.begin, w, memory.triangle);
    assemble_rows(v, f, t, memory.vector, most_task_rows);
    if (f.factored && t.begin > 0) take_off_known<T, most>(v, f, t, min(t.begin, f.width), memory);
    if (f.factored && columns) solve_forward(memory.triangle, w, memory.vector, most_task_rows, v.columns);
    __syncthreads();
    if (f.factored && whole) forward_below<T, most>(v, f, memory);
    for (int c = 0; c < v.columns; ++c)
      for (int r = t.begin + threadIdx.x; r < t.end; r += solve_threads) {
        T *const to = r < f.width ? v.x + f.first + r + c * v.n : v.vectors + f.row_at + r + c * v.size;
        *to = memory.vector[r - t.begin + c * most_task_rows];
      }
    end_task(v, t.front, columns);
  }
}

// ---- backwards ---------------------------------------------------------------------------------------------------

constexpr int warp_columns = solve_columns / (solve_threads / 32);

// One right-hand side: a warp has sixteen columns and reads them along the rows.
template <class T>
struct ColumnSums {
  T sum[warp_columns] = {};

  // The task's columns lose the products of rows first .. last-1 with the solution there.
  __device__ void add(const Sweep<T> &v, const Front &f, const Task &t, int first, int last, const SolveMemory<T> &m) {
    const int lane = threadIdx.x % 32, column = t.begin + static_cast<int>(threadIdx.x) / 32 * warp_columns;
    const int columns = max(1, min(warp_columns, t.end - column));
    const T *const block = v.l + f.value_at + static_cast<std::int64_t>(min(column, t.end - 1)) * f.rows;
    const auto solution = [&](int r0) {
      const int r = r0 + static_cast<int>(threadIdx.x);
      return r < last ? fresh(v.x + v.rows[f.row_at + r]) : T{};
    };
    T next = solution(first);
    for (int r0 = first; r0 < last; r0 += solve_rows) {
      m.known[threadIdx.x] = next;
      __syncthreads();
      next = solution(r0 + solve_rows);
      T known[solve_rows / 32];
      int row[solve_rows / 32];  // beyond the end: one that is there, times zero
#pragma unroll
      for (int e = 0; e < solve_rows / 32; ++e)
        known[e] = m.known[lane + 32 * e], row[e] = min(r0 + lane + 32 * e, last - 1);
#pragma unroll
      for (int j = 0; j < warp_columns; ++j) {
        const T *const from = block + min(j, columns - 1) * static_cast<std::int64_t>(f.rows);
#pragma unroll
        for (int e = 0; e < solve_rows / 32; ++e)
          sum[j] = numbers::plus_product(sum[j], numbers::conjugate(from[row[e]]), known[e]);
      }
      __syncthreads();
    }
  }
  // vector: the right-hand side less the sums.
  __device__ void finish(const Sweep<T> &v, const Front &f, const Task &t, const SolveMemory<T> &m) {
    const int lane = threadIdx.x % 32, first = static_cast<int>(threadIdx.x) / 32 * warp_columns;
#pragma unroll
    for (int j = 0; j < warp_columns; ++j) {
      T total = sum[j];
#pragma unroll
      for (int bits = 16; bits > 0; bits /= 2) total = numbers::sum(total, numbers::from_lane_xor(~0u, total, bits));
      if (lane == 0 && first + j < t.end - t.begin)
        m.vector[first + j] = numbers::difference(v.x[f.first + t.begin + first + j], total);
    }
    __syncthreads();
  }
};

// Several right-hand sides: a thread has one column and half of them; tiles of 32 rows lie in shared memory.
template <class T>
struct TileSums {
  static constexpr int own = most_columns / 2;
  static_assert(solve_threads == 2 * solve_columns);
  T sum[own] = {};

  __device__ void add(const Sweep<T> &v, const Front &f, const Task &t, int first, int last, const SolveMemory<T> &m) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int j = static_cast<int>(threadIdx.x) % solve_columns, side = static_cast<int>(threadIdx.x) / solve_columns;
    for (int r0 = first; r0 < last; r0 += tile_rows) {
      T entry[warp_columns], known[2];
#pragma unroll
      for (int k = 0; k < warp_columns; ++k) {
        const int column = t.begin + warp * warp_columns + k, r = r0 + lane;
        entry[k] = r < last && column < t.end ? v.l[f.value_at + r + static_cast<std::int64_t>(column) * f.rows] : T{};
      }
#pragma unroll
      for (int k = 0; k < 2; ++k) {
        const int r = r0 + lane, c = warp + 4 * k;
        known[k] = r < last && c < v.columns ? fresh(v.x + v.rows[f.row_at + r] + c * v.n) : T{};
      }
      __syncthreads();  // the last tile was used
#pragma unroll
      for (int k = 0; k < warp_columns; ++k) m.tile[lane + (warp * warp_columns + k) * tile_ld] = entry[k];
#pragma unroll
      for (int k = 0; k < 2; ++k) m.known[lane * most_columns + warp + 4 * k] = known[k];
      __syncthreads();
#pragma unroll 8
      for (int r = 0; r < tile_rows; ++r) {
        const T number = numbers::conjugate(m.tile[r + j * tile_ld]);
#pragma unroll
        for (int c = 0; c < own; ++c)
          sum[c] = numbers::plus_product(sum[c], number, m.known[r * most_columns + side * own + c]);
      }
    }
  }
  __device__ void finish(const Sweep<T> &v, const Front &f, const Task &t, const SolveMemory<T> &m) {
    const int j = static_cast<int>(threadIdx.x) % solve_columns, side = static_cast<int>(threadIdx.x) / solve_columns;
#pragma unroll
    for (int c = 0; c < own; ++c) {
      const int column = side * own + c;
      if (j < t.end - t.begin && column < v.columns)
        m.vector[j + column * most_task_rows] = numbers::difference(v.x[f.first + t.begin + j + column * v.n], sum[c]);
    }
    __syncthreads();
  }
};

// The task's columns in memory.vector: the right-hand side, less what the rows below the block give.
template <class T, int most>
__device__ void gather_columns(const Sweep<T> &v, const Front &f, const Task &t, const SolveMemory<T> &memory) {
  std::conditional_t<most == 1, ColumnSums<T>, TileSums<T>> sums;
  const int blocks = (f.width + solve_columns - 1) / solve_columns;
  sums.add(v, f, t, f.width, f.rows, memory);
  for (int k = 0; k < t.index; ++k) {  // the front's later columns, the last ones first
    const int begin = (blocks - 1 - k) * solve_columns;
    if (threadIdx.x == 0) wait_until(v.solved + t.front, k + 1);
    __syncthreads();
    sums.add(v, f, t, begin, min(begin + solve_columns, f.width), memory);
  }
  sums.finish(v, f, t, memory);
}

template <class T, int most>
__global__ void __launch_bounds__(solve_threads) backward_sweep(Sweep<T> v) {
  const SolveMemory<T> memory = solve_memory<T, most>();
  Task t;
  while (next_task(v, t)) {
    if (t.index < 0) {  // narrow fronts, a warp each
      const int at = t.begin + static_cast<int>(threadIdx.x) / 32;
      if (at < t.end) backward_narrow<T, most>(v, v.narrow[at]);
      continue;
    }
    const Front f = v.fronts[t.front];
    const int w = t.end - t.begin;
    if (f.factored) {
      load_triangle(v.l + f.value_at, f.rows, t.begin, w, memory.triangle);
      if (threadIdx.x == 0 && f.parent >= 0) wait_until(v.done + f.parent, v.tasks_of[f.parent]);
      __syncthreads();
      gather_columns<T, most>(v, f, t, memory);
      solve_backward(memory.triangle, w, memory.vector, most_task_rows, v.columns);
      __syncthreads();
      for (int e = threadIdx.x; e < w * v.columns; e += solve_threads)
        v.x[f.first + t.begin + e % w + e / w * v.n] = memory.vector[e % w + e / w * most_task_rows];
    }
    end_task(v, t.front, true);
  }
}

}  // namespace sextant_cholesky_levels
