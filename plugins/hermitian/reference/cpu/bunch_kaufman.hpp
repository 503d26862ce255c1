// SPDX-License-Identifier: BSD-3-Clause
// Bunch and Kaufman's factorisation with partial pivoting, P A P^T = L D L^H with 1 x 1 and 2 x 2 blocks in D (Bunch,
// Kaufman 1977), in the layout of LAPACK's xHETRF. The upper triangle is the same algorithm from the last column to
// the first: rows, columns and pivots are counted backwards.
#pragma once

#include <cmath>
#include <cstdlib>
#include <utility>

#include "cholesky.hpp"

namespace sextant::hermitian_reference {

using plugin::abs1;

// The lower triangle of A, or of A with rows and columns in reverse, which is A's upper one.
template <class T>
class Mirrored {
 public:
  Mirrored(T *a, std::int64_t n, std::int64_t ld, std::int32_t *pivots, sxt_triangle triangle)
      : a_(a), n_(n), ld_(ld), pivots_(pivots), upper_(triangle == SXT_UPPER) {}
  std::int64_t n() const { return n_; }
  // Place of row i in x and in the caller's numbering.
  std::int64_t row(std::int64_t i) const { return upper_ ? n_ - 1 - i : i; }
  T &at(std::int64_t i, std::int64_t j) const { return a_[row(i) + row(j) * ld_]; }
  real_of<T> diagonal(std::int64_t i) const { return std::real(at(i, i)); }
  // Block k was exchanged with row p (0-based); LAPACK writes rows from 1, negative for a 2 x 2 block.
  void set_pivot(std::int64_t k, std::int64_t p, bool pair) const {
    const auto place = static_cast<std::int32_t>(row(p) + 1);
    pivots_[row(k)] = pair ? -place : place;
  }
  bool pair(std::int64_t k) const { return pivots_[row(k)] < 0; }
  std::int64_t pivot(std::int64_t k) const { return row(std::abs(pivots_[row(k)]) - 1); }

