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

// Sets 0 .. sets - 1 of values; a launch has a row of blocks of threads for each that may come.
template <class T>
struct Call {
  T *l;
  std::int64_t stride_l;
  PivotRule rule;
  std::uint8_t *marks;  // n a set; NULL: no pivot may be changed
  std::int64_t n;
  Verdict *verdict;
  std::int64_t sets;
};

template <class T>
struct Numbers {
  const Front *fronts;
  const std::int32_t *place;
  const Child *children;
  const Call<T> *call;
  T *updates[2];
  std::int64_t update_values[2];  // of a set
#ifdef __CUDACC__
  template <class F>
  __device__ T *update(const F &of) const {  // a Front or a Child
    return (of.buffer ? updates[1] + blockIdx.y * update_values[1] : updates[0] + blockIdx.y * update_values[0]) +
           of.update_at;
  }
#endif
};

#ifdef __CUDACC__

template <class T>
__device__ T *dynamic_memory() {
  extern __shared__ __align__(16) unsigned char levels_memory[];
  return reinterpret_cast<T *>(levels_memory);
}

// The call of this block's set; l is NULL where the call has fewer.
template <class T>
__device__ Call<T> call_here(const Numbers<T> &v) {
  Call<T> call = *v.call;
  const std::int64_t set = blockIdx.y;
  call.l = set < call.sets ? call.l + set * call.stride_l : nullptr;
  if (call.marks) call.marks += set * call.n;
  call.verdict += set;
  return call;
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

constexpr int group_columns = 16;  // of a row, that a thread holds in registers

// Two neighbours of a column, read at once.
template <class T>
struct alignas(2 * sizeof(T) < 16 ? 2 * sizeof(T) : 16) Two {
  T of[2];
};

// What becomes of a pivot, and its reciprocal; 0 where it failed or is none.
template <class T>
struct Judged {
  Real<T> pivot, inverse;
  bool failed;
};
// 1 / x for a pivot, which is no subnormal number and far from the ends of its type's range, or else the plain
// quotient.
__device__ __forceinline__ double reciprocal(double x) {
  const double size = fabs(x);
  if (!(size > 0x1p-1000 && size < 0x1p1000)) return 1 / x;
  double y;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
  y = fma(y, fma(-x, y, 1.0), y);
  y = fma(y, fma(-x, y, 1.0), y);
  return fma(y, fma(-x, y, 1.0), y);
}
__device__ __forceinline__ float reciprocal(float x) { return 1 / x; }

template <class T>
__device__ Judged<T> judged(const Call<T> &call, Real<T> pivot, int column, bool speaks) {
  const Pivot verdict = judge(call.rule, pivot);
  if (speaks && verdict != Pivot::good) note_pivot(call, verdict, column);
  const bool failed = verdict == Pivot::failed;
  return {pivot, failed ? 0 : reciprocal(pivot), failed};
}

// A panel in shared memory, x[r + c ld], ld even: rows 0 .. w-1 are a triangle, the others lie below it. Numbers that
// are not there are zeros up to a multiple of 16 rows and columns.
template <class T>
struct PanelOf {
  T *x;
  int ld, w;
  Real<T> *pivots, *inverses;  // room for w numbers
  int first_column;
  bool speaks;  // this block tells of pivots that failed or were changed
};

// Columns c0 .. c0 + 15 of a thread's row lose what the columns before them give.
template <class T>
__device__ void take_off_columns(const PanelOf<T> &p, int row, int c0, T (&mine)[group_columns]) {
#pragma unroll 4
  for (int k = 0; k < c0; ++k) {
    const T factor = numbers::scaled(p.x[row + k * p.ld], p.inverses[k]);
    const auto *const column = reinterpret_cast<const Two<T> *>(p.x + c0 + k * p.ld);
#pragma unroll
    for (int c = 0; c < group_columns; c += 2) {
      if (c0 + c >= p.w) break;
      const Two<T> two = column[c / 2];
#pragma unroll
      for (int e = 0; e < 2; ++e)
        mine[c + e] = numbers::minus_product(mine[c + e], factor, numbers::conjugate(two.of[e]));
    }
  }
}

// Sixteen columns of all rows, two at a time: their numbers are made known, and after one barrier each thread finds
// both pivots for itself. The column of an odd pivot is made known without what the even one gives, and corrected at
// the end. The column that failed, or -1; in all threads.
template <class T>
__device__ int factor_group(const Call<T> &call, const PanelOf<T> &p, int row, bool there, int c0,
                            T (&mine)[group_columns]) {
  int failed = -1;
#pragma unroll
  for (int j = 0; j < group_columns; j += 2) {
    const int at = c0 + j;
    if (failed >= 0 || at >= p.w) break;  // in all threads
    const bool two = at + 1 < p.w;
    if (there) p.x[row + at * p.ld] = mine[j];
    if (there && two) p.x[row + (at + 1) * p.ld] = mine[j + 1];
    __syncthreads();
    const T *const even = p.x + at * p.ld, *const odd = even + (two ? p.ld : 0);
    const bool speaks = p.speaks && threadIdx.x == 0;
    const Judged<T> first = judged(call, numbers::real_of(even[at]), p.first_column + at, speaks);
    const T cross = numbers::scaled(numbers::conjugate(even[at + 1]), first.inverse);
    Judged<T> second{0, 0, false};
    if (two && !first.failed)
      second = judged(call, numbers::real_of(numbers::minus_product(odd[at + 1], even[at + 1], cross)),
                      p.first_column + at + 1, speaks);
    if (threadIdx.x == 0) {
      p.pivots[at] = first.pivot, p.inverses[at] = first.inverse;
      if (two) p.pivots[at + 1] = second.pivot, p.inverses[at + 1] = second.inverse;
    }
    if (first.failed || second.failed) failed = first.failed ? at : at + 1;
    mine[j + 1] = numbers::minus_product(mine[j + 1], mine[j], cross);
    const T left = numbers::scaled(mine[j], first.inverse), right = numbers::scaled(mine[j + 1], second.inverse);
#pragma unroll
    for (int c = j + 2; c < group_columns; ++c) {
      if (c0 + c >= p.w) break;
      const T of_even = even[c0 + c], of_odd = numbers::minus_product(odd[c0 + c], of_even, cross);
      mine[c] = numbers::minus_product(mine[c], left, numbers::conjugate(of_even));
      mine[c] = numbers::minus_product(mine[c], right, numbers::conjugate(of_odd));
    }
  }
  __syncthreads();
#pragma unroll
  for (int j = 1; j < group_columns; j += 2)
    if (there && c0 + j < p.w) p.x[row + (c0 + j) * p.ld] = mine[j];
  __syncthreads();
  return failed;
}

// A thread a row (there: it has one). The columns that are good: all, or those before one that failed.
template <class T>
__device__ int factor_panel_rows(const Call<T> &call, const PanelOf<T> &p, int row, bool there) {
  int good = p.w;
  for (int c0 = 0; c0 < p.w && good == p.w; c0 += group_columns) {
    T mine[group_columns];
#pragma unroll
    for (int c = 0; c < group_columns; ++c) mine[c] = there && c0 + c < p.w ? p.x[row + (c0 + c) * p.ld] : T{};
    if (there) take_off_columns(p, row, c0, mine);
    const int failed = factor_group(call, p, row, there, c0, mine);
    if (failed >= 0) good = failed;
  }
  for (int c = threadIdx.x; call.rule.definite && c < good; c += blockDim.x) {
    const Real<T> root = sqrt(p.pivots[c]);
    p.inverses[c] *= root, p.pivots[c] = root;
  }
  __syncthreads();
  return good;
}

// Number (r, c) of L, r >= c, on the diagonal of L D L^H that of D, from what factor_panel_rows left; a pivot that
// failed stands as it was found.
template <class T>
__device__ T factor_entry(const PanelOf<T> &p, int good, int r, int c) {
  if (r == c) return numbers::from_real<T>(p.pivots[c]);
  return c < good ? numbers::scaled(p.x[r + c * p.ld], p.inverses[c]) : p.x[r + c * p.ld];
}

#endif  // __CUDACC__

}  // namespace sextant_cholesky_levels
