// SPDX-License-Identifier: BSD-3-Clause
// Solves with few rows: a warp a right-hand side, which is kept in its lanes' registers, so that a column of L costs a
// few exchanges between lanes and no barrier; the next columns are prefetched. Traffic: the triangle twice.
#pragma once

#include "pivoted_solve.cuh"

namespace sextant::hermitian_pivoted {

#ifdef __CUDACC__

// b if so, else a. By masks: the compiler makes an address of a choice between elements of an array, which then can not
// stay in registers.
__device__ inline int second_if(bool so, int a, int b) {
  return (a & ~-static_cast<int>(so)) | (b & -static_cast<int>(so));
}
__device__ inline float second_if(bool so, float a, float b) {
  return __int_as_float(second_if(so, __float_as_int(a), __float_as_int(b)));
}
__device__ inline double second_if(bool so, double a, double b) {
  return __hiloint2double(second_if(so, __double2hiint(a), __double2hiint(b)),
                          second_if(so, __double2loint(a), __double2loint(b)));
}
template <class R>
__device__ dense::Complex<R> second_if(bool so, dense::Complex<R> a, dense::Complex<R> b) {
  return {second_if(so, a.re, b.re), second_if(so, a.im, b.im)};
}

// Lane i has rows i, i + 32, ...: so many.
template <class T, int slots>
struct LaneSolve {
  using R = Real<T>;
  static constexpr int ahead = slots > 2 ? 2 : 4;  // columns on their way
  const dense::System<T> system;
  int lane;
  T x[slots];
  int pivot[slots];                  // the row that changed places; bit 16: a block of order 2
  bool first[slots], second[slots];  // of a block of order 2

  __device__ LaneSolve(const dense::System<T> &system, const Pivots<T> &pivots, int lane) : system(system), lane(lane) {
#pragma unroll
    for (int j = 0; j < slots; ++j) {
      const Pivot own = pivots.at(min(row(j), system.n - 1));
      pivot[j] = own.row | own.two << 16;
    }
  }
  __device__ int row(int j) const { return lane + 32 * j; }

  __device__ T x_at(int r) const {
    T value = x[0];
#pragma unroll
    for (int j = 1; j < slots; ++j) value = second_if(r / 32 == j, value, x[j]);
    return dense::from_lane(~0u, value, r % 32);
  }
  __device__ int pivot_at(int r) const {
    int number = pivot[0];
#pragma unroll
    for (int j = 1; j < slots; ++j) number = second_if(r / 32 == j, number, pivot[j]);
    return __shfl_sync(~0u, number, r % 32);
  }

  // Column c below the diagonal; beside it any number of the triangle.
  struct Column {
    T at[slots];
  };
  __device__ Column read(int c) const {
    Column column;
    c = min(max(c, 0), system.n - 1);
#pragma unroll
    for (int j = 0; j < slots; ++j) column.at[j] = *system.at(max(min(row(j), system.n - 1), c), c);
    return column;
  }

  __device__ void exchange(int a, T at_a, int b, T at_b) {
#pragma unroll
    for (int j = 0; j < slots; ++j) {
      if (row(j) == a) x[j] = at_b;
      if (row(j) == b) x[j] = at_a;
    }
  }

  __device__ void forward() {
    Column columns[ahead];
#pragma unroll
    for (int u = 0; u < ahead; ++u) columns[u] = read(u);
    bool within = false;  // the second column of a block
#pragma unroll 1
    for (int k0 = 0; k0 < system.n; k0 += ahead) {
#pragma unroll
      for (int u = 0; u < ahead; ++u) {
        const int k = k0 + u;
        if (k >= system.n) break;
        const Column column = columns[u];
        columns[u] = read(k + ahead);
        const int number = pivot_at(k);
        const bool begins = number >> 16 && !within && k + 1 < system.n;
        T value = x_at(k);
        if (!within) {
          const int last = k + begins, with = number & 0xffff;
          if (with != last) {
            const T moved = begins ? x_at(last) : value, chosen = x_at(with);
            if (!begins) value = chosen;
            exchange(last, moved, with, chosen);
          }
        }
        const int from = k + 1 + begins;
#pragma unroll
        for (int j = 0; j < slots; ++j) {
          if (row(j) >= from) x[j] = dense::minus_product(x[j], column.at[j], value);
          if (row(j) == k) first[j] = begins, second[j] = within;
        }
        within = begins;
      }
    }
  }

