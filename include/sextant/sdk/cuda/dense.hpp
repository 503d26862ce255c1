// SPDX-License-Identifier: BSD-3-Clause
// Device code shared by kernels for sets of dense Hermitian systems (plugin/kinds/hermitian.h): arithmetic with fused
// multiply-adds, where each system of a set stands, and both triangles seen as the lower one. Include from .cu files.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sextant/plugin/kinds/hermitian.h"
#include "sextant/sdk/cuda/exec.hpp"
#include "sextant/sdk/cuda/numbers.hpp"

namespace sextant::plugin::cuda::dense {

// ---- numbers

using cuda::Complex, cuda::Real, cuda::complex_valued, cuda::with_number, cuda::load_with_shared;

#ifdef __CUDACC__
#define SXT_DENSE __device__ __forceinline__
#define SXT_DENSE_BOTH __host__ __device__

template <class T>
SXT_DENSE T from_real(Real<T> re) {
  if constexpr (complex_valued<T>)
    return {re, 0};
  else
    return re;
}
template <class T>
SXT_DENSE Real<T> real_of(T a) {
  if constexpr (complex_valued<T>)
    return a.re;
  else
    return a;
}
template <class T>
SXT_DENSE T conjugate(T a) {
  if constexpr (complex_valued<T>)
    return {a.re, -a.im};
  else
    return a;
}
template <class T>
SXT_DENSE T scaled(T a, Real<T> s) {
  if constexpr (complex_valued<T>)
    return {a.re * s, a.im * s};
  else
    return a * s;
}
template <class T>
SXT_DENSE T divided(T a, Real<T> s) {
  if constexpr (complex_valued<T>)
    return {a.re / s, a.im / s};
  else
    return a / s;
}
template <class T>
SXT_DENSE T sum(T a, T b) {
  if constexpr (complex_valued<T>)
    return {a.re + b.re, a.im + b.im};
  else
    return a + b;
}
template <class T>
SXT_DENSE T difference(T a, T b) {
  if constexpr (complex_valued<T>)
    return {a.re - b.re, a.im - b.im};
  else
    return a - b;
}
// c + a b, in four (real: one) fused multiply-adds.
template <class T>
SXT_DENSE T plus_product(T c, T a, T b) {
  if constexpr (complex_valued<T>)
    return {fma(-a.im, b.im, fma(a.re, b.re, c.re)), fma(a.im, b.re, fma(a.re, b.im, c.im))};
  else
    return fma(a, b, c);
}
template <class T>
SXT_DENSE T minus_product(T c, T a, T b) {
  if constexpr (complex_valued<T>)
    return {fma(a.im, b.im, fma(-a.re, b.re, c.re)), fma(-a.im, b.re, fma(-a.re, b.im, c.im))};
  else
    return fma(-a, b, c);
}
template <class T>
SXT_DENSE T product(T a, T b) {
  if constexpr (complex_valued<T>)
    return {fma(-a.im, b.im, a.re * b.re), fma(a.im, b.re, a.re * b.im)};
  else
    return a * b;
}
// |re| + |im|, the size by which LAPACK compares pivots.
template <class T>
SXT_DENSE Real<T> size_of(T a) {
  if constexpr (complex_valued<T>)
    return fabs(a.re) + fabs(a.im);
  else
    return fabs(a);
}
template <class T>
SXT_DENSE Real<T> squared_size(T a) {
  if constexpr (complex_valued<T>)
    return fma(a.im, a.im, a.re * a.re);
  else
    return a * a;
}
// a from another lane of the warp.
template <class T>
SXT_DENSE T from_lane(unsigned mask, T a, int lane) {
  if constexpr (complex_valued<T>)
    return {__shfl_sync(mask, a.re, lane), __shfl_sync(mask, a.im, lane)};
  else
    return __shfl_sync(mask, a, lane);
}
template <class T>
SXT_DENSE T from_lane_xor(unsigned mask, T a, int bits) {
  if constexpr (complex_valued<T>)
    return {__shfl_xor_sync(mask, a.re, bits), __shfl_xor_sync(mask, a.im, bits)};
  else
    return __shfl_xor_sync(mask, a, bits);
}

// The code for info from a pivot of a definite factorisation: 0, or an error (column counts from 0).
template <class R>
SXT_DENSE std::int32_t judge_pivot(R pivot, int column) {
  if (pivot > 0 && pivot <= static_cast<R>(sizeof(R) == 8 ? 1.7976931348623157e308 : 3.402823466e38)) return 0;
  return pivot <= 0 && pivot >= -static_cast<R>(sizeof(R) == 8 ? 1.7976931348623157e308 : 3.402823466e38)
             ? column + 1
             : SXT_HERMITIAN_NOT_FINITE;
}
// The same for a pivot that reciprocal() inverts: at the ends of its type's range the quotient would be zero, infinite
// or NaN, and the factor wrong without notice.
template <class R>
SXT_DENSE std::int32_t judge_quick_pivot(R pivot, int column) {
  constexpr R most = static_cast<R>(sizeof(R) == 8 ? 0x1p1021 : 0x1p125), least = 1 / most;
  if (pivot >= least && pivot <= most) return 0;
  const std::int32_t code = judge_pivot(pivot, column);
  return code ? code : SXT_HERMITIAN_NOT_FINITE;
}
#else
#define SXT_DENSE_BOTH
#endif  // __CUDACC__

// ---- sets of systems

// The part of sxt_hermitian_args that device code reads, by value in a launch.
struct Set {
  void *a;
  void *const *a_array;
  std::int64_t lda, stride_a;
  void *b;
  void *const *b_array;
  std::int64_t ldb, stride_b;
  const std::int64_t *lda_each, *ldb_each;
  const std::int32_t *orders;
  const std::uint8_t *active;
  std::int32_t *info, *pivots;
  std::int64_t stride_pivots, batch;
  std::int32_t n_max, n_rhs;
  bool upper;
};

inline Set set_of(const sxt_hermitian_args &args) {
  const bool solves = args.phase != SXT_HERMITIAN_FACTOR;
  return {args.a,
          args.a_array,
          args.lda,
          args.stride_a,
          solves ? args.b : nullptr,
          solves ? args.b_array : nullptr,
          args.ldb,
          args.stride_b,
          args.lda_each,
          args.ldb_each,
          args.orders ? args.orders_device : nullptr,
          args.active,
          args.info,
          args.pivots,
          args.stride_pivots,
          args.batch,
          static_cast<std::int32_t>(args.n_max),
          solves ? static_cast<std::int32_t>(args.n_rhs) : 0,
          args.triangle == SXT_UPPER};
}

#ifdef __CUDACC__

// One system, its triangle seen as the lower one: element (r, c), r >= c, is a[r * row + c * column].
template <class T>
struct System {
  T *a, *b;
  std::int64_t row, column, ldb;
  int n, n_rhs;
  int b_row;          // 1, or -1 where rows are counted from the end
  bool conjugate_b;   // what is factored is conj(A): right-hand sides come and go as their conjugates
  std::int32_t code;  // info of a system that must be left alone; 0: go on

