// SPDX-License-Identifier: BSD-3-Clause
// Solves with P L D L^H P^T as the elimination left it: with few right-hand sides all threads of a block work on one,
// with many a warp each. Interchanges belong to single columns in LAPACK's format, so columns are processed one by one;
// the next ones are prefetched.
#pragma once

#include "pivoted_storage.cuh"

namespace sextant::hermitian_pivoted {

#ifdef __CUDACC__

// The inverse of a 2 x 2 block of D. A power of two near its element off the diagonal scales it, and what it is applied
// to, so that only solutions outside the range leave it.
template <class T>
struct Block2 {
  using R = Real<T>;
  T unit;               // D(2, 1) by
  R a, c, inverse, by;  // D(1, 1) by and D(2, 2) by; 1 / (their determinant)
  __device__ Block2(R d1, T below, R d2) {
    by = one_over_power(below), a = d1 * by, c = d2 * by, unit = dense::scaled(below, by);
    inverse = 1 / fma(a, c, -dense::squared_size(unit));
  }
  // D^-1 (x, y).
  __device__ void divide_column(T &x, T &y) const {
    const T u = dense::scaled(x, by), v = dense::scaled(y, by);
    x = dense::scaled(dense::minus_product(dense::scaled(u, c), dense::conjugate(unit), v), inverse);
    y = dense::scaled(dense::minus_product(dense::scaled(v, a), unit, u), inverse);
  }
};

struct Pivot {
  int row;   // that changed places with the (second) column of the block
  bool two;  // a 2 x 2 block
};

template <class T>
struct Pivots {
  const dense::System<T> &system;
  const std::int32_t *numbers;
  bool from_end;

  // Row numbers that no elimination can have written count as no interchange, so that no read leaves the system.
  __device__ Pivot at(int k) const {
    const int number = numbers[from_end ? system.n - 1 - k : k];
    const int row = from_end ? system.n - abs(number) : abs(number) - 1;
    return {row < 0 || row >= system.n ? k : row, number < 0};
  }
  __device__ Pivot first_of(int k) const {  // of the block that begins at k
    const Pivot pivot = at(k);
    return {pivot.row, pivot.two && k + 1 < system.n};
  }
  __device__ Pivot last_of(int k) const {  // of the block that ends at k
    const Pivot pivot = at(k);
    return {pivot.row, pivot.two && k > 0};
  }
};

// All threads of a block on one right-hand side, which lies in shared memory.
template <class T>
struct BlockSolve {
  using R = Real<T>;
  static constexpr int ahead = 2;  // rows a thread reads ahead
  const dense::System<T> &system;
  const Pivots<T> pivots;
  T *x, *partial;  // n elements; two a warp

  struct Columns {
    T first[ahead], second[ahead];
  };

  // Columns c and c + 1 below row c + 1, or nothing where there is none.
  __device__ Columns read(int c) const {
    Columns columns;
#pragma unroll
    for (int p = 0; p < ahead; ++p) {
      const int r = threadIdx.x + p * blockDim.x;
      columns.first[p] = c >= 0 && r < system.n && r > c ? *system.at(r, c) : T{};
      columns.second[p] = c + 1 >= 0 && r < system.n && r > c + 1 ? *system.at(r, c + 1) : T{};
    }
    return columns;
  }
  // f(r, L(r, c), L(r, c + 1)) for this thread's rows from `from` on.
  template <class F>
  __device__ void for_rows(int from, int c, const Columns &columns, F f) const {
#pragma unroll
    for (int p = 0; p < ahead; ++p) {
      const int r = threadIdx.x + p * blockDim.x;
      if (r >= from && r < system.n) f(r, columns.first[p], columns.second[p]);
    }
    for (int r = threadIdx.x + ahead * blockDim.x; r < system.n; r += blockDim.x)
      if (r >= from) f(r, c >= 0 ? *system.at(r, c) : T{}, c + 1 < system.n ? *system.at(r, c + 1) : T{});
  }

  __device__ void forward() const {
    Columns columns = read(0);
    for (int i = 0; i < system.n;) {
      const Pivot pivot = pivots.first_of(i);
      const int last = i + pivot.two;
      const T moved = x[last], chosen = x[pivot.row], first = pivot.two ? x[i] : chosen;
      const Columns next = read(last + 1);
      const R d1 = dense::real_of(*system.at(i, i));
      __syncthreads();
      for_rows(last + 1, i, columns, [&](int r, T l1, T l2) {
        T value = dense::minus_product(r == pivot.row ? moved : x[r], l1, first);
        if (pivot.two) value = dense::minus_product(value, l2, chosen);
        x[r] = value;
      });
      if (threadIdx.x == 0) {
        T a = first, b = chosen;
        if (pivot.two)
          Block2<T>(d1, *system.at(i + 1, i), dense::real_of(*system.at(i + 1, i + 1))).divide_column(a, b),
              x[i + 1] = b;
        else
          a = dense::scaled(a, 1 / d1);
        x[i] = a;
      }
      __syncthreads();
      columns = next;
      i = last + 1;
    }
  }

