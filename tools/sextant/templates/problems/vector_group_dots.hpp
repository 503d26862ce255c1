// SPDX-License-Identifier: BSD-3-Clause
// x += 2 p, r -= 2 q with equal vectors, and x . r of the new ones: -3 times the sum of squares, exact.
#pragma once

#include <sextant/plugin/kinds/vector_group_dots.h>

#include "trial.hpp"

class Problem : public trial::Selected<sxt_vector_group_dots_args> {
 public:
  static constexpr const char *device = "@DEVICE@", *forced_kind = SXT_KIND_VECTOR_GROUP_DOTS,
                              *forced_kernel = "@FORCED@";
  static constexpr std::int64_t sizes[] = {1, 7, 1000, 65537}, bench_size = 4000000;

  Problem(const sextant::Context &context, std::int64_t n)
      : Selected(context, SXT_KIND_VECTOR_GROUP_DOTS, query(n)),
        n_(n),
        dots_(sextant::Vector::zeros<double>(context, 1)) {
    args_.g.n = n;
    args_.g.group = SXT_GROUP_CLASSICAL_XR;
    args_.g.scalars[0] = {&alpha_, 0, 0};
    for (int v = 0; v < 4; ++v) {
      vectors_.push_back(sextant::Vector::copy_of(context, trial::numbers(n)));
      args_.g.vectors[v] = vectors_.back().data<double>().data();
    }
    args_.n_dots = 1;
    args_.a[0] = 0, args_.b[0] = 1;
    args_.dots = dots_.data<double>().data();
  }

  // After one run, which changes what it reads.
  double error() const {
    double squares = 0;
    for (std::int64_t i = 0; i < n_; ++i) squares += trial::number(i) * trial::number(i);
    trial::Distance distance(1e-12 * (1 + squares));
    distance.add(dots_.to_host<double>()[0], -3 * squares);
    return distance.worst();
  }

 private:
  static sxt_vector_group_dots_query query(std::int64_t n) {
    auto query = trial::query_of<sxt_vector_group_dots_query>(SXT_KIND_VECTOR_GROUP_DOTS);
    query.n = n;
    query.group = SXT_GROUP_CLASSICAL_XR;
    query.n_dots = 1;
    return query;
  }

  const double alpha_ = 2;
  std::int64_t n_;
  std::vector<sextant::Vector> vectors_;
  sextant::Vector dots_;
};
