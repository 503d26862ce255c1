// SPDX-License-Identifier: BSD-3-Clause
// Cholesky's factorisation A = L L^H and its two triangular solves, entry by entry. The upper triangle is the same
// algorithm on U = L^H: entry (i, j) of L is the conjugate of entry (j, i) of U.
#pragma once

#include <cmath>

#include "sextant/sdk/hermitian.hpp"

namespace sextant::hermitian_reference {

using plugin::conjugate;
using plugin::product;
using plugin::real_of;

// L as the algorithms see it, whichever triangle holds it.
template <class T>
class Lower {
 public:
  Lower(T *a, std::int64_t ld, sxt_triangle triangle) : a_(a), ld_(ld), upper_(triangle == SXT_UPPER) {}
  T at(std::int64_t i, std::int64_t j) const { return upper_ ? conjugate(a_[j + i * ld_]) : a_[i + j * ld_]; }
  void set(std::int64_t i, std::int64_t j, T value) {
    (upper_ ? a_[j + i * ld_] : a_[i + j * ld_]) = upper_ ? conjugate(value) : value;
  }

 private:
  T *a_;
  std::int64_t ld_;
  bool upper_;
};

// 0, the 1-based column whose pivot is not positive, or minus that of one that is not finite. Only the real part of a
// diagonal counts.
template <class T>
std::int32_t cholesky_factor(std::int64_t n, Lower<T> l) {
  using R = real_of<T>;
  for (std::int64_t j = 0; j < n; ++j) {
    R pivot = std::real(l.at(j, j));
    for (std::int64_t k = 0; k < j; ++k) pivot -= std::real(product(l.at(j, k), conjugate(l.at(j, k))));
    if (!(pivot > 0) || !std::isfinite(pivot)) return static_cast<std::int32_t>(std::isfinite(pivot) ? j + 1 : -j - 1);
    const R diagonal = std::sqrt(pivot);
    l.set(j, j, T(diagonal));
    for (std::int64_t i = j + 1; i < n; ++i) {
      T value = l.at(i, j);
      for (std::int64_t k = 0; k < j; ++k) value -= product(l.at(i, k), conjugate(l.at(j, k)));
      l.set(i, j, value / diagonal);
    }
  }
  return 0;
}

// x = (L L^H)^-1 x.
template <class T>
void cholesky_solve(std::int64_t n, const Lower<T> &l, T *x) {
  for (std::int64_t i = 0; i < n; ++i) {  // L y = x
    for (std::int64_t k = 0; k < i; ++k) x[i] -= product(l.at(i, k), x[k]);
    x[i] /= std::real(l.at(i, i));
  }
  for (std::int64_t i = n; i-- > 0;) {  // L^H z = y
    for (std::int64_t k = i + 1; k < n; ++k) x[i] -= product(conjugate(l.at(k, i)), x[k]);
    x[i] /= std::real(l.at(i, i));
  }
}

}  // namespace sextant::hermitian_reference
