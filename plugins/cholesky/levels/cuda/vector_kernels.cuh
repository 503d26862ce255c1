// SPDX-License-Identifier: BSD-3-Clause
// Solves with one right-hand side, one kernel a direction: blocks of threads take tasks in an order in which each waits
// for tasks before it alone, so that any number of blocks ends. A task is 64 columns of a front, or 64 rows below them.
// It asks for pieces of L, 64 x 64 numbers each, two ahead of the one whose factors it waits for; its own columns end
// with a product by the inverse of their triangle. L is read once a direction; sums have one order. Bound: the memory
// that holds L; near the root one way through the memory for each 64 columns.
#pragma once

#include "sweep.cuh"

namespace sextant_cholesky_levels {

template <class T>
struct VectorMemory {
  T vector[most_task_rows];
  T known[2][solve_columns];
  T parts[row_shares][solve_columns];
  int first_rows[first_rows_kept];
};
static_assert(sizeof(VectorMemory<double>) >= narrow_shared<double>(1),
              "narrow fronts gather in `vector` and behind it");

// A thread's numbers of one piece.
template <class T>
struct Piece {
  T at[share_columns];
};

// A line of every column of the upper triangle of 64 columns, where the inverse lies, comes near.
template <class T>
__device__ void prefetch_inverse(const T *diagonal, std::int64_t ld, int w) {
  constexpr int lines = solve_columns * sizeof(T) / 128;
  for (int e = threadIdx.x; e < lines * w; e += sweep_threads) {
    const int c = e / lines, r = e % lines * static_cast<int>(128 / sizeof(T));
    if (r < c) asm volatile("prefetch.global.L2 [%0];" ::"l"(diagonal + r + c * ld));
  }
}

// The sums of a row's shares, where all threads have left theirs.
template <class T>
__device__ __forceinline__ T sum_of_shares(const VectorMemory<T> &m, int row) {
  static_assert(row_shares == 4);
  return numbers::sum(numbers::sum(m.parts[0][row], m.parts[1][row]), numbers::sum(m.parts[2][row], m.parts[3][row]));
}
// Leaves a thread's product of its share of a row with `known`; all threads.
template <class T, bool conjugate = false>
__device__ __forceinline__ void leave_product(VectorMemory<T> &m, const Piece<T> &piece, const T *known, int row,
                                              int share) {
  T sum[2] = {};
#pragma unroll
  for (int e = 0; e < share_columns; ++e)
    sum[e % 2] = numbers::plus_product(sum[e % 2], conjugate ? numbers::conjugate(piece.at[e]) : piece.at[e],
                                       known[share_columns * share + e]);
  m.parts[share][row] = numbers::sum(sum[0], sum[1]);
  __syncthreads();
}

// ---- forwards -----------------------------------------------------------------------------------------------------

// Rows begin .. end-1 of a front's vector: the right-hand side at its own columns, and what its children hand on.
template <class T>
__device__ void gather_vector(const Sweep<T> &v, const SweepPart<T> &s, const Front &f, const Task &t,
                              VectorMemory<T> &m) {
  const int thread = static_cast<int>(threadIdx.x);
  static_assert(most_task_rows <= sweep_threads, "a thread a row");
  if (thread < t.end - t.begin)
    m.vector[thread] = t.begin + thread < f.width ? right_side(v, s, f.first + t.begin + thread, 0) : T{};
  __syncthreads();  // also for first_rows
  if (f.child_begin == f.child_end) return;
  Handed<T> next = handed_row(v, s, f, f.child_begin, t.begin, t.end, m.first_rows, thread);
  for (int k = f.child_begin; k < f.child_end; ++k) {
    const Handed<T> mine = next;
    if (k + 1 < f.child_end) next = handed_row(v, s, f, k + 1, t.begin, t.end, m.first_rows, thread);
    if (mine.row >= 0) m.vector[mine.row - t.begin] = numbers::sum(m.vector[mine.row - t.begin], await(v, mine.at));
    __syncthreads();
  }
}

// A forward task: pieces of L left of its rows, then, where the rows are columns of the front, the inverse of their
// triangle, then rows below that belong to the task, too.
template <class T>
struct ForwardTask {
  const Sweep<T> &v;
  const SweepPart<T> &s;
  const Task &t;
  const Front f;
  const T *const block;
  const bool columns;
  const int row, share, own, before, pieces;

