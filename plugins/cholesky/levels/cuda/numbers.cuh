// SPDX-License-Identifier: BSD-3-Clause
// What every kernel of this scheduler gets: the fronts, the tree, and in device memory what one call brings, so that a
// recorded factorisation serves every call.
#pragma once

#include "plan.hpp"
#include "plugins/cholesky/shared/device.cuh"

namespace sextant_cholesky_levels {

namespace numbers = sextant::plugin::cuda::dense;
using sextant::plugin::cuda::Complex, sextant::plugin::cuda::complex_valued, sextant::plugin::cuda::Real;
using sextant_cholesky::Verdict;
using sextant_dense::judge, sextant_dense::Pivot, sextant_dense::PivotRule;
using sextant_dense::device::Word;

template <class T>
struct Call {
  T *l;
  PivotRule rule;
  std::uint8_t *marks;  // NULL: no pivot may be changed
  Verdict *verdict;
};

template <class T>
struct Numbers {
  const Front *fronts;
  const std::int32_t *place, *children;
  const Call<T> *call;
  T *updates[2];
#ifdef __CUDACC__
  __device__ T *update(const Front &f) const { return (f.buffer ? updates[1] : updates[0]) + f.update_at; }
#endif
};

#ifdef __CUDACC__

template <class T>
__device__ T *dynamic_memory() {
  extern __shared__ __align__(16) unsigned char levels_memory[];
  return reinterpret_cast<T *>(levels_memory);
}

// The job of this block of threads; jobs stand in the order of their blocks.
__device__ inline Job job_of_block(const Job *jobs, int count) {
  int first = 0, left = count;
  while (left > 1) {
    const int half = left / 2;
    if (jobs[first + half].first_block <= static_cast<int>(blockIdx.x))
      first += half, left -= half;
    else
      left = half;
  }
  return jobs[first];
}

// Tells what became of pivot `column` of the whole matrix.
template <class T>
__device__ void note_pivot(const Call<T> &call, Pivot verdict, int column) {
  if (verdict == Pivot::failed) atomicMin(&call.verdict->failed, static_cast<Word>(column));
  if (verdict == Pivot::changed && call.marks) call.marks[column] = 1;
}

// Columns 0 .. w-1 of m rows in shared memory, x[r + c ld], become columns of L. Column j stays unscaled while later
// ones lose its part, divided by its pivot: one barrier a column. `pivots`: room for w numbers. False where a pivot
// failed: it stays in its place, and columns from there on mean nothing.
template <class T, int threads>
__device__ bool factor_columns(const Call<T> &call, T *x, int ld, int m, int w, Real<T> *pivots, int first_column,
                               bool speaks) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int done = 0;
  for (; done < w; ++done) {
    const int j = done;
    Real<T> pivot = numbers::real_of(x[j + j * ld]);
    const Pivot verdict = judge(call.rule, pivot);
    if (threadIdx.x == 0) {
      pivots[j] = pivot;
      if (speaks && verdict != Pivot::good) note_pivot(call, verdict, first_column + j);
    }
    if (verdict == Pivot::failed) break;  // in all threads
    const Real<T> inverse = 1 / pivot;
    for (int c = j + 1 + warp; c < w; c += threads / 32) {
      const T factor = numbers::scaled(numbers::conjugate(x[c + j * ld]), inverse);
      for (int r = c + lane; r < m; r += 32) x[r + c * ld] = numbers::minus_product(x[r + c * ld], x[r + j * ld], factor);
    }
    __syncthreads();
  }
  __syncthreads();
  for (int c = warp; c < done; c += threads / 32) {
    const Real<T> root = sqrt(pivots[c]), inverse = 1 / root;
    for (int r = c + 1 + lane; r < m; r += 32) x[r + c * ld] = numbers::scaled(x[r + c * ld], inverse);
    if (lane == 0) x[c + c * ld] = numbers::from_real<T>(root);
  }
  __syncthreads();
  return done == w;
}

#endif  // __CUDACC__

}  // namespace sextant_cholesky_levels
