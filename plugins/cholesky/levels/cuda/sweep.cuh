// SPDX-License-Identifier: BSD-3-Clause
// What both sweeps of a solve share: tasks, numbers that tell by themselves that they are there, and what the children
// of a front hand on.
//
// Each number that one task makes for another is written once. Before a solve all bits of its place are set, and a task
// that needs it reads until they are not: one way through the memory, no counters and no fences between column blocks.
#pragma once

#include "numbers.cuh"

namespace sextant_cholesky_levels {

constexpr int sweep_threads = 256;
constexpr int row_shares = sweep_threads / solve_columns;  // threads that share a row of 64 columns
constexpr int share_columns = solve_columns / row_shares;
constexpr int most_task_rows = solve_columns + solve_rows;

// One sweep over groups of right-hand sides of some sets of values: `parts` of them, the groups of a set after one
// another, with `columns` right-hand sides each, the last group of a set perhaps with fewer. y: L^-1 b; z: the
// solution; vectors: what fronts hand on, as many rows as the row lists have. A row's numbers, one a right-hand side,
// are neighbours.
template <class T>
struct Sweep {
  const Front *fronts;
  const Child *children;
  const std::int32_t *place, *rows, *narrow;
  const Task *tasks;
  std::int32_t n_tasks, parts, groups, columns, all_columns;
  bool unit;                 // L has a unit diagonal (L D L^H)
  bool divides;              // backwards: the right-hand side is divided by D
  bool places;               // backwards: the solution goes to b
  const std::int32_t *perm;  // of b
  const T *l;
  T *b, *y, *z, *vectors;
  std::int64_t stride_l, stride_b, ldb, n, size;
  unsigned long long *ticket;  // begins as -1
  std::int32_t *waits;         // not 0 until a wait was given up
  std::int32_t *status;        // where a fault is told; may be NULL
};

// A group of right-hand sides: its arrays, and how many it has.
template <class T>
struct SweepPart {
  const T *l;
  T *b, *y, *z, *vectors;
  int columns;
};
template <class T>
__device__ SweepPart<T> sweep_part(const Sweep<T> &v, int part) {
  const int set = part / v.groups, first = part % v.groups * v.columns;
  return {v.l + set * v.stride_l,       v.b + set * v.stride_b + first * v.ldb, v.y + part * v.n * v.columns,
          v.z + part * v.n * v.columns, v.vectors + part * v.size * v.columns,  min(v.columns, v.all_columns - first)};
}

// ---- numbers that are there, or not yet ---------------------------------------------------------------------------

__device__ __forceinline__ bool missing(double x) { return __double_as_longlong(x) == -1; }
__device__ __forceinline__ bool missing(float x) { return __float_as_int(x) == -1; }
template <class R>
__device__ __forceinline__ bool missing(Complex<R> x) {
  return missing(x.re) || missing(x.im);
}

__device__ __forceinline__ double peek(const double *at) {
  long long word;
  asm volatile("ld.relaxed.gpu.global.b64 %0, [%1];" : "=l"(word) : "l"(at));
  return __longlong_as_double(word);
}
__device__ __forceinline__ float peek(const float *at) {
  int word;
  asm volatile("ld.relaxed.gpu.global.b32 %0, [%1];" : "=r"(word) : "l"(at));
  return __int_as_float(word);
}
template <class R>
__device__ __forceinline__ Complex<R> peek(const Complex<R> *at) {
  return {peek(&at->re), peek(&at->im)};
}

// Every number comes where plan and device are sound. A wait still ends: after so many looks (seconds, while a solve
// takes milliseconds) a number that is none is taken, the fault is told, and all other waits end soon, too.
constexpr unsigned most_looks = 1u << 23, looks_apart = 1u << 12;

template <class T>
__device__ __forceinline__ bool gives_up(const Sweep<T> &v, unsigned looks) {
  if (looks >= most_looks) {
    *static_cast<volatile std::int32_t *>(v.waits) = 0;
    if (v.status) *static_cast<volatile std::int32_t *>(v.status) = SXT_E_INTERNAL;
  }
  return *static_cast<volatile std::int32_t *>(v.waits) == 0;
}
template <class T>
__device__ __forceinline__ T await(const Sweep<T> &v, const T *at, T seen) {
  for (unsigned looks = 1; missing(seen); ++looks) {
    if (looks % looks_apart == 0 && gives_up(v, looks)) return numbers::from_real<T>(Real<T>(NAN));
    __nanosleep(20);
    seen = peek(at);
  }
  return seen;
}
template <class T>
__device__ __forceinline__ T await(const Sweep<T> &v, const T *at) {
  return await(v, at, peek(at));
}

// A result that is no number may have all bits set, too; another one stands for it.
__device__ __forceinline__ void publish(double *at, double x) {
  if (missing(x)) x = __longlong_as_double(0x7ff8000000000000);
  asm volatile("st.relaxed.gpu.global.b64 [%0], %1;" ::"l"(at), "l"(__double_as_longlong(x)) : "memory");
}
__device__ __forceinline__ void publish(float *at, float x) {
  if (missing(x)) x = __int_as_float(0x7fc00000);
  asm volatile("st.relaxed.gpu.global.b32 [%0], %1;" ::"l"(at), "r"(__float_as_int(x)) : "memory");
}
template <class R>
__device__ __forceinline__ void publish(Complex<R> *at, Complex<R> x) {
  publish(&at->re, x.re), publish(&at->im, x.im);
}

// ---- tasks --------------------------------------------------------------------------------------------------------

// The parts take turns, so that all of them are at work at once, and each has its tasks in their order; L's numbers are
// near when a set's next group needs them.
template <class T>
__device__ bool next_task(const Sweep<T> &v, Task &task, SweepPart<T> &part) {
  __shared__ std::int64_t number;
  __syncthreads();  // all have read the last one
  if (threadIdx.x == 0) number = static_cast<std::int64_t>(atomicAdd(v.ticket, 1ull) + 1);
  __syncthreads();
  if (number >= std::int64_t{v.n_tasks} * v.parts) return false;
  task = v.tasks[number / v.parts];
  part = sweep_part(v, static_cast<int>(number % v.parts));
  return true;
}

// The right-hand side at a row in the order of elimination.
template <class T>
__device__ __forceinline__ T right_side(const Sweep<T> &v, const SweepPart<T> &s, int row, int column) {
  return s.b[(v.perm ? v.perm[row] : row) + column * v.ldb];
}

// y where a backward sweep begins: divided by D in L D L^H.
template <class T>
__device__ __forceinline__ T begin_backward(const Sweep<T> &v, const SweepPart<T> &s, const Front &f, int row,
                                            int column) {
  const T y = s.y[static_cast<std::int64_t>(f.first + row) * v.columns + column];
  if (!v.divides || !f.factored) return y;
  return numbers::divided(y, numbers::real_of(s.l[f.value_at + row * (std::int64_t{f.rows} + 1)]));
}

template <class T>
__device__ __forceinline__ void give_solution(const Sweep<T> &v, const SweepPart<T> &s, int row, int column, T x) {
  publish(s.z + static_cast<std::int64_t>(row) * v.columns + column, x);
  if (v.places) s.b[(v.perm ? v.perm[row] : row) + column * v.ldb] = x;
}

// ---- what children hand on ----------------------------------------------------------------------------------------

constexpr int first_rows_kept = 32;

// The first of a child's rows that is not above row `begin` of the parent.
__device__ inline int first_row_from(const std::int32_t *place, const Child &child, int begin) {
  return begin == 0 ? 0 : sextant_cholesky::lower_bound_of(place + child.row_at, child.rows, begin);
}

// Those of the first children, all at once. The caller synchronises before they are read.
template <class T>
__device__ void find_first_rows(const Sweep<T> &v, const Front &f, int begin, int *first_rows) {
  const int k = static_cast<int>(threadIdx.x);
  if (k < min(f.child_end - f.child_begin, first_rows_kept))
    first_rows[k] = first_row_from(v.place, v.children[f.child_begin + k], begin);
}

// A row of a child that belongs to a thread: its row of the parent (-1: none), and where its numbers will be.
template <class T>
struct Handed {
  int row;
  const T *at;
};
// Row `index` from the first one on, if it is above row `end` of the parent.
template <class T>
__device__ Handed<T> handed_row(const Sweep<T> &v, const SweepPart<T> &s, const Front &f, int k, int begin, int end,
                                const int *first_rows, int index) {
  const Child child = v.children[k];
  const int kept = k - f.child_begin;
  const int first = kept < first_rows_kept ? first_rows[kept] : first_row_from(v.place, child, begin);
  const int i = first + index;
  if (i >= child.rows) return {-1, nullptr};
  const int row = v.place[child.row_at + i];
  if (row >= end) return {-1, nullptr};
  return {row, s.vectors + (child.row_at + i) * v.columns};
}

// ---- narrow fronts: a warp each, rows in registers ----------------------------------------------------------------

constexpr int lane_rows = narrow_rows / 32;
constexpr int columns_ahead = 4;

// Column j of the front, rows of this lane; zeros where there are none.
template <class T>
__device__ void fetch_column(const T *block, const Front &f, int j, T (&entry)[lane_rows]) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int k = 0; k < lane_rows; ++k) {
    const int r = lane + 32 * k;
    entry[k] = j < f.width && r < f.rows && r >= j ? block[r + j * f.rows] : T{};
  }
}

