// SPDX-License-Identifier: BSD-3-Clause
// Operations in terms of others, for kernels that have products and solves from a library: factorisations with a pivot
// rule by halves, updates with a D by pieces whose scaled copy stays in the cache.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "sextant/sdk/dense.hpp"

namespace sextant_dense {

inline constexpr std::int64_t factor_base = 16;

// By the reciprocal, but where that leaves the range.
template <class T>
void divide(T *x, std::int64_t n, real_of<T> d) {
  constexpr real_of<T> least = std::numeric_limits<real_of<T>>::min();
  if (std::abs(d) < least || std::abs(d) > 1 / least) {
    for (std::int64_t i = 0; i < n; ++i) x[i] /= d;
    return;
  }
  const real_of<T> inverse = 1 / d;
  for (std::int64_t i = 0; i < n; ++i) x[i] *= inverse;
}

// At most factor_base columns: right-looking, so that every column's update is a loop over rows.
template <class T>
std::int32_t factor_small(View<T> a, std::int64_t n, const PivotRule &rule, std::uint8_t *marks) {
  using R = real_of<T>;
  for (std::int64_t j = 0; j < n; ++j) {
    R pivot = std::real(a(j, j));
    const Pivot verdict = judge(rule, pivot);
    a(j, j) = pivot;
    if (verdict == Pivot::failed) return static_cast<std::int32_t>(j + 1);
    if (verdict == Pivot::changed && marks) marks[j] = 1;
    const R kept = rule.definite ? std::sqrt(pivot) : pivot;
    a(j, j) = kept;
    divide(a.data + j + 1 + j * a.ld, n - j - 1, kept);
    for (std::int64_t c = j + 1; c < n; ++c) {
      const T factor = rule.definite ? conjugate(a(c, j)) : conjugate(a(c, j)) * pivot;
      for (std::int64_t i = c; i < n; ++i) a(i, c) -= product(a(i, j), factor);
    }
  }
  return 0;
}

// `library` has trsm(l, b, m, n, unit) and gemmt(a, b, c, n, k, lower row count), both without D; scale and update
// below.
template <class T, class Library>
std::int32_t factor_by_halves(const Library &library, View<T> a, std::int64_t n, const PivotRule &rule,
                              std::uint8_t *marks) {
  if (n <= factor_base) return factor_small(a, n, rule, marks);
  const std::int64_t half = (n / 2 + factor_base - 1) / factor_base * factor_base, rest = n - half;
  if (const std::int32_t info = factor_by_halves(library, a, half, rule, marks)) return info;
  const View<T> below = a.at(half, 0), corner = a.at(half, half);
  library.trsm(a, below, rest, half, !rule.definite);
  const T *d = rule.definite ? nullptr : a.data;
  if (d) divide_columns(below, rest, half, d, a.ld + 1);
  update(library, below, below, corner, {rest, rest, half}, d, a.ld + 1, true);
  const std::int32_t info = factor_by_halves(library, corner, rest, rule, marks ? marks + half : nullptr);
  return info ? info + static_cast<std::int32_t>(half) : 0;
}

// B = B D^-1.
template <class T>
void divide_columns(View<T> b, std::int64_t m, std::int64_t n, const T *d, std::int64_t incd) {
  for (std::int64_t j = 0; j < n; ++j) {
    divide(b.data + j * b.ld, m, std::real(d[j * incd]));
  }
}

struct Sizes {
  std::int64_t m, n, k;
};

// C (m x n) -= A D B^H; d NULL: the identity. Of a lower result, whose m is n, by strips of columns from the diagonal
// down.
template <class T, class Library>
void update(const Library &library, View<T> a, View<T> b, View<T> c, Sizes s, const T *d, std::int64_t incd,
            bool lower) {
  constexpr std::int64_t strip = 128, piece = 512 / static_cast<std::int64_t>(sizeof(T));
  T scaled[strip * piece];
  if (!d && !lower) return library.gemm(a, b, c, s.m, s.n, s.k);
  for (std::int64_t j = 0; j < s.n; j += strip) {
    const std::int64_t columns = std::min(strip, s.n - j), first = lower ? j : 0, rows = s.m - first;
    if (!d) {
      library.gemm(a.at(first, 0), b.at(j, 0), c.at(first, j), rows, columns, s.k);
      continue;
    }
    for (std::int64_t l = 0; l < s.k; l += piece) {
      const std::int64_t steps = std::min(piece, s.k - l);
      for (std::int64_t p = 0; p < steps; ++p) {
        const real_of<T> weight = std::real(d[(l + p) * incd]);
        for (std::int64_t i = 0; i < columns; ++i) scaled[i + p * strip] = b(j + i, l + p) * weight;
      }
      library.gemm(a.at(first, l), View<T>{scaled, strip}, c.at(first, j), rows, columns, steps);
    }
  }
}

}  // namespace sextant_dense
