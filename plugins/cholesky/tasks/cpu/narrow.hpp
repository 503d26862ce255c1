// SPDX-License-Identifier: BSD-3-Clause
// Fronts so small that a call of a dense kernel costs more than its operations: matrices with little fill have hardly
// any others.
#pragma once

#include <cmath>
#include <cstdint>

#include "dense_calls.hpp"

namespace sextant_cholesky_tasks {

inline constexpr std::int64_t narrow_solve_values = 384;  // of a front that a solve takes here
inline constexpr std::int64_t narrow_factor_rows = 12;    // below the one column that is factored here

// Of one front and one right-hand side: its own columns of L, and the numbers of the vector that belong to them.
template <class T>
struct NarrowFront {
  const T *l;
  std::int64_t width, rows;
  T *own;
  bool unit;

  T entry(std::int64_t i, std::int64_t j) const { return l[i + j * rows]; }

  // own = L1^-1 own; subtract(i, L2 own) for row i below.
  template <class F>
  void up(F &&subtract) const {
    for (std::int64_t j = 0; j < width; ++j) {
      if (!unit) own[j] /= std::real(entry(j, j));
      for (std::int64_t i = j + 1; i < width; ++i) own[i] -= sextant::plugin::product(entry(i, j), own[j]);
    }
    for (std::int64_t i = width; i < rows; ++i) {
      T sum{};
      for (std::int64_t j = 0; j < width; ++j) sum += sextant::plugin::product(entry(i, j), own[j]);
      subtract(i - width, sum);
    }
  }

  // own = L1^-H (own - L2^H x), where x(i) is what stands at row i below.
  template <class F>
  void down(F &&x) const {
    for (std::int64_t j = width - 1; j >= 0; --j) {
      T sum = own[j];
      for (std::int64_t i = width; i < rows; ++i)
        sum -= sextant::plugin::product(sextant::plugin::conjugate(entry(i, j)), x(i - width));
      for (std::int64_t i = j + 1; i < width; ++i)
        sum -= sextant::plugin::product(sextant::plugin::conjugate(entry(i, j)), own[i]);
      own[j] = unit ? sum : sum / std::real(entry(j, j));
    }
  }
};

// Factors a front of one column; false: its pivot failed. block: the contribution, below x below, lower triangle.
template <class T>
bool factor_column(T *column, std::int64_t below, const PivotRule &rule, std::uint8_t *mark, T *block) {
  using R = sextant::plugin::real_of<T>;
  R pivot = std::real(column[0]);
  const sextant_dense::Pivot verdict = sextant_dense::judge(rule, pivot);
  column[0] = pivot;
  if (verdict == sextant_dense::Pivot::failed) return false;
  if (verdict == sextant_dense::Pivot::changed && mark) *mark = 1;
  const R kept = rule.definite ? std::sqrt(pivot) : pivot;
  column[0] = kept;
  for (std::int64_t i = 1; i <= below; ++i) column[i] /= kept;
  for (std::int64_t c = 0; c < below; ++c) {
    const T conjugated = sextant::plugin::conjugate(column[1 + c]),
            factor = rule.definite ? conjugated : conjugated * pivot;
    for (std::int64_t i = c; i < below; ++i) block[i + c * below] -= sextant::plugin::product(column[1 + i], factor);
  }
  return true;
}

}  // namespace sextant_cholesky_tasks
