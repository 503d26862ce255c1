// SPDX-License-Identifier: BSD-3-Clause
// One Hermitian Toeplitz system by a thread block: detection, Durbin's recursion, the formula of Gohberg and Semencul,
// residuals and refinement. All vectors lie in shared memory, in double precision for sets of every type.
#pragma once

#include "sextant/plugin/kinds/hermitian_toeplitz.h"
#include "sextant/sdk/cuda/dense.hpp"

namespace sextant::hermitian_toeplitz {

namespace dense = sextant::plugin::cuda::dense;
using dense::Real;
using dense::Set;

constexpr int vectors = 6, most_warps = 16, most_refinements = 2;

// The type in double precision.
template <class T>
struct WideOf {
  using type = double;
};
template <class R>
struct WideOf<dense::Complex<R>> {
  using type = dense::Complex<double>;
};
template <class T>
using Wide = typename WideOf<T>::type;

template <class T>
constexpr std::size_t shared_bytes(std::int64_t n_max) {
  return (static_cast<std::size_t>(n_max) * vectors + 1 + 2 * most_warps) * sizeof(Wide<T>);
}

#ifdef __CUDACC__

template <class T>
SXT_DENSE Wide<T> widened(T v) {
  if constexpr (dense::complex_valued<T>)
    return {static_cast<double>(v.re), static_cast<double>(v.im)};
  else
    return static_cast<double>(v);
}
template <class T>
SXT_DENSE T narrowed(Wide<T> v) {
  if constexpr (dense::complex_valued<T>)
    return {static_cast<Real<T>>(v.re), static_cast<Real<T>>(v.im)};
  else
    return static_cast<T>(v);
}
template <class W>
SXT_DENSE bool equal(W a, W b) {
  if constexpr (dense::complex_valued<W>)
    return a.re == b.re && a.im == b.im;
  else
    return a == b;
}
template <class W>
SXT_DENSE double length(W v) {
  if constexpr (dense::complex_valued<W>)
    return hypot(v.re, v.im);
  else
    return fabs(v);
}

// A block at work on one system after the other.
template <class T>
class Solver {
 public:
  using W = Wide<T>;

  // kept: where this block keeps solutions until all right-hand sides are solved; not used for a single one.
  __device__ Solver(char *shared, std::int64_t n_max, W *kept) : kept_(kept) {
    W *at = reinterpret_cast<W *>(shared);
    sums_ = at, at += 2 * most_warps;
    t_ = at, at += n_max;
    f_ = at, at += n_max;
    x_ = at, at += n_max;
    y_ = at, at += n_max;
    r_ = at, at += n_max;
    g_ = at;  // one place more
  }

  // The info of a system that takes part.
  __device__ std::int32_t solve(const dense::System<T> &system, std::int64_t lda, bool upper, bool definite) {
    n_ = system.n;
    if (!read(system.a, lda, upper)) return SXT_HERMITIAN_NOT_TOEPLITZ;
    if (!recur(definite)) return SXT_HERMITIAN_NOT_ACCURATE;
    const double norm = row_sum();
    for (int k = 0; k < system.n_rhs; ++k) {
      if (!solve_one(system.b + k * system.ldb, norm)) return SXT_HERMITIAN_NOT_ACCURATE;
      if (system.n_rhs == 1) break;
      for (int i = threadIdx.x; i < n_; i += blockDim.x) kept_[static_cast<std::int64_t>(k) * n_ + i] = x_[i];
    }
    for (int k = 0; k < system.n_rhs; ++k)  // all are accepted: only now b may change
      for (int i = threadIdx.x; i < n_; i += blockDim.x)
        system.b[i + k * system.ldb] =
            narrowed<T>(system.n_rhs == 1 ? x_[i] : kept_[static_cast<std::int64_t>(k) * n_ + i]);
    return 0;
  }

 private:
  // ---- sums over the block, in one order

