// SPDX-License-Identifier: BSD-3-Clause
// Inverses of the triangles of 64 columns on the diagonal of a factor, for the solves: number (i, j) below the diagonal
// stands where L has nothing, at (j, i). A block of threads has a triangle: its squares of 16 columns are inverted by
// substitution, then those of 32 and 64 by two products each, -L22^-1 L21 L11^-1. Bound: the chain of the first step;
// 64^3 / 3 operations a triangle.
#pragma once

#include "numbers.cuh"

namespace sextant_cholesky_levels {

constexpr int inverse_threads = 256, inverse_ld = solve_columns + 1;
constexpr int inverse_first = 16;                                    // columns of the squares of the first step
constexpr int inverse_products = solve_columns * solve_columns / 4;  // numbers of one step's L21 L11^-1, at most

template <class T>
constexpr std::size_t inverse_shared() {
  return sizeof(T) * (solve_columns * inverse_ld + inverse_products) + sizeof(Real<T>) * solve_columns;
}

// L on and below the diagonal of x, its inverse above it.
template <class T>
struct Triangle {
  T *x, *products;
  Real<T> *reciprocals;
  __device__ T &entry(int i, int j) const { return x[i + j * inverse_ld]; }
  __device__ T &inverse(int i, int j) const { return x[j + i * inverse_ld]; }  // i > j
};

// A thread a column.
template <class T>
__device__ void invert_squares(const Triangle<T> &t) {
  const int c = static_cast<int>(threadIdx.x);
  if (c >= solve_columns) return;
  const int end = (c / inverse_first + 1) * inverse_first;
  for (int i = c + 1; i < end; ++i) {
    T even = numbers::difference(T{}, numbers::scaled(t.entry(i, c), t.reciprocals[c])), odd{};
    int k = c + 1;
    for (; k + 1 < i; k += 2) {
      even = numbers::minus_product(even, t.entry(i, k), t.inverse(k, c));
      odd = numbers::minus_product(odd, t.entry(i, k + 1), t.inverse(k + 1, c));
    }
    if (k < i) even = numbers::minus_product(even, t.entry(i, k), t.inverse(k, c));
    t.inverse(i, c) = numbers::scaled(numbers::sum(even, odd), t.reciprocals[i]);
  }
}

// Neighbouring inverses of `size` columns become one of twice as many.
template <class T, int size>
__device__ void join_inverses(const Triangle<T> &t) {
  static_assert(solve_columns / 2 * size <= inverse_products);
  const auto each = [&](auto &&f) {  // number (i, j) of the square below each first one of two
    for (int e = static_cast<int>(threadIdx.x); e < solve_columns / 2 * size; e += inverse_threads)
      f(e, e / (size * size) * 2 * size, e % size, e / size % size);
  };
  each([&](int e, int b, int i, int j) {
    T sum = numbers::scaled(t.entry(b + size + i, b + j), t.reciprocals[b + j]);
    for (int k = j + 1; k < size; ++k)
      sum = numbers::plus_product(sum, t.entry(b + size + i, b + k), t.inverse(b + k, b + j));
    t.products[e] = sum;
  });
  __syncthreads();
  each([&](int e, int b, int i, int j) {
    const T *const column = t.products + (e - i);
    T sum = numbers::difference(T{}, numbers::scaled(column[i], t.reciprocals[b + size + i]));
    for (int k = 0; k < i; ++k) sum = numbers::minus_product(sum, t.inverse(b + size + i, b + size + k), column[k]);
    t.inverse(b + size + i, b + j) = sum;
  });
  __syncthreads();
}

// Columns k0 .. k1-1 of job.front.
template <class T>
__global__ void __launch_bounds__(inverse_threads) invert_triangles(Numbers<T> v, const Job *jobs) {
  const Call<T> call = call_here(v);
  if (!call.l) return;
  T *const x = dynamic_memory<T>(), *const products = x + solve_columns * inverse_ld;
  const Triangle<T> t{x, products, reinterpret_cast<Real<T> *>(products + inverse_products)};
  const Job job = jobs[blockIdx.x];
  const Front f = v.fronts[job.front];
  const int w = job.k1 - job.k0, lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const std::int64_t ld = f.rows;
  T *const block = call.l + f.value_at + job.k0 * (ld + 1);
  for (int c = warp; c < solve_columns; c += inverse_threads / 32)
    for (int r = c + lane; r < solve_columns; r += 32) {
      const T number = r < w ? block[r + c * ld] : T{};
      t.entry(r, c) = number;
      if (r == c) t.reciprocals[c] = call.rule.definite && c < w ? reciprocal(numbers::real_of(number)) : Real<T>(1);
    }
  __syncthreads();
  invert_squares(t);
  __syncthreads();
  join_inverses<T, inverse_first>(t);
  if (w > 2 * inverse_first) join_inverses<T, 2 * inverse_first>(t);
  for (int i = 1 + warp; i < w; i += inverse_threads / 32)
    for (int j = lane; j < i; j += 32) block[j + i * ld] = t.inverse(i, j);
}

}  // namespace sextant_cholesky_levels
