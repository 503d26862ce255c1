// SPDX-License-Identifier: BSD-3-Clause
// Inverses of the triangles of 64 columns on the diagonal of a factor, for the solves: number (i, j) below the diagonal
// stands where L has nothing, at (j, i). Each block of threads has one triangle, a thread a column. Bound: a chain of
// as many multiply-adds as half a triangle has numbers, 64 chains at once; 2/3 64^2 operations a column of the matrix.
#pragma once

#include "numbers.cuh"

namespace sextant_cholesky_levels {

constexpr int inverse_threads = solve_columns, inverse_ld = solve_columns + 1;

template <class T>
constexpr std::size_t inverse_shared() {
  return sizeof(T) * (solve_columns * inverse_ld + solve_columns);
}

// Columns k0 .. k1-1 of job.front.
template <class T>
__global__ void __launch_bounds__(inverse_threads) invert_triangles(Numbers<T> v, const Job *jobs) {
  const Call<T> call = call_here(v);
  if (!call.l) return;
  T *const x = dynamic_memory<T>(), *const reciprocals =
                                        x + solve_columns * inverse_ld;  // x: L and, above, its inverse
  const Job job = jobs[blockIdx.x];
  const Front f = v.fronts[job.front];
  const int w = job.k1 - job.k0, mine = static_cast<int>(threadIdx.x);
  const std::int64_t ld = f.rows;
  T *const block = call.l + f.value_at + job.k0 * (ld + 1);
  for (int c = 0; c < w; ++c)
    if (mine >= c && mine < w) x[mine + c * inverse_ld] = block[mine + c * ld];
  __syncthreads();
  if (mine < w)
    reciprocals[mine] = numbers::from_real<T>(
        call.rule.definite ? reciprocal(numbers::real_of(x[mine * (inverse_ld + 1)])) : Real<T>(1));
  __syncthreads();
  for (int i = mine + 1; i < w; ++i) {
    T sum[4] = {numbers::minus_product(T{}, x[i + mine * inverse_ld], reciprocals[mine])};
    int k = mine + 1;
    for (; k + 3 < i; k += 4)
#pragma unroll
      for (int e = 0; e < 4; ++e)
        sum[e] = numbers::minus_product(sum[e], x[i + (k + e) * inverse_ld], x[mine + (k + e) * inverse_ld]);
    for (; k < i; ++k) sum[0] = numbers::minus_product(sum[0], x[i + k * inverse_ld], x[mine + k * inverse_ld]);
    const T all = numbers::sum(numbers::sum(sum[0], sum[1]), numbers::sum(sum[2], sum[3]));
    x[mine + i * inverse_ld] = numbers::scaled(all, numbers::real_of(reciprocals[i]));
  }
  __syncthreads();
  for (int i = 1; i < w; ++i)
    if (mine < i) block[mine + i * ld] = x[mine + i * inverse_ld];
}

}  // namespace sextant_cholesky_levels
