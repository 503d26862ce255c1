// SPDX-License-Identifier: BSD-3-Clause
// What the CUDA schedulers share: A's values into the factor, right-hand sides in and out of the order of elimination,
// pivots, and what a factorisation tells. Include from .cu files.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "plugins/cholesky/shared/tables.hpp"
#include "sextant/sdk/cholesky.hpp"
#include "sextant/sdk/cuda/dense_panel.hpp"
#include "sextant/sdk/cuda/memory.hpp"

namespace sextant_cholesky {

inline unsigned blocks_of(std::int64_t work, int threads) {
  return static_cast<unsigned>((work + threads - 1) / threads);
}

// What a factorisation of one set tells: in device space, all bits set before it.
struct Verdict {
  sextant_dense::device::Word failed, bad;  // the smallest column whose pivot failed; that holds a value not finite
};
static_assert(sizeof(Verdict) == 2 * sizeof(std::uint64_t), "a verdict is fetched as two words");

// The single precision of a type.
template <class T>
struct HalfOf {
  using type = float;
};
template <class R>
struct HalfOf<sextant::plugin::cuda::Complex<R>> {
  using type = sextant::plugin::cuda::Complex<float>;
};

// Where factorisations of several sets tell: verdicts, and n marks of changed pivots for each, in device space; room on
// the host for two words a verdict, and for the marks of one set.
struct Told {
  const Verdict *verdicts;
  const std::uint8_t *marks;
  std::uint64_t *words;
  std::uint8_t *changed;
};

// Fills what args tells of set `set`, whose verdict and marks stand at `place`. Waits where a pivot or marks are to be
// fetched.
template <class T>
void tell_outcome(const sxt_symbolic &s, const sxt_cholesky_args &args, const sxt_exec *exec, std::int64_t set,
                  std::int64_t place, const Told &told) {
  namespace cuda = sextant::plugin::cuda;
  const std::uint64_t failed = told.words[2 * place], bad = told.words[2 * place + 1];
  args.failed_column[set] = -1, args.failed_pivot[set] = 0, args.changed[set] = 0;
  if (bad != sextant_dense::device::no_column) {
    args.failed_column[set] = static_cast<std::int64_t>(bad);
    args.failed_pivot[set] = std::numeric_limits<double>::quiet_NaN();
  } else if (failed != sextant_dense::device::no_column) {
    const auto j = static_cast<std::int64_t>(failed);
    const std::int64_t p = std::upper_bound(s.super_ptr, s.super_ptr + s.n_super + 1, j) - s.super_ptr - 1,
                       at = s.value_ptr[p] + (j - s.super_ptr[p]) * (s.row_ptr[p + 1] - s.row_ptr[p] + 1);
    const T *const l = set_of<T>(static_cast<const void *>(args.factor), args.stride_factor, set);
    cuda::Real<T> pivot{};
    cuda::fetch(exec, &pivot, reinterpret_cast<const cuda::Real<T> *>(l + at), 1, "a pivot");
    args.failed_column[set] = j, args.failed_pivot[set] = static_cast<double>(pivot);
  }
  if (args.pivot_policy == SXT_PIVOT_POLICY_FAIL) return;
  cuda::fetch(exec, told.changed, told.marks + place * s.n, static_cast<std::uint64_t>(s.n), "marks of changed pivots");
  std::int64_t count = 0;
  for (std::int64_t j = 0; j < s.n; ++j) {
    if (!told.changed[j]) continue;
    if (args.pivots && count < args.pivots_capacity) args.pivots[set * args.pivots_capacity + count] = j;
    ++count;
  }
  args.changed[set] = count;
}

// Waits for the factorisations of sets first .. first + count - 1, whose verdicts stand at 0 .. count - 1.
template <class T>
void tell_outcomes(const sxt_symbolic &s, const sxt_cholesky_args &args, const sxt_exec *exec, std::int64_t first,
                   std::int64_t count, const Told &told) {
  sextant::plugin::cuda::fetch(exec, told.words, reinterpret_cast<const std::uint64_t *>(told.verdicts),
                               static_cast<std::uint64_t>(2 * count), "verdicts");
  for (std::int64_t place = 0; place < count; ++place) tell_outcome<T>(s, args, exec, first + place, place, told);
}

// Calls f(Tag<T>{}). What was enqueued before a failure still works in the session's memory: that is waited for.
template <class F>
sxt_status run_to_the_end(const sxt_cholesky_args &args, const sxt_exec *exec, F &&f) {
  namespace cuda = sextant::plugin::cuda;
  const sxt_status status = cuda::guarded(exec, [&] { return cuda::with_number(args.value_type, f); });
  if (status != SXT_OK && status != SXT_NOT_CONVERGED) exec->host->synchronize(exec->host, exec);
  return status;
}

// Calls solve(set, sets, first, columns) for all right-hand sides of all sets, so many at a time; false: cancelled.
template <class F>
sxt_status solve_groups(const sxt_cholesky_args &args, std::int64_t sets, std::int64_t columns, F &&solve) {
  for (std::int64_t set = 0; set < args.n_sets; set += sets)
    for (std::int64_t first = 0; first < args.n_rhs; first += columns)
      if (!solve(set, std::min(sets, args.n_sets - set), first, std::min(columns, args.n_rhs - first)))
        return SXT_NOT_CONVERGED;
  return SXT_OK;
}

#ifdef __CUDACC__

template <class T>
__device__ bool is_finite(T x) {
  if constexpr (sextant::plugin::cuda::complex_valued<T>)
    return x.re - x.re == 0 && x.im - x.im == 0;
  else
    return x - x == 0;
}

// factor[to[k]] = values[from[k]], its conjugate for k >= straight; a row of blocks of threads for each set.
template <class T, class A>
__global__ void scatter_values(Tables s, const std::int64_t *from, const std::int64_t *to, std::int64_t count,
                               std::int64_t straight, const A *values, std::int64_t stride_values, T *l,
                               std::int64_t stride_l, Verdict *verdict) {
  const std::int64_t k = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x;
  if (k >= count) return;
  values += blockIdx.y * stride_values, l += blockIdx.y * stride_l, verdict += blockIdx.y;
  T value = sextant::plugin::cuda::convert<T>(values[from[k]]);
  if (k >= straight) value = sextant::plugin::cuda::conjugated(value);
  l[to[k]] = value;
  if (is_finite(value)) return;
  std::int64_t first = 0, left = s.n_super;  // the last supernode that begins at or before it
  while (left > 1) {
    const std::int64_t half = left / 2;
    if (s.value_ptr[first + half] <= to[k])
      first += half, left -= half;
    else
      left = half;
  }
  const std::int64_t rows = s.row_ptr[first + 1] - s.row_ptr[first];
  atomicMin(&verdict->bad,
            static_cast<sextant_dense::device::Word>(s.super_ptr[first] + (to[k] - s.value_ptr[first]) / rows));
}

// x = P b or, without a permutation, x = b; number (k, c) of x stands at k row + c column.
template <class T>
__global__ void take_columns(std::int64_t n, const std::int32_t *perm, const T *b, std::int64_t ldb, T *x,
                             std::int64_t row, std::int64_t column) {
  const std::int64_t k = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x, c = blockIdx.y;
  if (k < n) x[k * row + c * column] = b[(perm ? perm[k] : k) + c * ldb];
}
template <class T>
__global__ void give_columns(std::int64_t n, const std::int32_t *perm, const T *x, std::int64_t row,
                             std::int64_t column, T *b, std::int64_t ldb) {
  const std::int64_t k = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x, c = blockIdx.y;
  if (k < n) b[(perm ? perm[k] : k) + c * ldb] = x[k * row + c * column];
}

// x = D^-1 x, D on the diagonal of L; rows of a Schur complement stay as they are.
template <class T>
__global__ void divide_by_pivots(Tables s, const T *l, T *x, std::int64_t ldx) {
  const std::int64_t k = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x;
  if (k >= s.n_factored) return;
  T &number = x[k + blockIdx.y * ldx];  // a reciprocal of D may leave the range where the quotient does not
  number = sextant::plugin::cuda::dense::divided(number, sextant::plugin::cuda::dense::real_of(l[s.diagonal(k)]));
}

// The pivots of one set; 0 at columns that are not factored.
template <class T>
__global__ void tell_pivots_of(Tables s, const T *l, bool definite, sextant::plugin::cuda::Real<T> *out) {
  using Real = sextant::plugin::cuda::Real<T>;
  const std::int64_t k = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x;
  if (k >= s.n) return;
  const Real d = sextant::plugin::cuda::dense::real_of(l[s.diagonal(k)]);
  out[k] = k >= s.n_factored ? Real(0) : definite ? d * d : d;
}

// The pivots of all sets.
inline sxt_status run_pivots(const Tables &tables, const sxt_cholesky_args &args, const sxt_exec *exec) {
  namespace cuda = sextant::plugin::cuda;
  if (tables.n == 0) return SXT_OK;
  return cuda::guarded(exec, [&] {
    return cuda::with_number(args.value_type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      constexpr int threads = 256;
      for (std::int64_t set = 0; set < args.n_sets; ++set) {
        tell_pivots_of<<<blocks_of(tables.n, threads), threads, 0, cuda::stream_of(*exec)>>>(
            tables, set_of<T>(static_cast<const void *>(args.factor), args.stride_factor, set),
            args.factors == SXT_FACTORS_LLH, set_of<cuda::Real<T>>(args.b, args.stride_b, set));
        cuda::need_launch("pivots");
      }
      return SXT_OK;
    });
  });
}

#endif  // __CUDACC__

}  // namespace sextant_cholesky
