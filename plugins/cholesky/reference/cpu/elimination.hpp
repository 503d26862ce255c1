// SPDX-License-Identifier: BSD-3-Clause
// Sparse Cholesky entry by entry on the structure that a scheduler gets: the factorisation, its solves, and the entries
// of the inverse where L has entries. Entries are found by search; nothing is shared between columns.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "sextant/plugin/kinds/cholesky.h"
#include "sextant/sdk/cholesky.hpp"
#include "sextant/sdk/dense_pivots.hpp"
#include "sextant/sdk/kernel.hpp"

namespace sextant_cholesky {

using namespace sextant::plugin;
using sextant_dense::Pivot;
using sextant_dense::PivotRule;

// The entries of one factor: of column j its rows, the diagonal's first, and where each lies.
class Entries {
 public:
  explicit Entries(const sxt_symbolic &s) : s_(s), super_of_(static_cast<std::size_t>(s.n)) {
    for (std::int64_t p = 0; p < s.n_super; ++p)
      std::fill(super_of_.begin() + s.super_ptr[p], super_of_.begin() + s.super_ptr[p + 1], p);
  }
  const sxt_symbolic &symbolic() const { return s_; }
  // Rows of column j, from its own on.
  std::int64_t count(std::int64_t j) const { return height(j) - (j - first(j)); }
  std::int32_t row(std::int64_t j, std::int64_t k) const { return rows(j)[j - first(j) + k]; }
  std::int64_t at(std::int64_t j, std::int64_t k) const {
    return s_.value_ptr[super_of_[j]] + (j - first(j)) * (height(j) + 1) + k;
  }
  // Of the entry (i, j), which L has.
  std::int64_t place(std::int64_t i, std::int64_t j) const {
    const std::int32_t *begin = rows(j) + (j - first(j));
    return at(j, std::lower_bound(begin, begin + count(j), static_cast<std::int32_t>(i)) - begin);
  }

 private:
  std::int64_t first(std::int64_t j) const { return s_.super_ptr[super_of_[j]]; }
  std::int64_t height(std::int64_t j) const { return s_.row_ptr[super_of_[j] + 1] - s_.row_ptr[super_of_[j]]; }
  const std::int32_t *rows(std::int64_t j) const { return s_.rows + s_.row_ptr[super_of_[j]]; }

  const sxt_symbolic &s_;
  std::vector<std::int64_t> super_of_;
};

// Column by column, each taken off all that follow. changed(j) is called for pivots that the rule changed.
template <class T, class F>
Failure factor(const Entries &e, T *l, const PivotRule &rule, F &&changed) {
  using R = real_of<T>;
  for (std::int64_t j = 0; j < e.symbolic().n_factored; ++j) {
    R pivot = std::real(l[e.at(j, 0)]);
    const Pivot verdict = judge(rule, pivot);
    if (verdict == Pivot::failed) return {j, static_cast<double>(pivot)};
    if (verdict == Pivot::changed) changed(j);
    const R diagonal = rule.definite ? std::sqrt(pivot) : pivot, weight = rule.definite ? R(1) : pivot;
    l[e.at(j, 0)] = diagonal;
    for (std::int64_t a = 1; a < e.count(j); ++a) l[e.at(j, a)] /= diagonal;
    for (std::int64_t b = 1; b < e.count(j); ++b)
      for (std::int64_t a = b; a < e.count(j); ++a)
        l[e.place(e.row(j, a), e.row(j, b))] -= l[e.at(j, a)] * weight * conjugate(l[e.at(j, b)]);
  }
  return {};
}

template <class T>
void forward(const Entries &e, const T *l, bool unit, T *x) {
  for (std::int64_t j = 0; j < e.symbolic().n_factored; ++j) {
    if (!unit) x[j] /= l[e.at(j, 0)];
    for (std::int64_t a = 1; a < e.count(j); ++a) x[e.row(j, a)] -= l[e.at(j, a)] * x[j];
  }
}

template <class T>
void backward(const Entries &e, const T *l, bool unit, T *x) {
  for (std::int64_t j = e.symbolic().n_factored; j-- > 0;) {
    for (std::int64_t a = 1; a < e.count(j); ++a) x[j] -= conjugate(l[e.at(j, a)]) * x[e.row(j, a)];
    if (!unit) x[j] /= l[e.at(j, 0)];
  }
}

// Z = A^-1 where L has entries, from the last column back: with L scaled to a unit diagonal, Z L = L^-H D^-1
// (K. Takahashi, J. Fagan, M.-S. Chen, 1973; A. M. Erisman and W. F. Tinney, 1975).
template <class T>
void invert(const Entries &e, const T *l, bool unit, T *z) {
  const auto entry = [&](std::int64_t i, std::int64_t j) {
    return i >= j ? z[e.place(i, j)] : conjugate(z[e.place(j, i)]);
  };
  for (std::int64_t j = e.symbolic().n; j-- > 0;) {
    const T diagonal = l[e.at(j, 0)], scale = unit ? T(1) : diagonal;
    for (std::int64_t a = e.count(j); a-- > 1;) {
      T sum = 0;
      for (std::int64_t b = 1; b < e.count(j); ++b) sum += entry(e.row(j, a), e.row(j, b)) * (l[e.at(j, b)] / scale);
      z[e.at(j, a)] = -sum;
    }
    T sum = T(1) / (unit ? diagonal : diagonal * diagonal);
    for (std::int64_t b = 1; b < e.count(j); ++b) sum -= conjugate(z[e.at(j, b)]) * (l[e.at(j, b)] / scale);
    z[e.at(j, 0)] = std::real(sum);
  }
}

}  // namespace sextant_cholesky
