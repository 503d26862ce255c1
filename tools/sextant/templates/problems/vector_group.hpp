// SPDX-License-Identifier: BSD-3-Clause
// x += 2 p, r -= 2 q with equal x, r, p and q: three times the number, and its negative.
#pragma once

#include <sextant/plugin/kinds/vector_group.h>

#include "trial.hpp"

class Problem : public trial::Selected<sxt_vector_group_args> {
 public:
  static constexpr const char *device = "@DEVICE@", *forced_kind = SXT_KIND_VECTOR_GROUP, *forced_kernel = "@FORCED@";
  static constexpr std::int64_t sizes[] = {0, 1, 7, 1000, 65537}, bench_size = 4000000;

  Problem(const sextant::Context &context, std::int64_t n) : Selected(context, SXT_KIND_VECTOR_GROUP, query(n)) {
    args_.n = n;
    args_.group = SXT_GROUP_CLASSICAL_XR;
    args_.scalars[0] = {&alpha_, 0, 0};
    for (int v = 0; v < 4; ++v) {
      vectors_.push_back(sextant::Vector::copy_of(context, trial::numbers(n)));
      args_.vectors[v] = vectors_.back().data<double>().data();
    }
  }

  // After one run, which changes what it reads.
  double error() const {
    const std::vector<double> x = vectors_[0].to_host<double>(), r = vectors_[1].to_host<double>();
    trial::Distance distance(1e-15);
    for (std::size_t i = 0; i < x.size(); ++i) {
      distance.add(x[i], 3 * trial::number(static_cast<std::int64_t>(i)));
      distance.add(r[i], -trial::number(static_cast<std::int64_t>(i)));
    }
    return distance.worst();
  }

 private:
  static sxt_vector_group_query query(std::int64_t n) {
    auto query = trial::query_of<sxt_vector_group_query>(SXT_KIND_VECTOR_GROUP);
    query.n = n;
    query.group = SXT_GROUP_CLASSICAL_XR;
    return query;
  }

  const double alpha_ = 2;
  std::vector<sextant::Vector> vectors_;
};
