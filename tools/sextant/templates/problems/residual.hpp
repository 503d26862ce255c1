// SPDX-License-Identifier: BSD-3-Clause
// b - A 1 with b = A 1 and one element more by 2^-40: the norm is that, within the bound that the kernel states.
#pragma once

#include <sextant/plugin/kinds/residual.h>

#include "trial.hpp"

class Problem : public trial::Selected<sxt_residual_args> {
 public:
  static constexpr const char *device = "@DEVICE@", *forced_kind = SXT_KIND_RESIDUAL, *forced_kernel = "@FORCED@";
  static constexpr std::int64_t sizes[] = {1, 2, 7, 1000}, bench_size = 100000;

  Problem(const sextant::Context &context, std::int64_t n)
      : Problem(context, n, trial::second_difference(context, n)) {}

  double error() const {
    trial::Distance distance(norms_.bound_2 + 1e-300);
    distance.add(norms_.norm_2, 0x1p-40);
    return norms_.bound_2 < 0x1p-60 ? distance.worst() : std::numeric_limits<double>::infinity();
  }

 private:
  static sxt_residual_query query() {
    auto query = trial::matrix_query_of<sxt_residual_query>(SXT_KIND_RESIDUAL);
    query.n_rhs = 1;
    return query;
  }
  Problem(const sextant::Context &context, std::int64_t n, const sextant::Matrix &matrix)
      : Selected(context, SXT_KIND_RESIDUAL, query(), matrix), x_(static_cast<std::size_t>(n), 1.0) {
    for (std::int64_t i = 0; i < n; ++i) b_.push_back(trial::row_sum(i, n) + (i == n / 2 ? 0x1p-40 : 0));
    args_.n_rhs = 1;
    args_.x = x_.data();
    args_.b = b_.data();
    args_.norms = &norms_;
  }

  std::vector<double> x_, b_;
  sxt_residual_norms norms_{};
};