  __device__ ForwardTask(const Sweep<T> &sweep, const SweepPart<T> &set, const Task &task)
      : v(sweep),
        s(set),
        t(task),
        f(sweep.fronts[task.front]),
        block(set.l + f.value_at),
        columns(task.begin < f.width),
        row(static_cast<int>(threadIdx.x) % solve_columns),
        share(static_cast<int>(threadIdx.x) / solve_columns),
        own((columns ? min(task.end, f.width) : task.end) - task.begin),
        before(f.factored ? min(task.begin, f.width) : 0),
        pieces((before + solve_columns - 1) / solve_columns) {}

  __device__ __forceinline__ void fetch(int piece, Piece<T> &to) const {
    const std::int64_t ld = f.rows;
    const T *at = block;
    std::int64_t step = ld;
    int count = 0;
    if (piece < pieces) {
      const int k0 = piece * solve_columns + share * share_columns;
      at += t.begin + row + k0 * ld, count = row < own ? before - k0 : 0;
    } else if (!f.factored || !columns) {
      count = 0;
    } else if (piece == pieces) {  // its row of the inverse, without the diagonal
      at += t.begin + share * share_columns + (t.begin + row) * ld, step = 1;
      count = row < own ? row - share * share_columns : 0;
    } else {
      const int r = f.width + (piece - pieces - 1) * solve_columns + row;
      at += r + share * share_columns * ld, count = r < t.end ? f.width - share * share_columns : 0;
    }
#pragma unroll
    for (int e = 0; e < share_columns; ++e) to.at[e] = e < count ? at[e * step] : T{};
  }
  // Adds a piece's product once its factors are there.
  __device__ __forceinline__ void use(int piece, const Piece<T> &from, VectorMemory<T> &m, T (&sum)[2]) const {
    T *const known = m.known[piece % 2];
    if (threadIdx.x < solve_columns) {
      const int k = piece * solve_columns + row;
      known[row] = k < before ? await(v, s.y + f.first + k) : T{};
    }
    __syncthreads();
#pragma unroll
    for (int e = 0; e < share_columns; ++e)
      sum[e % 2] = numbers::plus_product(sum[e % 2], from.at[e], known[share * share_columns + e]);
  }
};

// What is left to do when all pieces but the own triangle are used: `first` holds the inverse, `second` the first rows
// below.
template <class T>
__device__ void finish_columns(const ForwardTask<T> &at, VectorMemory<T> &m, const Piece<T> &inverse, Piece<T> &below,
                               Real<T> reciprocal) {
  const Front &f = at.f;
  const bool first_share = threadIdx.x < solve_columns;
  T mine{};
  if (first_share) {
    mine = at.row < at.own ? numbers::difference(m.vector[at.row], sum_of_shares(m, at.row)) : T{};
    m.known[0][at.row] = mine;
  }
  __syncthreads();
  leave_product(m, inverse, m.known[0], at.row, at.share);
  if (first_share && at.row < at.own) {
    if (f.factored) mine = numbers::sum(sum_of_shares(m, at.row), numbers::scaled(mine, reciprocal));
    publish(at.s.y + f.first + at.t.begin + at.row, mine);
  }
  if (at.t.end <= f.width) return;
  if (first_share) m.known[1][at.row] = mine;
  __syncthreads();
  for (int r0 = f.width, piece = at.pieces + 1; r0 < at.t.end; r0 += solve_columns, ++piece) {
    leave_product(m, below, m.known[1], at.row, at.share);
    const int r = r0 + at.row;
    if (first_share && r < at.t.end)
      publish(at.s.vectors + f.row_at + r, numbers::difference(m.vector[r], sum_of_shares(m, at.row)));
    at.fetch(piece + 1, below);
    __syncthreads();
  }
}

template <class T>
__device__ void forward_task(const Sweep<T> &v, const SweepPart<T> &s, const Task &t, VectorMemory<T> &m) {
  const ForwardTask<T> at(v, s, t);
  const Front &f = at.f;
  const bool first_share = threadIdx.x < solve_columns;
  Piece<T> one, two;
  at.fetch(0, one), at.fetch(1, two);
  Real<T> reciprocal = 1;
  if (at.columns && f.factored) {
    const T *const diagonal = at.block + t.begin * (std::int64_t{f.rows} + 1);
    prefetch_inverse(diagonal, f.rows, at.own);
    if (!v.unit && first_share && at.row < at.own)
      reciprocal = 1 / numbers::real_of(diagonal[at.row * (std::int64_t{f.rows} + 1)]);
  }
  find_first_rows(v, f, t.begin, m.first_rows);
  gather_vector(v, s, f, t, m);
  T sum[2] = {};
  int piece = 0;
  for (; piece + 1 < at.pieces; piece += 2) {
    at.use(piece, one, m, sum), at.fetch(piece + 2, one);
    at.use(piece + 1, two, m, sum), at.fetch(piece + 3, two);
  }
  if (piece < at.pieces) {
    at.use(piece, one, m, sum);
    one = two;
    at.fetch(piece + 2, two);
  }
  m.parts[at.share][at.row] = numbers::sum(sum[0], sum[1]);
  __syncthreads();
  if (at.columns) return finish_columns(at, m, one, two, reciprocal);
  if (first_share && at.row < at.own)
    publish(s.vectors + f.row_at + t.begin + at.row, numbers::difference(m.vector[at.row], sum_of_shares(m, at.row)));
}

template <class T>
__global__ void __launch_bounds__(sweep_threads, sizeof(T) > 8 ? 1 : 2) forward_vector(Sweep<T> v) {
  __shared__ VectorMemory<T> memory;
  Task t;
  SweepPart<T> s;
  while (next_task(v, t, s)) {
    if (t.front < 0)
      narrow_task<T, 1, true>(v, s, t, reinterpret_cast<T *>(&memory));
    else
      forward_task(v, s, t, memory);
  }
}

// ---- backwards ----------------------------------------------------------------------------------------------------

constexpr int warp_columns = solve_columns / (sweep_threads / 32);
constexpr int piece_rows = solve_columns / 32;  // of a piece, for one lane
static_assert(warp_columns * piece_rows == share_columns);

// A backward task: pieces of 64 rows below its columns, the last ones first, then the inverse of its triangle. A warp
// has eight columns, a lane two rows of each.
template <class T>
struct BackwardTask {
  const Sweep<T> &v;
  const SweepPart<T> &s;
  const Task &t;
  const Front f;
  const T *const block;
  const int lane, warp, own, below, later, pieces;

