// SPDX-License-Identifier: BSD-3-Clause
// Eight lanes of double or float for files compiled once an instruction set (sdk/cpu/simd.hpp): loads, gathers of x,
// multiply-adds, and the sums of eight accumulators at once. AVX-512, AVX2 and plain code offer the same functions.
// Included by ISA sources only; it includes no C++ standard header. Lanes<V> computes in V; values may be float below
// double. Column -1 is padding: its lane takes 0 and reads nothing.
#pragma once

#ifndef SXT_ISA
#error "sdk/cpu/lanes.hpp is for ISA_SOURCES"
#endif
#include <stdint.h>
#if defined(SXT_ISA_avx512) || defined(SXT_ISA_avx2)
#include <immintrin.h>
#endif
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // GCC's own intrinsics, whose results begin undefined
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif

#define SXT_INLINE static inline __attribute__((always_inline))

namespace sextant::plugin::SXT_ISA {

// Arrays of this many bytes do not fit the second cache. They are prefetched in software, because hardware prefetch
// stops at the end of a page and gathers of x leave it little room. For smaller arrays the prefetch would only cost
// time. A prefetch beyond the end of an array does not fault.
static constexpr int64_t streamed_bytes = 1 << 20;
template <bool streamed, class T>
SXT_INLINE void prefetch(const T *p) {
  if constexpr (streamed) __builtin_prefetch(p + 192);
}

#if defined(SXT_ISA_avx512)

using Columns = __m256i;  // eight 32-bit columns
using Mask = __mmask8;

template <class V>
struct Lanes;
template <>
struct Lanes<double> {
  __m512d v;
};
template <>
struct Lanes<float> {
  __m256 v;
};

SXT_INLINE Mask first_lanes(int64_t n) { return static_cast<Mask>((1u << n) - 1); }
SXT_INLINE Columns load_columns(const int32_t *p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i *>(p)); }
SXT_INLINE Columns load_columns(const int32_t *p, Mask m) { return _mm256_maskz_loadu_epi32(m, p); }
SXT_INLINE Mask used(Columns c) { return static_cast<Mask>(~_mm256_movepi32_mask(c)); }

SXT_INLINE void set_zero(Lanes<double> &a) { a.v = _mm512_setzero_pd(); }
SXT_INLINE void set_zero(Lanes<float> &a) { a.v = _mm256_setzero_ps(); }

SXT_INLINE __m512d widen(const double *p) { return _mm512_loadu_pd(p); }
SXT_INLINE __m512d widen(const float *p) { return _mm512_cvtps_pd(_mm256_loadu_ps(p)); }
SXT_INLINE __m512d widen(const double *p, Mask m) { return _mm512_maskz_loadu_pd(m, p); }
SXT_INLINE __m512d widen(const float *p, Mask m) { return _mm512_cvtps_pd(_mm256_maskz_loadu_ps(m, p)); }

SXT_INLINE __m512d gather(const double *x, Columns c) { return _mm512_i32gather_pd(c, x, 8); }
SXT_INLINE __m512d gather(const double *x, Columns c, Mask m) {
  return _mm512_mask_i32gather_pd(_mm512_setzero_pd(), m, c, x, 8);
}
SXT_INLINE __m256 gather(const float *x, Columns c) { return _mm256_i32gather_ps(x, c, 4); }
SXT_INLINE __m256 gather(const float *x, Columns c, Mask m) {
  return _mm256_mmask_i32gather_ps(_mm256_setzero_ps(), m, c, x, 4);
}

// sum += values * x[columns], all lanes or those of a mask.
template <class M>
SXT_INLINE void add_products(Lanes<double> &sum, const M *values, const double *x, Columns c) {
  sum.v = _mm512_fmadd_pd(widen(values), gather(x, c), sum.v);
}
template <class M>
SXT_INLINE void add_products(Lanes<double> &sum, const M *values, const double *x, Columns c, Mask m) {
  sum.v = _mm512_fmadd_pd(widen(values, m), gather(x, c, m), sum.v);
}
SXT_INLINE void add_products(Lanes<float> &sum, const float *values, const float *x, Columns c) {
  sum.v = _mm256_fmadd_ps(_mm256_loadu_ps(values), gather(x, c), sum.v);
}
SXT_INLINE void add_products(Lanes<float> &sum, const float *values, const float *x, Columns c, Mask m) {
  sum.v = _mm256_fmadd_ps(_mm256_maskz_loadu_ps(m, values), gather(x, c, m), sum.v);
}

