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

// The two words of a verdict on the host, the marks of changed pivots in device space, and room for them on the host.
struct Told {
  const std::uint64_t *verdict;
  const std::uint8_t *marks;
  std::uint8_t *changed;
};

// Fills what args tells of set `set` after its factorisation has ended. Waits where a pivot or marks are to be fetched.
template <class T>
void tell_outcome(const sxt_symbolic &s, const sxt_cholesky_args &args, const sxt_exec *exec, std::int64_t set,
                  const Told &told) {
  namespace cuda = sextant::plugin::cuda;
  const std::uint64_t failed = told.verdict[0], bad = told.verdict[1];
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
  cuda::fetch(exec, told.changed, told.marks, static_cast<std::uint64_t>(s.n), "marks of changed pivots");
  std::int64_t count = 0;
  for (std::int64_t j = 0; j < s.n; ++j) {
    if (!told.changed[j]) continue;
    if (args.pivots && count < args.pivots_capacity) args.pivots[set * args.pivots_capacity + count] = j;
    ++count;
  }
  args.changed[set] = count;
}

#ifdef __CUDACC__

template <class T>
__device__ bool is_finite(T x) {
  if constexpr (sextant::plugin::cuda::complex_valued<T>)
    return x.re - x.re == 0 && x.im - x.im == 0;
  else
    return x - x == 0;
}

// factor[to[k]] = values[from[k]], its conjugate for k >= straight.
template <class T, class A>
__global__ void scatter_values(Tables s, const std::int64_t *from, const std::int64_t *to, std::int64_t count,
                               std::int64_t straight, const A *values, T *l, Verdict *verdict) {
  const std::int64_t k = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x;
  if (k >= count) return;
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

// x = P b or, without a permutation, x = b.
template <class T>
__global__ void take_columns(std::int64_t n, const std::int32_t *perm, const T *b, std::int64_t ldb, T *x) {
  const std::int64_t k = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x;
  if (k < n) x[k + blockIdx.y * n] = b[(perm ? perm[k] : k) + static_cast<std::int64_t>(blockIdx.y) * ldb];
}
template <class T>
__global__ void give_columns(std::int64_t n, const std::int32_t *perm, const T *x, T *b, std::int64_t ldb) {
  const std::int64_t k = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x;
  if (k < n) b[(perm ? perm[k] : k) + static_cast<std::int64_t>(blockIdx.y) * ldb] = x[k + blockIdx.y * n];
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

#endif  // __CUDACC__

}  // namespace sextant_cholesky
