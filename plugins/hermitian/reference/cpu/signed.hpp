// SPDX-License-Identifier: BSD-3-Clause
// A = L S L^H without interchanges, S the signs of L's diagonal, and its solves, entry by entry. Upper triangles are as
// in cholesky.hpp.
#pragma once

#include <cmath>

#include "cholesky.hpp"

namespace sextant::hermitian_reference {

template <class T>
real_of<T> sign_at(const Lower<T> &l, std::int64_t k) {
  return std::real(l.at(k, k)) < 0 ? real_of<T>(-1) : real_of<T>(1);
}

// 0, the 1-based column whose pivot is zero, or NOT_FINITE.
template <class T>
std::int32_t signed_factor(std::int64_t n, Lower<T> l) {
  using R = real_of<T>;
  for (std::int64_t j = 0; j < n; ++j) {
    R pivot = std::real(l.at(j, j));
    for (std::int64_t k = 0; k < j; ++k) pivot -= sign_at(l, k) * std::real(product(l.at(j, k), conjugate(l.at(j, k))));
    if (!std::isfinite(pivot)) return SXT_HERMITIAN_NOT_FINITE;
    if (pivot == 0) return static_cast<std::int32_t>(j + 1);
    const R diagonal = std::copysign(std::sqrt(std::abs(pivot)), pivot);
    l.set(j, j, T(diagonal));
    for (std::int64_t i = j + 1; i < n; ++i) {
      T value = l.at(i, j);
      for (std::int64_t k = 0; k < j; ++k) value -= sign_at(l, k) * product(l.at(i, k), conjugate(l.at(j, k)));
      l.set(i, j, value / std::abs(diagonal));
    }
  }
  return 0;
}

// x = (L S L^H)^-1 x.
template <class T>
void signed_solve(std::int64_t n, const Lower<T> &l, T *x) {
  for (std::int64_t i = 0; i < n; ++i) {  // L y = x
    for (std::int64_t k = 0; k < i; ++k) x[i] -= product(l.at(i, k), x[k]);
    x[i] /= std::real(l.at(i, i));
  }
  for (std::int64_t i = n; i-- > 0;) {  // L^H z = S y
    x[i] *= sign_at(l, i);
    for (std::int64_t k = i + 1; k < n; ++k) x[i] -= product(conjugate(l.at(k, i)), x[k]);
    x[i] /= std::real(l.at(i, i));
  }
}

}  // namespace sextant::hermitian_reference