SXT_INLINE Mask mask_of(uint8_t bits) { return bits; }

// sum += values * x for the lanes of a mask, x as it lies; values are read in all lanes.
template <class M>
SXT_INLINE void add_strip(Lanes<double> &sum, const M *values, const double *x, Mask m) {
  sum.v = _mm512_fmadd_pd(widen(values), _mm512_maskz_loadu_pd(m, x), sum.v);
}
SXT_INLINE void add_strip(Lanes<float> &sum, const float *values, const float *x, Mask m) {
  sum.v = _mm256_fmadd_ps(_mm256_loadu_ps(values), _mm256_maskz_loadu_ps(m, x), sum.v);
}

SXT_INLINE Lanes<double> sum_of(Lanes<double> a, Lanes<double> b) { return {_mm512_add_pd(a.v, b.v)}; }

// Lane i of the result: the sum of all lanes of row[i]. Always the same tree.
SXT_INLINE Lanes<double> sums_of(const Lanes<double> (&row)[8]) {
  __m512d pair[4], quad[2];
  for (int i = 0; i < 4; ++i)
    pair[i] = _mm512_add_pd(_mm512_unpacklo_pd(row[2 * i].v, row[2 * i + 1].v),
                            _mm512_unpackhi_pd(row[2 * i].v, row[2 * i + 1].v));
  for (int i = 0; i < 2; ++i)
    quad[i] = _mm512_add_pd(_mm512_shuffle_f64x2(pair[2 * i], pair[2 * i + 1], 0x88),
                            _mm512_shuffle_f64x2(pair[2 * i], pair[2 * i + 1], 0xDD));
  return {_mm512_add_pd(_mm512_shuffle_f64x2(quad[0], quad[1], 0x88), _mm512_shuffle_f64x2(quad[0], quad[1], 0xDD))};
}

SXT_INLINE Lanes<double> load(const double *p) { return {_mm512_loadu_pd(p)}; }
SXT_INLINE Lanes<float> load(const float *p) { return {_mm256_loadu_ps(p)}; }
SXT_INLINE void store(double *p, Lanes<double> a) { _mm512_storeu_pd(p, a.v); }
// For numbers that are read one by one right after: forwarding from a store of 64 bytes is slower.
SXT_INLINE void spill(double *p, Lanes<double> a) {
  _mm256_storeu_pd(p, _mm512_castpd512_pd256(a.v));
  _mm256_storeu_pd(p + 4, _mm512_extractf64x4_pd(a.v, 1));
}
SXT_INLINE void store(float *p, Lanes<float> a) { _mm256_storeu_ps(p, a.v); }
SXT_INLINE void spill(float *p, Lanes<float> a) { _mm256_storeu_ps(p, a.v); }
// alpha a, and alpha a + beta b.
SXT_INLINE Lanes<double> scaled(Lanes<double> a, double alpha) { return {_mm512_mul_pd(a.v, _mm512_set1_pd(alpha))}; }
SXT_INLINE Lanes<double> scaled(Lanes<double> a, double alpha, Lanes<double> b, double beta) {
  return {_mm512_fmadd_pd(a.v, _mm512_set1_pd(alpha), _mm512_mul_pd(b.v, _mm512_set1_pd(beta)))};
}

#elif defined(SXT_ISA_avx2)

using Columns = __m256i;
using Mask = __m256i;  // sign bit of a 32-bit lane set: the lane counts

template <class V>
struct Lanes;
template <>
struct Lanes<double> {
  __m256d lo, hi;
};
template <>
struct Lanes<float> {
  __m256 v;
};

