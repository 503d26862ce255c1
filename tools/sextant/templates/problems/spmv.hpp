// SPDX-License-Identifier: BSD-3-Clause
// y = 2 A x - y with the second difference of n points: row i of A x from three numbers, exact.
#pragma once

#include <sextant/plugin/kinds/spmv.h>

#include "trial.hpp"

class Problem : public trial::Selected<sxt_spmv_args> {
 public:
  static constexpr const char *device = "@DEVICE@", *forced_kind = SXT_KIND_SPMV, *forced_kernel = "@FORCED@";
  static constexpr std::int64_t sizes[] = {1, 2, 7, 1000, 4097}, bench_size = 1000000;

  Problem(const sextant::Context &context, std::int64_t n)
      : Problem(context, n, trial::second_difference(context, n)) {}

  double error() const {
    const std::vector<double> got = y_.to_host<double>();
    trial::Distance distance(1e-15);
    for (std::int64_t i = 0; i < n_; ++i) {
      const double before = i > 0 ? trial::number(i - 1) : 0, after = i + 1 < n_ ? trial::number(i + 1) : 0;
      distance.add(got[static_cast<std::size_t>(i)], 2 * (2 * trial::number(i) - before - after) - trial::number(i));
    }
    return distance.worst();
  }

 private:
  static sxt_spmv_query query() {
    auto query = trial::matrix_query_of<sxt_spmv_query>(SXT_KIND_SPMV);
    query.op = SXT_NO_TRANSPOSE;
    query.n_rhs = 1;
    return query;
  }
  Problem(const sextant::Context &context, std::int64_t n, const sextant::Matrix &matrix)
      : Selected(context, SXT_KIND_SPMV, query(), matrix),
        n_(n),
        x_(sextant::Vector::copy_of(context, trial::numbers(n))),
        y_(sextant::Vector::copy_of(context, trial::numbers(n))) {
    args_.op = SXT_NO_TRANSPOSE;
    args_.n_rhs = 1;
    args_.alpha = {&alpha_, 0, 0};
    args_.beta = {&beta_, 0, 0};
    args_.x = x_.data<double>().data();
    args_.y = y_.data<double>().data();
  }

  const double alpha_ = 2, beta_ = -1;
  std::int64_t n_;
  sextant::Vector x_, y_;
};
