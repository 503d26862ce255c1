// SPDX-License-Identifier: BSD-3-Clause
// Solves, one kernel a direction: blocks of threads take tasks in an order in which each waits for tasks before it
// alone, so that any number of blocks ends. Forwards each front has a vector of its rows, to which its children's are
// added in their order; backwards it reads the solution at its rows. L is read once a direction. Sums have one order.
// Bound: the memory that holds L; near the root the chain of column blocks.
#pragma once

#include "numbers.cuh"

namespace sextant_cholesky_levels {

constexpr int solve_threads = 128, most_task_rows = solve_columns + solve_rows;
static_assert(solve_threads / 32 * narrow_rows <= most_task_rows + solve_rows, "narrow fronts gather in `vector` and `known`");
static_assert(solve_threads / 32 == narrow_fronts);
constexpr int triangle_ld = solve_columns + 1;

// One sweep over a group of right-hand sides.
template <class T>
struct Sweep {
  const Front *fronts;
  const std::int32_t *place, *children, *rows, *narrow;
  const Task *tasks;
  const std::int32_t *tasks_of;  // of each front
  std::int32_t n_tasks;
  std::int32_t columns;
  const T *l;
  T *x;             // n a column, in the order of elimination
  T *vectors;       // as many numbers a column as the row lists have
  std::int64_t n, size;
  std::int32_t *ticket, *done, *solved;  // of each front: tasks that ended; column blocks that are solved
};

__device__ __forceinline__ std::int32_t look(const std::int32_t *at) {
  std::int32_t value;
  asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
  return value;
}
__device__ __forceinline__ void wait_until(const std::int32_t *at, std::int32_t least) {
  while (look(at) < least) __nanosleep(20);
}
__device__ __forceinline__ void count_up(std::int32_t *at) {
  asm volatile("red.release.gpu.global.add.s32 [%0], 1;" ::"l"(at) : "memory");
}

// Another block wrote it: not from this multiprocessor's cache.
template <class T>
__device__ __forceinline__ T fresh(const T *from) {
  if constexpr (complex_valued<T>) {
    using Pair = std::conditional_t<sizeof(Real<T>) == sizeof(float), float2, double2>;
    const Pair pair = __ldcg(reinterpret_cast<const Pair *>(from));
    return {pair.x, pair.y};
  } else {
    return __ldcg(from);
  }
}

constexpr int tile_rows = 32, tile_ld = tile_rows + 1;

template <class T>
struct SolveMemory {
  T *triangle;  // of a column block, triangle_ld apart
  T *vector;    // most_task_rows a column
  T *known;     // solve_rows a column
  T *tile;      // with several columns: tile_rows of solve_columns columns, tile_ld apart
};
template <class T>
constexpr std::size_t solve_shared(int columns) {
  return sizeof(T) * static_cast<std::size_t>(solve_columns * triangle_ld + columns * (most_task_rows + solve_rows) +
                                              (columns > 1 ? solve_columns * tile_ld : 0));
}
template <class T, int most>
__device__ SolveMemory<T> solve_memory() {
  T *const begin = dynamic_memory<T>(), *const vector = begin + solve_columns * triangle_ld;
  T *const known = vector + most * most_task_rows;
  return {begin, vector, known, known + most * solve_rows};
}

template <class T>
__device__ bool next_task(const Sweep<T> &v, Task &task) {
  __shared__ std::int32_t number;
  __syncthreads();  // all have read the last one
  if (threadIdx.x == 0) number = atomicAdd(v.ticket, 1);
  __syncthreads();
  if (number >= v.n_tasks) return false;
  task = v.tasks[number];
  return true;
}

template <class T>
__device__ void end_task(const Sweep<T> &v, int front, bool is_column_block) {
  __syncthreads();
  if (threadIdx.x != 0) return;
  __threadfence();
  if (is_column_block) count_up(v.solved + front);
  count_up(v.done + front);
}

// The triangle of w columns from column j0 on, the reciprocals of its diagonal in the diagonal's place.
template <class T>
__device__ void load_triangle(const T *block, std::int64_t m, int j0, int w, T *to) {
  const int r = static_cast<int>(threadIdx.x) % solve_columns, first = static_cast<int>(threadIdx.x) / solve_columns;
  constexpr int apart = solve_threads / solve_columns, at_once = 8;
  const T *const from = block + j0 * (m + 1) + min(r, w - 1);
  for (int c0 = first; c0 < w; c0 += apart * at_once) {
    T value[at_once];
#pragma unroll
    for (int k = 0; k < at_once; ++k) value[k] = from[min(c0 + k * apart, w - 1) * m];
#pragma unroll
    for (int k = 0; k < at_once; ++k) {
      const int c = c0 + k * apart;
      if (r < w && c <= r)
        to[r + c * triangle_ld] = r == c ? numbers::from_real<T>(1 / numbers::real_of(value[k])) : value[k];
    }
  }
}

// b (w numbers a column) becomes L^-1 b or L^-H b, a warp a column, two numbers a lane: of the half whose unknowns are
// found, and of the other one.
template <class T>
__device__ void solve_forward(const T *l, int w, T *b, int ld, int columns) {
  const int lane = threadIdx.x % 32;
  for (int c = threadIdx.x / 32; c < columns; c += solve_threads / 32)
    for (int j0 = 0; j0 < w; j0 += 32) {
      const int here = j0 + lane, there = lane + 32, count = min(32, w - j0);
      const bool has_other = j0 == 0 && there < w;
      const Real<T> inverse = here < w ? numbers::real_of(l[here * (triangle_ld + 1)]) : Real<T>(0);
      T mine = here < w ? b[here + c * ld] : T{}, other = has_other ? b[there + c * ld] : T{};
#pragma unroll 8
      for (int j = 0; j < count; ++j) {
        const T *const column = l + (j0 + j) * triangle_ld;
        const T entry = lane > j && here < w ? column[here] : T{}, far = has_other ? column[there] : T{};
        const T y = numbers::from_lane(~0u, numbers::scaled(mine, inverse), j);
        mine = lane == j ? y : numbers::minus_product(mine, entry, y);
        other = numbers::minus_product(other, far, y);
      }
      if (here < w) b[here + c * ld] = mine;
      if (has_other) b[there + c * ld] = other;
      __syncwarp();
    }
}
template <class T>
__device__ void solve_backward(const T *l, int w, T *b, int ld, int columns) {
  const int lane = threadIdx.x % 32;
  for (int c = threadIdx.x / 32; c < columns; c += solve_threads / 32)
    for (int j0 = w > 32 ? 32 : 0; j0 >= 0; j0 -= 32) {
      const int here = j0 + lane, count = min(32, w - j0);
      const bool has_other = j0 > 0;
      const Real<T> inverse = here < w ? numbers::real_of(l[here * (triangle_ld + 1)]) : Real<T>(0);
      T mine = here < w ? b[here + c * ld] : T{}, other = has_other ? b[lane + c * ld] : T{};
#pragma unroll 8
      for (int j = count - 1; j >= 0; --j) {
        const T *const row = l + j0 + j;
        const T entry = lane < j ? numbers::conjugate(row[here * triangle_ld]) : T{};
        const T far = has_other ? numbers::conjugate(row[lane * triangle_ld]) : T{};
        const T y = numbers::from_lane(~0u, numbers::scaled(mine, inverse), j);
        mine = lane == j ? y : numbers::minus_product(mine, entry, y);
        other = numbers::minus_product(other, far, y);
      }
      if (here < w) b[here + c * ld] = mine;
      if (has_other) b[lane + c * ld] = other;
      __syncwarp();
    }
}

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
__device__ void take_off_known(const Sweep<T> &v, const Front &f, const Task &t, int end, const SolveMemory<T> &memory) {
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

// ---- narrow fronts: a warp each, rows in registers ----------------------------------------------------------------

constexpr int lane_rows = narrow_rows / 32;

template <class T>
__device__ void end_front(const Sweep<T> &v, int front) {
  __syncwarp();
  if (threadIdx.x % 32 == 0) {
    __threadfence();
    count_up(v.done + front);
  }
}

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

constexpr int columns_ahead = 4;

// f's vector gathers in memory, a column after the other of narrow_rows numbers; L is read once.
template <class T, int most>
__device__ void forward_narrow(const Sweep<T> &v, int front, T *memory) {
  const Front f = v.fronts[front];
  const int lane = threadIdx.x % 32;
  const T *const block = v.l + f.value_at;
  const Real<T> inverse = lane < f.width ? 1 / numbers::real_of(block[lane * (f.rows + 1)]) : Real<T>(0);
  for (int k = f.child_begin + lane; k < f.child_end; k += 32)
    wait_until(v.done + v.children[k], v.tasks_of[v.children[k]]);
  for (int c = 0; c < v.columns; ++c)
    for (int r = lane; r < f.rows; r += 32)
      memory[r + c * narrow_rows] = r < f.width ? v.x[f.first + r + c * v.n] : T{};
  __syncwarp();
  for (int k = f.child_begin; k < f.child_end; ++k) {
    const Front child = v.fronts[v.children[k]];
    const std::int32_t *const place = v.place + child.row_at + child.width;
    const T *const from = v.vectors + child.row_at + child.width;
    for (int i = lane; i < child.rows - child.width; i += 32)
      for (int c = 0; c < v.columns; ++c) {
        T &number = memory[place[i] + c * narrow_rows];
        number = numbers::sum(number, fresh(from + i + c * v.size));
      }
    __syncwarp();
  }
  T mine[most][lane_rows];
#pragma unroll
  for (int c = 0; c < most; ++c)
#pragma unroll
    for (int k = 0; k < lane_rows; ++k)
      mine[c][k] = c < v.columns && lane + 32 * k < f.rows ? memory[lane + 32 * k + c * narrow_rows] : T{};
  for (int j0 = 0; f.factored && j0 < f.width; j0 += columns_ahead) {
    T entry[columns_ahead][lane_rows];
#pragma unroll
    for (int e = 0; e < columns_ahead; ++e) fetch_column(block, f, j0 + e, entry[e]);
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
  }
#pragma unroll
  for (int c = 0; c < most; ++c)
#pragma unroll
    for (int k = 0; k < lane_rows; ++k) {
      const int r = lane + 32 * k;
      if (r >= f.rows || c >= v.columns) continue;
      *(r < f.width ? v.x + f.first + r + c * v.n : v.vectors + f.row_at + r + c * v.size) = mine[c][k];
    }
  end_front(v, front);
}

// Columns from the last one on; each loses what the rows below it give.
template <class T, int most>
__device__ void backward_narrow(const Sweep<T> &v, int front) {
  const Front f = v.fronts[front];
  const int lane = threadIdx.x % 32;
  const T *const block = v.l + f.value_at;
  const Real<T> inverse = lane < f.width ? 1 / numbers::real_of(block[lane * (f.rows + 1)]) : Real<T>(0);
  if (lane == 0 && f.parent >= 0) wait_until(v.done + f.parent, v.tasks_of[f.parent]);
  __syncwarp();
  T mine[most][lane_rows];
#pragma unroll
  for (int k = 0; k < lane_rows; ++k) {
    const int r = lane + 32 * k, row = r < f.rows ? v.rows[f.row_at + r] : 0;
#pragma unroll
    for (int c = 0; c < most; ++c)
      mine[c][k] = r < f.rows && c < v.columns ? fresh(v.x + row + c * v.n) : T{};
  }
  for (int end = f.factored ? f.width : 0; end > 0; end -= columns_ahead) {
    T entry[columns_ahead][lane_rows];
#pragma unroll
    for (int e = 0; e < columns_ahead; ++e) fetch_column(block, f, max(end - 1 - e, 0), entry[e]);
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
  }
#pragma unroll
  for (int c = 0; c < most; ++c)
    if (lane < f.width && c < v.columns) v.x[f.first + lane + c * v.n] = mine[c][0];
  end_front(v, front);
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
        m.vector[j + column * most_task_rows] =
            numbers::difference(v.x[f.first + t.begin + j + column * v.n], sum[c]);
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