SXT_INLINE Mask first_lanes(int64_t n) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(n)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
SXT_INLINE Columns load_columns(const int32_t *p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i *>(p)); }
SXT_INLINE Columns load_columns(const int32_t *p, Mask m) { return _mm256_maskload_epi32(p, m); }
SXT_INLINE Mask used(Columns c) { return _mm256_xor_si256(c, _mm256_set1_epi32(-1)); }
SXT_INLINE __m128i low(__m256i a) { return _mm256_castsi256_si128(a); }
SXT_INLINE __m128i high(__m256i a) { return _mm256_extracti128_si256(a, 1); }
SXT_INLINE __m256i long_mask(__m128i m) { return _mm256_cvtepi32_epi64(m); }

SXT_INLINE void set_zero(Lanes<double> &a) { a.lo = a.hi = _mm256_setzero_pd(); }
SXT_INLINE void set_zero(Lanes<float> &a) { a.v = _mm256_setzero_ps(); }

SXT_INLINE __m256d widen(const double *p) { return _mm256_loadu_pd(p); }
SXT_INLINE __m256d widen(const float *p) { return _mm256_cvtps_pd(_mm_loadu_ps(p)); }
SXT_INLINE __m256d widen(const double *p, __m128i m) { return _mm256_maskload_pd(p, long_mask(m)); }
SXT_INLINE __m256d widen(const float *p, __m128i m) { return _mm256_cvtps_pd(_mm_maskload_ps(p, m)); }

SXT_INLINE __m256d gather(const double *x, __m128i c) { return _mm256_i32gather_pd(x, c, 8); }
SXT_INLINE __m256d gather(const double *x, __m128i c, __m128i m) {
  return _mm256_mask_i32gather_pd(_mm256_setzero_pd(), x, c, _mm256_castsi256_pd(long_mask(m)), 8);
}

template <class M>
SXT_INLINE void add_products(Lanes<double> &sum, const M *values, const double *x, Columns c) {
  sum.lo = _mm256_fmadd_pd(widen(values), gather(x, low(c)), sum.lo);
  sum.hi = _mm256_fmadd_pd(widen(values + 4), gather(x, high(c)), sum.hi);
}
template <class M>
SXT_INLINE void add_products(Lanes<double> &sum, const M *values, const double *x, Columns c, Mask m) {
  sum.lo = _mm256_fmadd_pd(widen(values, low(m)), gather(x, low(c), low(m)), sum.lo);
  sum.hi = _mm256_fmadd_pd(widen(values + 4, high(m)), gather(x, high(c), high(m)), sum.hi);
}
SXT_INLINE void add_products(Lanes<float> &sum, const float *values, const float *x, Columns c) {
  sum.v = _mm256_fmadd_ps(_mm256_loadu_ps(values), _mm256_i32gather_ps(x, c, 4), sum.v);
}
SXT_INLINE void add_products(Lanes<float> &sum, const float *values, const float *x, Columns c, Mask m) {
  const __m256 gathered = _mm256_mask_i32gather_ps(_mm256_setzero_ps(), x, c, _mm256_castsi256_ps(m), 4);
  sum.v = _mm256_fmadd_ps(_mm256_maskload_ps(values, m), gathered, sum.v);
}

SXT_INLINE Mask mask_of(uint8_t bits) {
  const __m256i bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
  return _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32(bits), bit), bit);
}

template <class M>
SXT_INLINE void add_strip(Lanes<double> &sum, const M *values, const double *x, Mask m) {
  sum.lo = _mm256_fmadd_pd(widen(values), _mm256_maskload_pd(x, long_mask(low(m))), sum.lo);
  sum.hi = _mm256_fmadd_pd(widen(values + 4), _mm256_maskload_pd(x + 4, long_mask(high(m))), sum.hi);
}
SXT_INLINE void add_strip(Lanes<float> &sum, const float *values, const float *x, Mask m) {
  sum.v = _mm256_fmadd_ps(_mm256_loadu_ps(values), _mm256_maskload_ps(x, m), sum.v);
}

SXT_INLINE Lanes<double> sum_of(Lanes<double> a, Lanes<double> b) {
  return {_mm256_add_pd(a.lo, b.lo), _mm256_add_pd(a.hi, b.hi)};
}

