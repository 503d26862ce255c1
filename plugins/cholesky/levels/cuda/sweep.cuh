// SPDX-License-Identifier: BSD-3-Clause
// What both sweeps of a solve share: tasks and how they wait for one another, triangles of 64 columns, and narrow
// fronts.
#pragma once

#include "numbers.cuh"

namespace sextant_cholesky_levels {

constexpr int solve_threads = 128, most_task_rows = solve_columns + solve_rows;
static_assert(solve_threads / 32 * narrow_rows <= most_task_rows + solve_rows,
              "narrow fronts gather in `vector` and `known`");
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
  T *x;        // n a column, in the order of elimination
  T *vectors;  // as many numbers a column as the row lists have
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
    for (int c = 0; c < most; ++c) mine[c][k] = r < f.rows && c < v.columns ? fresh(v.x + row + c * v.n) : T{};
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

}  // namespace sextant_cholesky_levels