 private:
  T *a_;
  std::int64_t n_, ld_;
  std::int32_t *pivots_;
  bool upper_;
};

// The larger, and NaN once there is one.
template <class R>
R larger(R most, R value) {
  return value <= most || std::isnan(most) ? most : value;
}

template <class R>
struct Pivot {
  std::int64_t row;
  bool pair, singular, finite;
};

// The pivot of step k by the test of Bunch and Kaufman: alpha bounds the growth of a step.
template <class T>
Pivot<real_of<T>> choose_pivot(const Mirrored<T> &a, std::int64_t k) {
  using R = real_of<T>;
  const R alpha = static_cast<R>((1 + std::sqrt(17.0)) / 8), diagonal = std::abs(a.diagonal(k));
  R column = 0;
  std::int64_t most = k;
  for (std::int64_t i = k + 1; i < a.n(); ++i) {
    const R value = larger(column, abs1(a.at(i, k)));
    if (!(value == column)) column = value, most = i;
  }
  if (!std::isfinite(diagonal) || !std::isfinite(column)) return {k, false, false, false};
  if (diagonal == 0 && column == 0) return {k, false, true, true};
  if (diagonal >= alpha * column) return {k, false, false, true};
  R row = 0;  // the largest beside the diagonal in row and column `most`
  for (std::int64_t j = k; j < most; ++j) row = larger(row, abs1(a.at(most, j)));
  for (std::int64_t i = most + 1; i < a.n(); ++i) row = larger(row, abs1(a.at(i, most)));
  const R other = std::abs(a.diagonal(most));
  if (!std::isfinite(row) || !std::isfinite(other)) return {k, false, false, false};
  if (diagonal > 0 && diagonal >= alpha * column * (column / row)) return {k, false, false, true};
  if (other >= alpha * row) return {most, false, false, true};
  return {most, true, false, true};
}

// Exchanges rows and columns i < p of the trailing matrix from column k on; earlier columns stay, as in LAPACK.
template <class T>
void exchange(const Mirrored<T> &a, std::int64_t k, std::int64_t i, std::int64_t p) {
  for (std::int64_t r = p + 1; r < a.n(); ++r) std::swap(a.at(r, i), a.at(r, p));
  for (std::int64_t j = i + 1; j < p; ++j) {
    const T kept = conjugate(a.at(j, i));
    a.at(j, i) = conjugate(a.at(p, j));
    a.at(p, j) = kept;
  }
  a.at(p, i) = conjugate(a.at(p, i));
  const real_of<T> kept = a.diagonal(i);
  a.at(i, i) = T(a.diagonal(p));
  a.at(p, p) = T(kept);
  if (i > k) std::swap(a.at(i, k), a.at(p, k));
}

// Trailing matrix minus the rank-1 or rank-2 term of block k; the columns of the block become those of L.
template <class T>
void eliminate_one(const Mirrored<T> &a, std::int64_t k) {
  const real_of<T> d = 1 / a.diagonal(k);
  for (std::int64_t j = k + 1; j < a.n(); ++j) {
    const T factor = conjugate(a.at(j, k)) * d;
    for (std::int64_t i = j; i < a.n(); ++i) a.at(i, j) -= product(a.at(i, k), factor);
    a.at(j, j) = T(a.diagonal(j));
  }
  for (std::int64_t i = k + 1; i < a.n(); ++i) a.at(i, k) *= d;
}

template <class T>
void eliminate_two(const Mirrored<T> &a, std::int64_t k) {
  using R = real_of<T>;
  const R size = std::abs(a.at(k + 1, k));  // all of D is divided by it, so that nothing overflows
  const R d11 = a.diagonal(k + 1) / size, d22 = a.diagonal(k) / size;
  const R scale = 1 / (d11 * d22 - 1) / size;
  const T d21 = a.at(k + 1, k) / size;
  for (std::int64_t j = k + 2; j < a.n(); ++j) {
    const T first = scale * (d11 * a.at(j, k) - product(d21, a.at(j, k + 1)));
    const T second = scale * (d22 * a.at(j, k + 1) - product(conjugate(d21), a.at(j, k)));
    for (std::int64_t i = j; i < a.n(); ++i)
      a.at(i, j) -= product(a.at(i, k), conjugate(first)) + product(a.at(i, k + 1), conjugate(second));
    a.at(j, k) = first;
    a.at(j, k + 1) = second;
    a.at(j, j) = T(a.diagonal(j));
  }
}

// 0, the 1-based first block of D that is zero (the factorisation is still completed), or NOT_FINITE.
template <class T>
std::int32_t bunch_kaufman_factor(const Mirrored<T> &a) {
  std::int32_t info = 0;
  for (std::int64_t k = 0; k < a.n();) {
    const Pivot<real_of<T>> chosen = choose_pivot(a, k);
    if (!chosen.finite) return SXT_HERMITIAN_NOT_FINITE;
    if (chosen.singular && info == 0) info = static_cast<std::int32_t>(a.row(k) + 1);
    const std::int64_t last = chosen.pair ? k + 1 : k;
    if (chosen.row != last) exchange(a, k, last, chosen.row);
    for (std::int64_t i = k; i <= last; ++i) {
      a.at(i, i) = T(a.diagonal(i));
      a.set_pivot(i, chosen.row, chosen.pair);
    }
    if (chosen.pair)
      eliminate_two(a, k);
    else if (!chosen.singular)
      eliminate_one(a, k);
    k = last + 1;
  }
  return info;
}

// x = D^-1 x for the block that begins at k.
template <class T>
void solve_block(const Mirrored<T> &a, std::int64_t k, T *x) {
  T &first = x[a.row(k)];
  if (!a.pair(k)) {
    first /= a.diagonal(k);
    return;
  }
  T &second = x[a.row(k + 1)];
  const T beside = a.at(k + 1, k);
  const T d1 = a.diagonal(k) / conjugate(beside), d2 = a.diagonal(k + 1) / beside;
  const T y1 = first / conjugate(beside), y2 = second / beside, determinant = product(d1, d2) - T(1);
  first = (product(d2, y1) - y2) / determinant;
  second = (product(d1, y2) - y1) / determinant;
}

template <class T>
void bunch_kaufman_solve(const Mirrored<T> &a, T *x) {
  const auto subtract = [&](std::int64_t k, std::int64_t from) {  // column k of L
    for (std::int64_t i = from; i < a.n(); ++i) x[a.row(i)] -= product(a.at(i, k), x[a.row(k)]);
  };
  for (std::int64_t k = 0; k < a.n();) {
    const std::int64_t last = a.pair(k) ? k + 1 : k;
    std::swap(x[a.row(last)], x[a.row(a.pivot(k))]);
    for (std::int64_t j = k; j <= last; ++j) subtract(j, last + 1);
    solve_block(a, k, x);
    k = last + 1;
  }
  for (std::int64_t last = a.n() - 1; last >= 0;) {
    const std::int64_t k = a.pair(last) ? last - 1 : last;
    for (std::int64_t j = k; j <= last; ++j)
      for (std::int64_t i = last + 1; i < a.n(); ++i) x[a.row(j)] -= product(conjugate(a.at(i, j)), x[a.row(i)]);
    std::swap(x[a.row(last)], x[a.row(a.pivot(last))]);
    last = k - 1;
  }
}

}  // namespace sextant::hermitian_reference