// Of four quarters of a register each: (0 + 1) + (2 + 3).
SXT_INLINE __m256d sums_of_four(__m256d first, __m256d second, __m256d third, __m256d fourth) {
  const __m256d a = _mm256_hadd_pd(first, second), b = _mm256_hadd_pd(third, fourth);
  return _mm256_add_pd(_mm256_permute2f128_pd(a, b, 0x20), _mm256_permute2f128_pd(a, b, 0x31));
}
// In adjacent pairs, as on every instruction set.
SXT_INLINE __m256d sums_of_rows(const Lanes<double> *row) {
  return _mm256_add_pd(sums_of_four(row[0].lo, row[1].lo, row[2].lo, row[3].lo),
                       sums_of_four(row[0].hi, row[1].hi, row[2].hi, row[3].hi));
}
SXT_INLINE Lanes<double> sums_of(const Lanes<double> (&row)[8]) { return {sums_of_rows(row), sums_of_rows(row + 4)}; }

SXT_INLINE Lanes<double> load(const double *p) { return {_mm256_loadu_pd(p), _mm256_loadu_pd(p + 4)}; }
SXT_INLINE Lanes<float> load(const float *p) { return {_mm256_loadu_ps(p)}; }
SXT_INLINE void store(double *p, Lanes<double> a) { _mm256_storeu_pd(p, a.lo), _mm256_storeu_pd(p + 4, a.hi); }
SXT_INLINE void store(float *p, Lanes<float> a) { _mm256_storeu_ps(p, a.v); }
template <class V>
SXT_INLINE void spill(V *p, Lanes<V> a) {
  store(p, a);
}
SXT_INLINE Lanes<double> scaled(Lanes<double> a, double alpha) {
  const __m256d f = _mm256_set1_pd(alpha);
  return {_mm256_mul_pd(a.lo, f), _mm256_mul_pd(a.hi, f)};
}
SXT_INLINE Lanes<double> scaled(Lanes<double> a, double alpha, Lanes<double> b, double beta) {
  const __m256d f = _mm256_set1_pd(alpha), g = _mm256_set1_pd(beta);
  return {_mm256_fmadd_pd(a.lo, f, _mm256_mul_pd(b.lo, g)), _mm256_fmadd_pd(a.hi, f, _mm256_mul_pd(b.hi, g))};
}

#else  // plain code, for the compiler to vectorise as far as the baseline allows

struct Columns {
  int32_t c[8];
};
struct Mask {
  bool m[8];
};

template <class V>
struct Lanes {
  V v[8];
};

