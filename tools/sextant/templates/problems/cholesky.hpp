// SPDX-License-Identifier: BSD-3-Clause
// A x = A 1 with the second difference of n points, factored and solved: x is 1.
#pragma once

#include <sextant/plugin/kinds/cholesky.h>

#include "trial.hpp"

class Problem {
 public:
  static constexpr const char *device = "@DEVICE@", *forced_kind = SXT_KIND_CHOLESKY, *forced_kernel = "@FORCED@";
  static constexpr std::int64_t sizes[] = {1, 2, 7, 1000}, bench_size = 100000;

  Problem(const sextant::Context &context, std::int64_t n)
      : matrix_(trial::second_difference(context, n)),
        factor_(sextant::Analysis(matrix_)),
        x_(static_cast<std::size_t>(n)) {
    for (std::int64_t i = 0; i < n; ++i) b_.push_back(trial::row_sum(i, n));
  }

  void run() {
    factor_.factor(matrix_);
    factor_.solve(b_, x_);
  }
  double error() const {
    trial::Distance distance(1e-9 * static_cast<double>(x_.size()));
    for (const double each : x_) distance.add(each, 1);
    return distance.worst();
  }
  std::string kernel() const { return forced_kernel; }  // it is forced: no other can serve
  double predicted() const { return std::numeric_limits<double>::quiet_NaN(); }

 private:
  sextant::Matrix matrix_;
  sextant::Cholesky factor_;
  std::vector<double> b_, x_;
};