  SXT_DENSE T *at(int r, int c) const { return a + r * row + c * column; }
  SXT_DENSE T right(int r, int k) const {
    const T value = b[static_cast<std::int64_t>(r) * b_row + k * ldb];
    return conjugate_b ? conjugate(value) : value;
  }
  SXT_DENSE void put_right(int r, int k, T value) const {
    b[static_cast<std::int64_t>(r) * b_row + k * ldb] = conjugate_b ? conjugate(value) : value;
  }
};

// Why a system must be left alone: a mask, no memory, a leading dimension that is too small.
template <class T>
SXT_DENSE std::int32_t reason_to_leave(const System<T> &system, std::int64_t lda, bool active) {
  if (!active) return SXT_HERMITIAN_NOT_ACTIVE;
  if (system.n == 0) return 0;
  const auto bad = [](const void *p) { return !p || reinterpret_cast<std::uintptr_t>(p) % sizeof(T) != 0; };
  if (bad(system.a) || (system.n_rhs > 0 && bad(system.b))) return SXT_HERMITIAN_NO_MEMORY_AT;
  if (lda < system.n || (system.n_rhs > 0 && system.ldb < system.n)) return SXT_HERMITIAN_SHORT_LD;
  return 0;
}

// System i. Only the code of an inactive system may be looked at.
template <class T>
SXT_DENSE System<T> stored_system(const Set &set, std::int64_t i, std::int64_t &lda) {
  System<T> system{};
  system.n = set.orders ? set.orders[i] : set.n_max;
  system.n_rhs = set.n_rhs;
  lda = set.lda_each ? set.lda_each[i] : set.lda;
  system.ldb = set.ldb_each ? set.ldb_each[i] : set.ldb;
  system.a = static_cast<T *>(set.a_array ? set.a_array[i] : set.a) + (set.a_array ? 0 : i * set.stride_a);
  if (set.n_rhs > 0)
    system.b = static_cast<T *>(set.b_array ? set.b_array[i] : set.b) + (set.b_array ? 0 : i * set.stride_b);
  system.b_row = 1;
  system.code = reason_to_leave(system, lda, !set.active || set.active[i]);
  return system;
}

// For Cholesky: A = U^H U is conj(A) = L L^H with L = U^T, so the upper triangle read with its strides exchanged is the
// lower triangle of conj(A), and what is written there is U.
template <class T>
SXT_DENSE System<T> definite_system(const Set &set, std::int64_t i) {
  std::int64_t lda;
  System<T> system = stored_system<T>(set, i, lda);
  system.row = set.upper ? lda : 1;
  system.column = set.upper ? 1 : lda;
  system.conjugate_b = set.upper && complex_valued<T>;
  return system;
}

// For L D L^H: LAPACK's U D U^H eliminates from the last row; with rows and columns counted from the end it is the same
// elimination on a lower triangle.
template <class T>
SXT_DENSE System<T> indefinite_system(const Set &set, std::int64_t i) {
  std::int64_t lda;
  System<T> system = stored_system<T>(set, i, lda);
  system.row = set.upper ? -1 : 1;
  system.column = set.upper ? -lda : lda;
  system.b_row = set.upper ? -1 : 1;
  if (set.upper && system.n > 0 && system.code == 0) {
    system.a += static_cast<std::int64_t>(system.n - 1) * (lda + 1);
    if (system.b) system.b += system.n - 1;
  }
  return system;
}

// Whether system i is to be worked on. `writes`: this thread states in info why not. A solve skips systems whose factor
// failed and leaves their info.
template <class T>
SXT_DENSE bool takes_part(const Set &set, std::int64_t i, std::int32_t phase, const System<T> &system, bool writes) {
  const bool factors = (phase & SXT_HERMITIAN_FACTOR) != 0;
  if (!factors && (system.code == SXT_HERMITIAN_NOT_ACTIVE || set.info[i] != 0)) return false;
  const bool wanted = system.code == 0 && system.n > 0;
  if (!wanted && writes && (factors || system.code != 0)) set.info[i] = system.code;
  return wanted;
}

#endif  // __CUDACC__

}  // namespace sextant::plugin::cuda::dense