template <class T, int most>
__device__ void add_handed(const Sweep<T> &v, const SweepPart<T> &s, const Front &f, int c0, int columns, T *memory) {
  const int lane = threadIdx.x % 32;
  for (int k = f.child_begin; k < f.child_end; ++k) {
    const Child child = v.children[k];
    for (int i = lane; i < child.rows; i += 32) {
      const T *const from = s.vectors + (child.row_at + i) * v.columns + c0;
      T value[most];
#pragma unroll
      for (int c = 0; c < most; ++c) value[c] = peek(from + min(c, columns - 1));
      T *const to = memory + v.place[child.row_at + i];
#pragma unroll
      for (int c = 0; c < most; ++c)
        if (c < columns) to[c * narrow_rows] = numbers::sum(to[c * narrow_rows], await(v, from + c, value[c]));
    }
    __syncwarp();
  }
}

// Right-hand sides c0 .. c0 + most - 1, as far as there are any. Its vector gathers in memory, a column after the other
// of narrow_rows numbers; L is read once.
template <class T, int most>
__device__ void forward_narrow(const Sweep<T> &v, const SweepPart<T> &s, int front, int c0, T *memory) {
  const Front f = v.fronts[front];
  const int lane = threadIdx.x % 32, columns = min(most, s.columns - c0);
  const T *const block = s.l + f.value_at;
  const Real<T> inverse =
      lane < f.width && !v.unit ? 1 / numbers::real_of(block[lane * (f.rows + 1)]) : Real<T>(lane < f.width ? 1 : 0);
  T entry[columns_ahead][lane_rows];
#pragma unroll
  for (int e = 0; e < columns_ahead; ++e) fetch_column(block, f, e, entry[e]);
  for (int c = 0; c < columns; ++c)
    for (int r = lane; r < f.rows; r += 32)
      memory[r + c * narrow_rows] = r < f.width ? right_side(v, s, f.first + r, c0 + c) : T{};
  __syncwarp();
  add_handed<T, most>(v, s, f, c0, columns, memory);
  T mine[most][lane_rows];
#pragma unroll
  for (int c = 0; c < most; ++c)
#pragma unroll
    for (int k = 0; k < lane_rows; ++k)
      mine[c][k] = c < columns && lane + 32 * k < f.rows ? memory[lane + 32 * k + c * narrow_rows] : T{};
  for (int j0 = 0; f.factored && j0 < f.width; j0 += columns_ahead) {
#pragma unroll
    for (int e = 0; e < columns_ahead; ++e) {
      const int j = j0 + e;
      if (j >= f.width) break;
#pragma unroll
      for (int c = 0; c < most; ++c) {
        const T y = numbers::from_lane(~0u, numbers::scaled(mine[c][0], inverse), j);
        if (lane == j) mine[c][0] = y;
#pragma unroll
        for (int k = 0; k < lane_rows; ++k)
          if (lane + 32 * k > j) mine[c][k] = numbers::minus_product(mine[c][k], entry[e][k], y);
      }
    }
#pragma unroll
    for (int e = 0; e < columns_ahead; ++e) fetch_column(block, f, j0 + columns_ahead + e, entry[e]);
  }
#pragma unroll
  for (int k = 0; k < lane_rows; ++k) {
    const int r = lane + 32 * k;
    T *const to =
        r < f.width ? s.y + static_cast<std::int64_t>(f.first + r) * v.columns : s.vectors + (f.row_at + r) * v.columns;
#pragma unroll
    for (int c = 0; c < most; ++c)
      if (r < f.rows && c < columns) publish(to + c0 + c, mine[c][k]);
  }
  __syncwarp();  // memory is read
}