  // D^-1 x, all rows at once.
  __device__ void divide() {
    T above[slots], below[slots];  // x of the rows before and after
#pragma unroll
    for (int j = 0; j < slots; ++j) {
      below[j] = dense::from_lane(~0u, lane == 0 ? x[min(j + 1, slots - 1)] : x[j], (lane + 1) % 32);
      above[j] = dense::from_lane(~0u, lane == 31 ? x[max(j - 1, 0)] : x[j], (lane + 31) % 32);
    }
#pragma unroll
    for (int j = 0; j < slots; ++j) {
      const int r = row(j);
      if (r >= system.n) continue;
      const R own = dense::real_of(*system.at(r, r));
      if (first[j]) {
        Block2<T>(own, *system.at(r + 1, r), dense::real_of(*system.at(r + 1, r + 1))).divide_column(x[j], below[j]);
      } else if (second[j]) {
        Block2<T>(dense::real_of(*system.at(r - 1, r - 1)), *system.at(r, r - 1), own).divide_column(above[j], x[j]);
      } else {
        x[j] = dense::scaled(x[j], 1 / own);
      }
    }
  }

  __device__ void back() {
    Column columns[ahead];
#pragma unroll
    for (int u = 0; u < ahead; ++u) columns[u] = read(system.n - 1 - u);
    bool within = false;  // the first column of a block, which comes second here
#pragma unroll 1
    for (int c0 = system.n - 1; c0 >= 0; c0 -= ahead) {
#pragma unroll
      for (int u = 0; u < ahead; ++u) {
        const int c = c0 - u;
        if (c < 0) break;
        const Column column = columns[u];
        columns[u] = read(c - ahead);
        const int number = pivot_at(c), with = number & 0xffff, from = c + 1 + within;
        const bool begins = number >> 16 && !within && c > 0;
        T total{};
#pragma unroll
        for (int j = 0; j < slots; ++j)
          if (row(j) >= from && row(j) < system.n)
            total = dense::plus_product(total, dense::conjugate(column.at[j]), x[j]);
#pragma unroll
        for (int bits = 16; bits > 0; bits /= 2) total = dense::sum(total, dense::from_lane_xor(~0u, total, bits));
#pragma unroll
        for (int j = 0; j < slots; ++j)
          if (row(j) == c) x[j] = dense::difference(x[j], total);
        const int last = c + within;
        if (!begins && with != last) exchange(last, x_at(last), with, x_at(with));
        within = begins;
      }
    }
  }

  __device__ void solve(int k) {
#pragma unroll
    for (int j = 0; j < slots; ++j) {
      x[j] = row(j) < system.n ? system.right(row(j), k) : T{};
      first[j] = second[j] = false;
    }
    forward();
    divide();
    back();
#pragma unroll
    for (int j = 0; j < slots; ++j)
      if (row(j) < system.n) system.put_right(row(j), k, x[j]);
  }
};

constexpr int lane_rows = 96;  // that solves by lanes take
template <class T, int slots>
__device__ __noinline__ void lane_solve(dense::System<T> system, Pivots<T> numbers) {
  assume_global(system.a), assume_global(system.b);
  LaneSolve<T, slots> each(system, {system, numbers.numbers, numbers.from_end}, static_cast<int>(threadIdx.x % 32));
  for (int k = threadIdx.x / 32; k < system.n_rhs; k += blockDim.x / 32) each.solve(k);
}
template <class T, int slots = 1>
__device__ void solve_by_lanes(const dense::System<T> &system, const Pivots<T> &numbers) {
  if constexpr (32 * slots < lane_rows)
    if (system.n > 32 * slots) return solve_by_lanes<T, slots + 1>(system, numbers);
  lane_solve<T, slots>(system, numbers);
}

#endif  // __CUDACC__

}  // namespace sextant::hermitian_pivoted