  // Leaves the sum of each warp in partial.
  __device__ void over_warps(T mine, int which) const {
    const int lane = threadIdx.x % 32, warps = blockDim.x / 32;
#pragma unroll
    for (int bits = 16; bits > 0; bits /= 2) mine = dense::sum(mine, dense::from_lane_xor(~0u, mine, bits));
    if (lane == 0) partial[which * warps + threadIdx.x / 32] = mine;
  }

  __device__ void back() const {
    Columns columns = read(system.n - 2);  // the last column and the one before it
    for (int i = system.n - 1; i >= 0;) {
      const Pivot pivot = pivots.last_of(i);
      const Columns next = read(i - (pivot.two ? 3 : 2));
      T total{}, other{};
      for_rows(i + 1, i - 1, columns, [&](int r, T before, T own) {
        total = dense::plus_product(total, dense::conjugate(own), x[r]);
        if (pivot.two) other = dense::plus_product(other, dense::conjugate(before), x[r]);
      });
      over_warps(total, 0);
      if (pivot.two) over_warps(other, 1);
      __syncthreads();
      if (threadIdx.x == 0) finish(i, pivot);
      __syncthreads();
      columns = next;
      i -= pivot.two ? 2 : 1;
    }
  }
  __device__ void finish(int i, Pivot pivot) const {
    const int warps = blockDim.x / 32;
    T own = x[i];
    for (int w = 0; w < warps; ++w) own = dense::difference(own, partial[w]);
    x[i] = own;
    for (int w = 0; pivot.two && w < warps; ++w) x[i - 1] = dense::difference(x[i - 1], partial[warps + w]);
    x[i] = x[pivot.row], x[pivot.row] = own;
  }

  __device__ void solve(int k) const {
    for (int r = threadIdx.x; r < system.n; r += blockDim.x) x[r] = system.right(r, k);
    __syncthreads();
    forward();
    back();
    for (int r = threadIdx.x; r < system.n; r += blockDim.x) system.put_right(r, k, x[r]);
    __syncthreads();
  }
};

// A warp a right-hand side, in place.
template <class T>
struct WarpSolve {
  using R = Real<T>;
  const dense::System<T> &system;
  const Pivots<T> pivots;
  int lane;

  __device__ void exchange(int a, int b, int k) const {
    __syncwarp();
    if (lane == 0 && a != b) {
      const T kept = system.right(a, k);
      system.put_right(a, k, system.right(b, k));
      system.put_right(b, k, kept);
    }
    __syncwarp();
  }
  // The sum of conj(L(r, c)) x(r) below row `from`.
  __device__ T dot(int c, int from, int k) const {
    T total{};
#pragma unroll 4
    for (int r = from + lane; r < system.n; r += 32)
      total = dense::plus_product(total, dense::conjugate(*system.at(r, c)), system.right(r, k));
#pragma unroll
    for (int bits = 16; bits > 0; bits /= 2) total = dense::sum(total, dense::from_lane_xor(~0u, total, bits));
    return total;
  }

  __device__ int forward_one(int i, Pivot pivot, int k) const {
    exchange(i, pivot.row, k);
    const T x = system.right(i, k);
    const R d = dense::real_of(*system.at(i, i));
    __syncwarp();
    if (lane == 0) system.put_right(i, k, dense::scaled(x, 1 / d));
#pragma unroll 4
    for (int r = i + 1 + lane; r < system.n; r += 32)
      system.put_right(r, k, dense::minus_product(system.right(r, k), *system.at(r, i), x));
    return i + 1;
  }
  __device__ int forward_two(int i, Pivot pivot, int k) const {
    exchange(i + 1, pivot.row, k);
    const T x = system.right(i, k), y = system.right(i + 1, k);
    __syncwarp();
    if (lane == 0) {
      T a = x, b = y;
      Block2<T>(dense::real_of(*system.at(i, i)), *system.at(i + 1, i), dense::real_of(*system.at(i + 1, i + 1)))
          .divide_column(a, b);
      system.put_right(i, k, a);
      system.put_right(i + 1, k, b);
    }
#pragma unroll 2
    for (int r = i + 2 + lane; r < system.n; r += 32) {
      const T value = dense::minus_product(system.right(r, k), *system.at(r, i), x);
      system.put_right(r, k, dense::minus_product(value, *system.at(r, i + 1), y));
    }
    return i + 2;
  }
  __device__ int back(int i, int k) const {
    const Pivot pivot = pivots.last_of(i);
    const T total = dot(i, i + 1, k);
    T other{};
    if (pivot.two) other = dot(i - 1, i + 1, k);
    __syncwarp();
    if (lane == 0) {
      system.put_right(i, k, dense::difference(system.right(i, k), total));
      if (pivot.two) system.put_right(i - 1, k, dense::difference(system.right(i - 1, k), other));
    }
    exchange(i, pivot.row, k);
    return pivot.two ? i - 2 : i - 1;
  }
  __device__ void solve(int k) const {
    for (int i = 0; i < system.n;) {
      const Pivot pivot = pivots.first_of(i);
      i = pivot.two ? forward_two(i, pivot, k) : forward_one(i, pivot, k);
    }
    __syncwarp();
    for (int i = system.n - 1; i >= 0;) i = back(i, k);
  }
};

#endif  // __CUDACC__

}  // namespace sextant::hermitian_pivoted