// Columns from the last one on; each loses what the rows below it give.
template <class T, int most>
__device__ void backward_narrow(const Sweep<T> &v, const SweepPart<T> &s, int front, int c0) {
  const Front f = v.fronts[front];
  const int lane = threadIdx.x % 32, columns = min(most, s.columns - c0);
  const T *const block = s.l + f.value_at;
  const Real<T> inverse =
      lane < f.width && !v.unit ? 1 / numbers::real_of(block[lane * (f.rows + 1)]) : Real<T>(lane < f.width ? 1 : 0);
  T entry[columns_ahead][lane_rows];
#pragma unroll
  for (int e = 0; e < columns_ahead; ++e) fetch_column(block, f, max(f.width - 1 - e, 0), entry[e]);
  T mine[most][lane_rows];
#pragma unroll
  for (int k = 0; k < lane_rows; ++k) {
    const int r = lane + 32 * k;
    const T *const from = s.z + static_cast<std::int64_t>(r < f.rows ? v.rows[f.row_at + r] : 0) * v.columns + c0;
#pragma unroll
    for (int c = 0; c < most; ++c) mine[c][k] = r < f.rows && r >= f.width ? peek(from + min(c, columns - 1)) : T{};
#pragma unroll
    for (int c = 0; c < most; ++c) {
      if (r >= f.rows || c >= columns) continue;
      mine[c][k] = r < f.width ? begin_backward(v, s, f, r, c0 + c) : await(v, from + c, mine[c][k]);
    }
  }
  __syncwarp();
  for (int end = f.factored ? f.width : 0; end > 0; end -= columns_ahead) {
#pragma unroll
    for (int e = 0; e < columns_ahead; ++e) {
      const int j = end - 1 - e;
      if (j < 0) break;
#pragma unroll
      for (int c = 0; c < most; ++c) {
        T total{};
#pragma unroll
        for (int k = 0; k < lane_rows; ++k)
          if (lane + 32 * k > j) total = numbers::plus_product(total, numbers::conjugate(entry[e][k]), mine[c][k]);
#pragma unroll
        for (int bits = 16; bits > 0; bits /= 2) total = numbers::sum(total, numbers::from_lane_xor(~0u, total, bits));
        if (lane == j) mine[c][0] = numbers::scaled(numbers::difference(mine[c][0], total), inverse);
      }
    }
#pragma unroll
    for (int e = 0; e < columns_ahead; ++e) fetch_column(block, f, max(end - columns_ahead - 1 - e, 0), entry[e]);
  }
#pragma unroll
  for (int c = 0; c < most; ++c)
    if (lane < f.width && c < columns) give_solution(v, s, f.first + lane, c0 + c, mine[c][0]);
}