  __device__ W total(W value) {
    for (int by = 16; by > 0; by /= 2) value = dense::sum(value, dense::from_lane_xor(0xffffffffu, value, by));
    W *const place = sums_ + parity_ * most_warps;  // two places in turn save a barrier
    parity_ ^= 1;
    if (threadIdx.x % 32 == 0) place[threadIdx.x / 32] = value;
    __syncthreads();
    value = place[0];
    for (unsigned w = 1; w < blockDim.x / 32; ++w) value = dense::sum(value, place[w]);
    return value;
  }
  __device__ double largest(double value) {
    for (int by = 16; by > 0; by /= 2) value = fmax(value, __shfl_xor_sync(0xffffffffu, value, by));
    double *const place = reinterpret_cast<double *>(sums_ + parity_ * most_warps);
    parity_ ^= 1;
    if (threadIdx.x % 32 == 0) place[threadIdx.x / 32] = value;
    __syncthreads();
    value = place[0];
    for (unsigned w = 1; w < blockDim.x / 32; ++w) value = fmax(value, place[w]);
    __syncthreads();
    return value;
  }
  template <class F>
  __device__ double most(F &&f) {
    double value = 0;
    for (int i = threadIdx.x; i < n_; i += blockDim.x) value = fmax(value, f(i));
    return largest(value);
  }

  // ---- detection

  // The first column to t; false when the numbers of some diagonal are not equal. The first (lower) or last (upper)
  // column holds the numbers of every other one in the same order. A warp takes a column.
  __device__ bool read(const T *a, std::int64_t lda, bool upper) {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, warps = blockDim.x / 32;
    const T *last = a + (n_ - 1) * lda;
    for (int k = threadIdx.x; k < n_; k += blockDim.x) {
      const W value = widened(upper ? dense::conjugate(last[n_ - 1 - k]) : a[k]);
      t_[k] = k == 0 ? dense::from_real<W>(dense::real_of(value)) : value;
    }
    __syncthreads();
    constexpr int columns_between_votes = 4;
    for (int first = 0; first < n_; first += columns_between_votes * warps) {
      bool same = true;
#pragma unroll
      for (int turn = 0; turn < columns_between_votes; ++turn) {
        const int j = first + turn * warps + warp;
        if (j < n_) same = same && column_fits(a + j * lda, j, upper, lane);
      }
      if (__syncthreads_or(!same)) return false;
    }
    return true;
  }
  __device__ bool column_fits(const T *column, int j, bool upper, int lane) const {
    bool same = true;
    const int count = upper ? j + 1 : n_ - j;
#pragma unroll 4
    for (int k = lane; k < count; k += 32) {  // k places from the diagonal
      const W value = widened(upper ? dense::conjugate(column[j - k]) : column[j + k]);
      same = same && (k == 0 ? dense::real_of(value) == dense::real_of(t_[0]) : equal(value, t_[k]));
    }
    return same;
  }

  // ---- the recursion: as on the CPU (plugins/hermitian/toeplitz/cpu)

  __device__ bool recur(bool definite) {
    constexpr double least = 1e-13;  // of a pivot against the diagonal
    const W one = dense::from_real<W>(1), zero = dense::from_real<W>(0);
    if (threadIdx.x == 0) f_[0] = one, g_[n_] = one;
    __syncthreads();
    e_ = dense::real_of(t_[0]);
    const double diagonal = fabs(e_);
    for (int m = 1;; ++m) {
      if (!(fabs(e_) > least * diagonal) || !(fabs(e_) <= 1.7976931348623157e308) || (definite && e_ < 0)) return false;
      if (m == n_) break;
      W part = zero;
      for (int j = threadIdx.x; j < m; j += blockDim.x) part = dense::plus_product(part, t_[m - j], f_[j]);
      const W k = dense::scaled(total(part), -1 / e_);
      W *const g = g_ + (n_ - m);
      for (int j = threadIdx.x; j <= m; j += blockDim.x) {
        const W f_old = j < m ? f_[j] : zero, g_old = j > 0 ? g[j] : zero;
        f_[j] = dense::plus_product(f_old, k, g_old);
        g[j] = dense::plus_product(g_old, dense::conjugate(k), f_old);
      }
      e_ *= 1 - dense::squared_size(k);
      __syncthreads();
    }
    if (threadIdx.x == 0) g_[0] = zero;
    __syncthreads();
    return true;
  }