  __device__ BackwardTask(const Sweep<T> &sweep, const SweepPart<T> &set, const Task &task)
      : v(sweep),
        s(set),
        t(task),
        f(sweep.fronts[task.front]),
        block(set.l + f.value_at),
        lane(static_cast<int>(threadIdx.x) % 32),
        warp(static_cast<int>(threadIdx.x) / 32),
        own(task.end - task.begin),
        below((f.rows - f.width + solve_columns - 1) / solve_columns),
        later((f.width - task.end + solve_columns - 1) / solve_columns),
        pieces(below + later) {}

  __device__ __forceinline__ int2 rows_of(int piece) const {  // first and last + 1
    if (piece < below) {
      const int r0 = f.width + (below - 1 - piece) * solve_columns;
      return {r0, min(r0 + solve_columns, f.rows)};
    }
    const int r0 = t.end + (pieces - 1 - piece) * solve_columns;
    return {r0, min(r0 + solve_columns, f.width)};
  }
  __device__ __forceinline__ void fetch(int piece, Piece<T> &to) const {
    const std::int64_t ld = f.rows;
    if (piece < pieces) {
      const int2 rows = rows_of(piece);
      const T *const at = block + rows.x + lane + (t.begin + warp * warp_columns) * ld;
#pragma unroll
      for (int j = 0; j < warp_columns; ++j)
#pragma unroll
        for (int h = 0; h < piece_rows; ++h)
          to.at[piece_rows * j + h] =
              warp * warp_columns + j < own && rows.x + lane + 32 * h < rows.y ? at[j * ld + 32 * h] : T{};
      return;
    }
    // Its column of the inverse, without the diagonal.
    const int i = static_cast<int>(threadIdx.x) % solve_columns;
    const int j0 = static_cast<int>(threadIdx.x) / solve_columns * share_columns;
    const T *const at = block + t.begin + i + (t.begin + j0) * ld;
#pragma unroll
    for (int e = 0; e < share_columns; ++e) to.at[e] = piece == pieces && j0 + e > i && j0 + e < own ? at[e * ld] : T{};
  }
  // The row of the solution that a thread of the first 64 brings for a piece.
  __device__ __forceinline__ int solution_row(int piece) const {
    if (piece >= pieces || threadIdx.x >= solve_columns) return -1;
    const int2 rows = rows_of(piece);
    const int r = rows.x + static_cast<int>(threadIdx.x);
    return r < rows.y ? v.rows[f.row_at + r] : -1;
  }
  __device__ __forceinline__ void use(int piece, const Piece<T> &from, int solution, VectorMemory<T> &m,
                                      T (&sum)[warp_columns]) const {
    T *const known = m.known[piece % 2];
    if (threadIdx.x < solve_columns) known[threadIdx.x] = solution >= 0 ? await(v, s.z + solution) : T{};
    __syncthreads();
#pragma unroll
    for (int h = 0; h < piece_rows; ++h) {
      const T x = known[lane + 32 * h];
#pragma unroll
      for (int j = 0; j < warp_columns; ++j)
        sum[j] = numbers::plus_product(sum[j], numbers::conjugate(from.at[piece_rows * j + h]), x);
    }
  }
};

// The sums of eight columns over the lanes: afterwards lanes 4 k .. 4 k + 3 hold that of column_of_lane() in sum[0].
__device__ __forceinline__ int column_of_lane(int lane) { return lane / 16 * 4 + lane / 8 % 2 * 2 + lane / 4 % 2; }
template <class T>
__device__ __forceinline__ void sum_over_lanes(T (&sum)[warp_columns], int lane) {
  static_assert(warp_columns == 8);
#pragma unroll
  for (int half = 4, bits = 16; half > 0; half /= 2, bits /= 2) {
    const bool upper = (lane & bits) != 0;
#pragma unroll
    for (int j = 0; j < half; ++j) {
      const T kept = upper ? sum[j + half] : sum[j], given = upper ? sum[j] : sum[j + half];
      sum[j] = numbers::sum(kept, numbers::from_lane_xor(~0u, given, bits));
    }
  }
#pragma unroll
  for (int bits = 2; bits > 0; bits /= 2) sum[0] = numbers::sum(sum[0], numbers::from_lane_xor(~0u, sum[0], bits));
}

template <class T>
__device__ void backward_task(const Sweep<T> &v, const SweepPart<T> &s, const Task &t, VectorMemory<T> &m) {
  const BackwardTask<T> at(v, s, t);
  const Front &f = at.f;
  const int thread = static_cast<int>(threadIdx.x), column = at.warp * warp_columns + column_of_lane(at.lane);
  const int row = thread % solve_columns;
  Piece<T> one, two;
  at.fetch(0, one), at.fetch(1, two);
  int first = at.solution_row(0), second = at.solution_row(1);
  T mine{};  // the right-hand side of this lane's column
  if (at.lane % 4 == 0 && column < at.own) mine = begin_backward(v, s, f, t.begin + column, 0);
  const T *const diagonal = at.block + t.begin * (std::int64_t{f.rows} + 1);
  prefetch_inverse(diagonal, f.rows, at.own);
  const Real<T> reciprocal =
      thread < at.own && !v.unit ? 1 / numbers::real_of(diagonal[row * (std::int64_t{f.rows} + 1)]) : Real<T>(1);
  T sum[warp_columns] = {};
  int piece = 0;
  for (; piece + 1 < at.pieces; piece += 2) {
    at.use(piece, one, first, m, sum), at.fetch(piece + 2, one), first = at.solution_row(piece + 2);
    at.use(piece + 1, two, second, m, sum), at.fetch(piece + 3, two), second = at.solution_row(piece + 3);
  }
  if (piece < at.pieces) {
    at.use(piece, one, first, m, sum);
    one = two;
  }
  sum_over_lanes(sum, at.lane);
  __syncthreads();  // both parts of m.known are read
  if (at.lane % 4 == 0) m.known[0][column] = column < at.own ? numbers::difference(mine, sum[0]) : T{};
  __syncthreads();
  leave_product<T, true>(m, one, m.known[0], row, thread / solve_columns);
  if (thread < at.own)
    give_solution(v, s, f.first + t.begin + row, 0,
                  numbers::sum(sum_of_shares(m, row), numbers::scaled(m.known[0][row], reciprocal)));
}

template <class T>
__global__ void __launch_bounds__(sweep_threads, sizeof(T) > 8 ? 1 : 2) backward_vector(Sweep<T> v) {
  __shared__ VectorMemory<T> memory;
  Task t;
  SweepPart<T> s;
  while (next_task(v, t, s)) {
    if (t.front < 0) {
      narrow_task<T, 1, false>(v, s, t, reinterpret_cast<T *>(&memory));
      continue;
    }
    const Front f = v.fronts[t.front];
    if (f.factored) {
      backward_task(v, s, t, memory);
    } else if (static_cast<int>(threadIdx.x) < t.end - t.begin) {
      const int row = t.begin + static_cast<int>(threadIdx.x);
      give_solution(v, s, f.first + row, 0, begin_backward(v, s, f, row, 0));
    }
  }
}

}  // namespace sextant_cholesky_levels
