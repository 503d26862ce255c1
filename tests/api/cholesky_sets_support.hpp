// SPDX-License-Identifier: BSD-3-Clause
// Sets of values on the pattern of one matrix, and handles for them.
#pragma once

#include <cstring>

#include "sextant/cholesky_sets.h"
#include "tests/api/cholesky_support.hpp"

namespace api_test {

using Sets = std::unique_ptr<sxt_cholesky_sets, Destroy<sxt_cholesky_sets, sxt_cholesky_sets_destroy>>;

inline Sets sets_of(const Analysis &analysis, std::int64_t count, sxt_status expected = SXT_OK) {
  return make<Sets>([&](sxt_cholesky_sets **out) { return sxt_cholesky_sets_create(analysis.get(), count, out); },
                    expected);
}

// Matrices of one pattern: every entry of set k is scaled, so that all stay definite as the first is.
template <class T>
struct Family {
  Sparse<T> first;
  std::int64_t count, stride;
  std::vector<T> values;

  Family(Sparse<T> of, std::int64_t sets, std::int64_t gap = 0)
      : first(std::move(of)), count(sets), stride(static_cast<std::int64_t>(first.values.size()) + gap) {
    values.assign(static_cast<std::size_t>(count * stride), T(std::numeric_limits<Real<T>>::quiet_NaN()));
    for (std::int64_t k = 0; k < count; ++k)
      for (std::size_t e = 0; e < first.values.size(); ++e) values[at(k, e)] = first.values[e] * size(k);
  }
  static Real<T> size(std::int64_t k) { return static_cast<Real<T>>(1 + 0.37 * static_cast<double>(k)); }
  std::size_t at(std::int64_t set, std::size_t entry) const { return static_cast<std::size_t>(set * stride) + entry; }
  std::int64_t nnz() const { return static_cast<std::int64_t>(first.values.size()); }
  Sparse<T> matrix_of(std::int64_t set) const {
    Sparse<T> out = first;
    for (std::size_t e = 0; e < out.values.size(); ++e) out.values[e] = values[at(set, e)];
    return out;
  }
  void put(std::int64_t set, std::int64_t i, std::int64_t j, T value) {
    for (std::int32_t k = first.pattern.ptr[i]; k < first.pattern.ptr[i + 1]; ++k)
      if (first.pattern.col[k] == j) values[at(set, static_cast<std::size_t>(k))] = value;
  }
  sxt_status factor(const Sets &sets, const sxt_cholesky_sets_options *options = nullptr) const {
    return sxt_cholesky_sets_factor(sets.get(), 0, count, nnz(), values.data(), stride, options);
  }
};

inline sxt_cholesky_sets_options sets_options() {
  sxt_cholesky_sets_options options;
  sxt_cholesky_sets_options_init(&options, sizeof options);
  return options;
}

struct Outcomes {
  explicit Outcomes(const Sets &sets, std::int64_t count)
      : status(count),
        failed_row(count),
        changed(count),
        positive(count),
        negative(count),
        zero(count),
        failed_pivot(count),
        log_determinant(count),
        least(count),
        largest(count),
        sign(count) {
    sxt_cholesky_sets_outcomes to;
    sxt_cholesky_sets_outcomes_init(&to, sizeof to);
    to.status = status.data(), to.failed_row = failed_row.data(), to.changed_pivots = changed.data();
    to.positive = positive.data(), to.negative = negative.data(), to.zero = zero.data();
    to.failed_pivot = failed_pivot.data(), to.log_determinant = log_determinant.data();
    to.least_pivot = least.data(), to.largest_pivot = largest.data(), to.sign = sign.data();
    EXPECT_EQ(sxt_cholesky_sets_get_outcomes(sets.get(), 0, count, &to), SXT_OK) << sxt_last_error(nullptr);
  }
  std::vector<sxt_status> status;
  std::vector<std::int64_t> failed_row, changed, positive, negative, zero;
  std::vector<double> failed_pivot, log_determinant, least, largest;
  std::vector<std::int32_t> sign;
};

inline sxt_cholesky_sets_info info_of(const Sets &sets) {
  sxt_cholesky_sets_info info{};
  info.struct_size = sizeof info;
  EXPECT_EQ(sxt_cholesky_sets_get_info(sets.get(), &info), SXT_OK) << sxt_last_error(nullptr);
  return info;
}

// x of one set by a factor of its own, made by the same analysis.
template <class T>
std::vector<T> solved_alone(const Context &context, const Analysis &analysis, const Sparse<T> &a,
                            const std::vector<T> &b, std::int64_t n_rhs, sxt_cholesky_info *info = nullptr) {
  const Matrix matrix = a.matrix(context);
  const Cholesky cholesky = cholesky_of(analysis);
  EXPECT_EQ(sxt_cholesky_factor(cholesky.get(), matrix.get(), nullptr), SXT_OK) << sxt_last_error(nullptr);
  std::vector<T> x(b.size());
  EXPECT_EQ(sxt_cholesky_solve(cholesky.get(), a.n(), n_rhs, b.data(), a.n(), x.data(), a.n(), nullptr, nullptr),
            SXT_OK);
  if (info) *info = info_of(cholesky);
  return x;
}

}  // namespace api_test