  // Of the middle or the first row of |T|, the larger: no more than its norm, so that errors are not underrated.
  __device__ double row_sum() {
    const int middle = n_ / 2;
    W parts = dense::from_real<W>(0), first = parts;
    for (int k = threadIdx.x; k < n_; k += blockDim.x) {
      const double size = length(t_[k]);
      const int times = (k <= middle) + (k > 0 && k <= n_ - 1 - middle);
      parts = dense::sum(parts, dense::from_real<W>(times * size));
      first = dense::sum(first, dense::from_real<W>(size));
    }
    const double of_middle = dense::real_of(total(parts)), of_first = dense::real_of(total(first));
    __syncthreads();
    return fmax(of_middle, of_first);
  }

  // ---- right-hand sides

  // x += sign L(v) L(v)^H r, L(v) the lower triangular Toeplitz matrix of v.
  __device__ void add_product(const W *v, double sign) {
    for (int i = threadIdx.x; i < n_; i += blockDim.x) {
      W sum = dense::from_real<W>(0);
      for (int k = i; k < n_; ++k) sum = dense::plus_product(sum, dense::conjugate(v[k - i]), r_[k]);
      y_[i] = dense::scaled(sum, sign);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < n_; i += blockDim.x) {
      W sum = x_[i];
      for (int k = 0; k <= i; ++k) sum = dense::plus_product(sum, v[i - k], y_[k]);
      x_[i] = sum;
    }
    __syncthreads();
  }

  // One right-hand side: x; false when its backward error stays too large.
  __device__ bool solve_one(const T *b, double norm) {
    constexpr double epsilon = sizeof(Real<T>) == 8 ? 2.220446049250313e-16 : 1.1920928955078125e-07;
    constexpr double tolerance = SXT_TOEPLITZ_TOLERANCE / 2.0 * epsilon;  // half of the kind's tolerance
    for (int i = threadIdx.x; i < n_; i += blockDim.x) r_[i] = widened(b[i]), x_[i] = dense::from_real<W>(0);
    __syncthreads();
    const double b_most = most([&](int i) { return length(r_[i]); });
    for (int taken = 0;; ++taken) {
      add_product(f_, 1 / e_);
      add_product(g_, -1 / e_);
      for (int i = threadIdx.x; i < n_; i += blockDim.x) x_[i] = widened(narrowed<T>(x_[i]));
      __syncthreads();
      bool good = true;  // NaN and infinity do not pass for small
      for (int i = threadIdx.x; i < n_; i += blockDim.x) {
        W sum = widened(b[i]);
        for (int k = 0; k <= i; ++k) sum = dense::minus_product(sum, t_[i - k], x_[k]);
        for (int k = i + 1; k < n_; ++k) sum = dense::minus_product(sum, dense::conjugate(t_[k - i]), x_[k]);
        r_[i] = sum;
        good = good && length(sum) <= 1.7976931348623157e308;
      }
      if (__syncthreads_or(!good)) return false;
      const double x_most = most([&](int i) { return length(x_[i]); });
      const double r_most = most([&](int i) { return length(r_[i]); });
      if (r_most <= tolerance * (norm * x_most + b_most)) return true;
      if (taken == most_refinements) return false;
    }
  }

  int n_ = 0, parity_ = 0;
  double e_ = 0;
  W *sums_, *t_, *f_, *g_, *x_, *y_, *r_, *kept_;
};

template <class T>
__global__ void toeplitz_systems(Set set, bool definite, Wide<T> *kept) {
  extern __shared__ __align__(16) char shared[];
  Solver<T> solver(shared, set.n_max, kept + static_cast<std::int64_t>(blockIdx.x) * set.n_max * set.n_rhs);
  for (std::int64_t s = blockIdx.x; s < set.batch; s += gridDim.x) {
    std::int64_t lda;
    const dense::System<T> system = dense::stored_system<T>(set, s, lda);
    if (!dense::takes_part(set, s, SXT_HERMITIAN_FACTOR_SOLVE, system, threadIdx.x == 0)) continue;
    const std::int32_t info = solver.solve(system, lda, set.upper, definite);
    if (threadIdx.x == 0) set.info[s] = info;
    __syncthreads();  // the next system uses the same memory
  }
}

#endif  // __CUDACC__

}  // namespace sextant::hermitian_toeplitz
