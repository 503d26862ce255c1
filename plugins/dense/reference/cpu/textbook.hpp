// SPDX-License-Identifier: BSD-3-Clause
// The operations of kind sxt.dense/1 entry by entry, as their formulas read.
#pragma once

#include <cmath>
#include <cstdint>

#include "sextant/sdk/dense.hpp"

namespace sextant_dense::textbook {

// A = L L^H or L D L^H in place, column by column. Returns 0 or the 1-based column whose pivot failed.
template <class T>
std::int32_t factor(View<T> a, std::int64_t n, const PivotRule &rule, std::uint8_t *marks) {
  using R = real_of<T>;
  const auto scale = [&](std::int64_t k) { return rule.definite ? R(1) : std::real(a(k, k)); };
  for (std::int64_t j = 0; j < n; ++j) {
    R pivot = std::real(a(j, j));
    for (std::int64_t k = 0; k < j; ++k) pivot -= scale(k) * std::norm(a(j, k));
    const Pivot verdict = judge(rule, pivot);
    a(j, j) = pivot;
    if (verdict == Pivot::failed) return static_cast<std::int32_t>(j + 1);
    if (verdict == Pivot::changed && marks) marks[j] = 1;
    if (rule.definite) a(j, j) = pivot = std::sqrt(pivot);
    for (std::int64_t i = j + 1; i < n; ++i) {
      T value = a(i, j);
      for (std::int64_t k = 0; k < j; ++k) value -= a(i, k) * scale(k) * conjugate(a(j, k));
      a(i, j) = value / pivot;
    }
  }
  return 0;
}

// B (m x n) = B L^-1.
template <class T>
void right(View<T> l, View<T> b, std::int64_t m, std::int64_t n, bool unit) {
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = n; j-- > 0;) {
      for (std::int64_t k = j + 1; k < n; ++k) b(i, j) -= b(i, k) * l(k, j);
      if (!unit) b(i, j) /= l(j, j);
    }
}

// Entry k of D.
template <class T>
real_of<T> weight(const Item<T> &x, std::int64_t k) {
  return x.d ? std::real(x.d[k * x.incd]) : real_of<T>(1);
}

// B (m x n) = B L^-H D^-1.
template <class T>
void trsm(const Item<T> &x, bool unit) {
  for (std::int64_t i = 0; i < x.m; ++i) {
    for (std::int64_t j = 0; j < x.n; ++j) {
      for (std::int64_t k = 0; k < j; ++k) x.b(i, j) -= x.b(i, k) * conjugate(x.a(j, k));
      if (!unit) x.b(i, j) /= conjugate(x.a(j, j));
    }
    for (std::int64_t j = 0; x.d && j < x.n; ++j) x.b(i, j) /= weight(x, j);
  }
}

// C (m x n) -= A D B^H; of a lower result the triangle alone.
template <class T>
void gemm(const Item<T> &x, View<T> b, std::int64_t m, bool lower) {
  for (std::int64_t j = 0; j < x.n; ++j)
    for (std::int64_t i = lower ? j : 0; i < m; ++i)
      for (std::int64_t l = 0; l < x.k; ++l) x.c(i, j) -= x.a(i, l) * weight(x, l) * conjugate(b(j, l));
}

// B (m x n) = L^-1 B.
template <class T>
void forward(View<T> l, View<T> b, std::int64_t m, std::int64_t n, bool unit) {
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t k = 0; k < i; ++k) b(i, j) -= l(i, k) * b(k, j);
      if (!unit) b(i, j) /= l(i, i);
    }
}

// B (m x n) = L^-H B.
template <class T>
void backward(View<T> l, View<T> b, std::int64_t m, std::int64_t n, bool unit) {
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = m; i-- > 0;) {
      for (std::int64_t k = i + 1; k < m; ++k) b(i, j) -= conjugate(l(k, i)) * b(k, j);
      if (!unit) b(i, j) /= conjugate(l(i, i));
    }
}

// C (m x n) -= A B, or A^H B.
template <class T>
void product(const Item<T> &x, bool adjoint) {
  for (std::int64_t j = 0; j < x.n; ++j)
    for (std::int64_t i = 0; i < x.m; ++i)
      for (std::int64_t l = 0; l < x.k; ++l) x.c(i, j) -= (adjoint ? conjugate(x.a(l, i)) : x.a(i, l)) * x.b(l, j);
}

template <class T>
void work(const sxt_dense_args &d, std::int64_t g) {
  const Item<T> x = item_of<T>(d, g);
  const bool unit = d.unit != 0;
  switch (d.operation) {
    case SXT_DENSE_POTRF:
    case SXT_DENSE_LDLH: {
      const std::int32_t info = factor(x.a, x.n, pivot_rule(d), marks_of(d, g));
      if (d.info) d.info[g] = info;
      return;
    }
    case SXT_DENSE_TRSM: return trsm(x, unit);
    case SXT_DENSE_SYRK: return gemm(x, x.a, x.n, true);
    case SXT_DENSE_GEMM: return gemm(x, x.b, x.m, false);
    case SXT_DENSE_GEMMT: return gemm(x, x.b, x.n, true);
    case SXT_DENSE_FORWARD: return forward(x.a, x.b, x.m, x.n, unit);
    case SXT_DENSE_BACKWARD: return backward(x.a, x.b, x.m, x.n, unit);
    case SXT_DENSE_RIGHT: return right(x.a, x.b, x.m, x.n, unit);
    default: return product(x, d.operation == SXT_DENSE_PRODUCT_H);
  }
}

}  // namespace sextant_dense::textbook
