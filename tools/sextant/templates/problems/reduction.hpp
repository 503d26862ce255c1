// SPDX-License-Identifier: BSD-3-Clause
// The inner product of a vector with itself, exact: every square is a multiple of 1/4096.
#pragma once

#include <sextant/plugin/kinds/reduction.h>

#include "trial.hpp"

class Problem : public trial::Selected<sxt_reduction_args> {
 public:
  static constexpr const char *device = "@DEVICE@", *forced_kind = SXT_KIND_REDUCTION, *forced_kernel = "@FORCED@";
  static constexpr std::int64_t sizes[] = {0, 1, 7, 1000, 65537}, bench_size = 4000000;

  Problem(const sextant::Context &context, std::int64_t n)
      : Selected(context, SXT_KIND_REDUCTION, query(n)),
        n_(n),
        x_(sextant::Vector::copy_of(context, trial::numbers(n))) {
    args_.n = n;
    args_.operation = SXT_REDUCTION_DOTC;
    args_.x = args_.y = x_.data<double>().data();
    args_.result = &result_;
  }

  double error() const {
    double sum = 0;
    for (std::int64_t i = 0; i < n_; ++i) sum += trial::number(i) * trial::number(i);
    trial::Distance distance(1e-12 * (1 + sum));
    distance.add(result_, sum);
    return distance.worst();
  }

 private:
  static sxt_reduction_query query(std::int64_t n) {
    auto query = trial::query_of<sxt_reduction_query>(SXT_KIND_REDUCTION);
    query.n = n;
    query.operation = SXT_REDUCTION_DOTC;
    return query;
  }

  std::int64_t n_;
  sextant::Vector x_;
  double result_ = -1;
};