SXT_INLINE Mask first_lanes(int64_t n) {
  Mask mask;
  for (int l = 0; l < 8; ++l) mask.m[l] = l < n;
  return mask;
}
SXT_INLINE Columns load_columns(const int32_t *p) {
  Columns c;
  for (int l = 0; l < 8; ++l) c.c[l] = p[l];
  return c;
}
SXT_INLINE Columns load_columns(const int32_t *p, Mask m) {
  Columns c;
  for (int l = 0; l < 8; ++l) c.c[l] = m.m[l] ? p[l] : 0;
  return c;
}
SXT_INLINE Mask used(Columns c) {
  Mask mask;
  for (int l = 0; l < 8; ++l) mask.m[l] = c.c[l] >= 0;
  return mask;
}
template <class V>
SXT_INLINE void set_zero(Lanes<V> &a) {
  for (int l = 0; l < 8; ++l) a.v[l] = 0;
}
template <class V, class M>
SXT_INLINE void add_products(Lanes<V> &sum, const M *values, const V *x, Columns c) {
  for (int l = 0; l < 8; ++l) sum.v[l] += V(values[l]) * x[c.c[l]];
}
template <class V, class M>
SXT_INLINE void add_products(Lanes<V> &sum, const M *values, const V *x, Columns c, Mask m) {
  for (int l = 0; l < 8; ++l)
    if (m.m[l]) sum.v[l] += V(values[l]) * x[c.c[l]];
}
SXT_INLINE Mask mask_of(uint8_t bits) {
  Mask mask;
  for (int l = 0; l < 8; ++l) mask.m[l] = bits >> l & 1;
  return mask;
}
template <class V, class M>
SXT_INLINE void add_strip(Lanes<V> &sum, const M *values, const V *x, Mask m) {
  for (int l = 0; l < 8; ++l)
    if (m.m[l]) sum.v[l] += V(values[l]) * x[l];
}
template <class V>
SXT_INLINE Lanes<V> sum_of(Lanes<V> a, Lanes<V> b) {
  for (int l = 0; l < 8; ++l) a.v[l] += b.v[l];
  return a;
}
template <class V>
SXT_INLINE Lanes<V> sums_of(const Lanes<V> (&row)[8]) {
  Lanes<V> sums;
  for (int i = 0; i < 8; ++i) {
    const V *v = row[i].v;
    sums.v[i] = ((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + (v[6] + v[7]));
  }
  return sums;
}
template <class V>
SXT_INLINE Lanes<V> load(const V *p) {
  Lanes<V> a;
  for (int l = 0; l < 8; ++l) a.v[l] = p[l];
  return a;
}
template <class V>
SXT_INLINE void store(V *p, Lanes<V> a) {
  for (int l = 0; l < 8; ++l) p[l] = a.v[l];
}
template <class V>
SXT_INLINE void spill(V *p, Lanes<V> a) {
  store(p, a);
}
template <class V>
SXT_INLINE Lanes<V> scaled(Lanes<V> a, V alpha) {
  for (int l = 0; l < 8; ++l) a.v[l] *= alpha;
  return a;
}
template <class V>
SXT_INLINE Lanes<V> scaled(Lanes<V> a, V alpha, Lanes<V> b, V beta) {
  for (int l = 0; l < 8; ++l) a.v[l] = alpha * a.v[l] + beta * b.v[l];
  return a;
}

#endif

#if defined(SXT_ISA_avx512) || defined(SXT_ISA_avx2)
// Eight floats fill one 256-bit register under both instruction sets.
SXT_INLINE Lanes<float> sum_of(Lanes<float> a, Lanes<float> b) { return {_mm256_add_ps(a.v, b.v)}; }
SXT_INLINE Lanes<float> sums_of(const Lanes<float> (&row)[8]) {
  const __m256 a = _mm256_hadd_ps(_mm256_hadd_ps(row[0].v, row[1].v), _mm256_hadd_ps(row[2].v, row[3].v));
  const __m256 b = _mm256_hadd_ps(_mm256_hadd_ps(row[4].v, row[5].v), _mm256_hadd_ps(row[6].v, row[7].v));
  return {_mm256_add_ps(_mm256_permute2f128_ps(a, b, 0x20), _mm256_permute2f128_ps(a, b, 0x31))};
}
SXT_INLINE Lanes<float> scaled(Lanes<float> a, float alpha) { return {_mm256_mul_ps(a.v, _mm256_set1_ps(alpha))}; }
SXT_INLINE Lanes<float> scaled(Lanes<float> a, float alpha, Lanes<float> b, float beta) {
  return {_mm256_fmadd_ps(a.v, _mm256_set1_ps(alpha), _mm256_mul_ps(b.v, _mm256_set1_ps(beta)))};
}
#endif

// y = alpha a + beta y for eight elements in a row; beta == 0 never reads y.
template <class V>
SXT_INLINE void put(V *y, Lanes<V> a, V alpha, V beta) {
  store(y, beta == V(0) ? scaled(a, alpha) : scaled(a, alpha, load(y), beta));
}

// The same for n <= 8 of them, by the same instructions, so that bits do not depend on n.
template <class V>
SXT_INLINE void put_some(V *y, int64_t n, Lanes<V> a, V alpha, V beta) {
  V some[8] = {};
  if (beta != V(0))
    for (int64_t l = 0; l < n; ++l) some[l] = y[l];
  put(some, a, alpha, beta);
  for (int64_t l = 0; l < n; ++l) y[l] = some[l];
}

// The same for eight elements anywhere.
template <class V>
SXT_INLINE void put_at(V *y, const int32_t *row, Lanes<V> a, V alpha, V beta) {
  alignas(32) V some[8];
  if (beta == V(0)) {
    spill(some, scaled(a, alpha));
  } else {
    for (int l = 0; l < 8; ++l) some[l] = y[row[l]];
    spill(some, scaled(a, alpha, load(some), beta));
  }
#pragma GCC unroll 8
  for (int l = 0; l < 8; ++l) y[row[l]] = some[l];
}

}  // namespace sextant::plugin::SXT_ISA
