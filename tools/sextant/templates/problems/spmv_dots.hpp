// SPDX-License-Identifier: BSD-3-Clause
// y = A x of the second difference, and x . y and y . y, exact: every number is a multiple of 1/4096.
#pragma once

#include <sextant/plugin/kinds/spmv_dots.h>

#include "trial.hpp"

class Problem : public trial::Selected<sxt_spmv_dots_args> {
 public:
  static constexpr const char *device = "@DEVICE@", *forced_kind = SXT_KIND_SPMV_DOTS, *forced_kernel = "@FORCED@";
  static constexpr std::int64_t sizes[] = {1, 2, 7, 1000, 4097}, bench_size = 1000000;

  Problem(const sextant::Context &context, std::int64_t n)
      : Problem(context, n, trial::second_difference(context, n)) {}

  double error() const {
    double x_y = 0, y_y = 0;
    for (std::int64_t i = 0; i < n_; ++i) {
      const double before = i > 0 ? trial::number(i - 1) : 0, after = i + 1 < n_ ? trial::number(i + 1) : 0;
      const double y = 2 * trial::number(i) - before - after;
      x_y += trial::number(i) * y;
      y_y += y * y;
    }
    const std::vector<double> got = dots_.to_host<double>();
    trial::Distance distance(1e-12 * (1 + y_y));
    distance.add(got[0], x_y);
    distance.add(got[1], y_y);
    return distance.worst();
  }

 private:
  static sxt_spmv_dots_query query() {
    auto query = trial::matrix_query_of<sxt_spmv_dots_query>(SXT_KIND_SPMV_DOTS);
    query.m.op = SXT_NO_TRANSPOSE;
    query.m.n_rhs = 1;
    query.n_dots = 2;
    return query;
  }
  Problem(const sextant::Context &context, std::int64_t n, const sextant::Matrix &matrix)
      : Selected(context, SXT_KIND_SPMV_DOTS, query(), matrix),
        n_(n),
        x_(sextant::Vector::copy_of(context, trial::numbers(n))),
        y_(sextant::Vector::zeros<double>(context, n)),
        dots_(sextant::Vector::zeros<double>(context, 2)) {
    u_[0] = x_.data<double>().data();
    u_[1] = v_[0] = v_[1] = nullptr;  // the new y
    args_.m.op = SXT_NO_TRANSPOSE;
    args_.m.n_rhs = 1;
    args_.m.alpha = {&one_, 0, 0};
    args_.m.beta = {&zero_, 0, 0};
    args_.m.x = u_[0];
    args_.m.y = y_.data<double>().data();
    args_.n_dots = 2;
    args_.u = u_;
    args_.v = v_;
    args_.dots = dots_.data<double>().data();
  }

  const double one_ = 1, zero_ = 0;
  const void *u_[2], *v_[2];
  std::int64_t n_;
  sextant::Vector x_, y_, dots_;
};