// A task of narrow fronts: groups of `most` right-hand sides, a warp each for a front.
template <class T, int most, bool forward>
__device__ void narrow_task(const Sweep<T> &v, const SweepPart<T> &s, const Task &t, T *memory) {
  const int warp = static_cast<int>(threadIdx.x) / 32, groups = (s.columns + most - 1) / most;
  for (int e = warp; e < (t.end - t.begin) * groups; e += sweep_threads / 32) {
    const int front = v.narrow[t.begin + e / groups], c0 = e % groups * most;
    if constexpr (forward)
      forward_narrow<T, most>(v, s, front, c0, memory + warp * most * narrow_rows);
    else
      backward_narrow<T, most>(v, s, front, c0);
  }
}
template <class T>
constexpr std::size_t narrow_shared(int most) {
  return sizeof(T) * static_cast<std::size_t>(sweep_threads / 32 * most * narrow_rows);
}

// Trees, or their lower parts, of narrow fronts alone: many blocks of threads fit, as each keeps little.
template <class T, int most, bool forward>
__global__ void __launch_bounds__(sweep_threads) sweep_narrow(Sweep<T> v) {
  Task t;
  SweepPart<T> s;
  while (next_task(v, t, s)) narrow_task<T, most, forward>(v, s, t, dynamic_memory<T>());
}

}  // namespace sextant_cholesky_levels
