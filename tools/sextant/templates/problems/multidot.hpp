// SPDX-License-Identifier: BSD-3-Clause
// x . x and x . 1 in one pass, exact: every product is a multiple of 1/4096.
#pragma once

#include <sextant/plugin/kinds/multidot.h>

#include "trial.hpp"

class Problem : public trial::Selected<sxt_multidot_args> {
 public:
  static constexpr const char *device = "@DEVICE@", *forced_kind = SXT_KIND_MULTIDOT, *forced_kernel = "@FORCED@";
  static constexpr std::int64_t sizes[] = {0, 1, 7, 1000, 65537}, bench_size = 4000000;

  Problem(const sextant::Context &context, std::int64_t n)
      : Selected(context, SXT_KIND_MULTIDOT, query(n)),
        n_(n),
        x_(sextant::Vector::copy_of(context, trial::numbers(n))),
        ones_(sextant::Vector::copy_of(context, std::vector<double>(static_cast<std::size_t>(n), 1.0))),
        result_(sextant::Vector::zeros<double>(context, 2)) {
    u_[0] = u_[1] = v_[0] = x_.data<double>().data();
    v_[1] = ones_.data<double>().data();
    args_.n = n;
    args_.n_dots = 2;
    args_.u = u_;
    args_.v = v_;
    args_.result = result_.data<double>().data();
  }

  double error() const {
    double squares = 0, sum = 0;
    for (std::int64_t i = 0; i < n_; ++i) squares += trial::number(i) * trial::number(i), sum += trial::number(i);
    const std::vector<double> got = result_.to_host<double>();
    trial::Distance distance(1e-12 * (1 + squares));
    distance.add(got[0], squares);
    distance.add(got[1], sum);
    return distance.worst();
  }

 private:
  static sxt_multidot_query query(std::int64_t n) {
    auto query = trial::query_of<sxt_multidot_query>(SXT_KIND_MULTIDOT);
    query.n = n;
    query.n_dots = query.distinct = 2;
    return query;
  }

  const void *u_[2], *v_[2];
  std::int64_t n_;
  sextant::Vector x_, ones_, result_;
};
