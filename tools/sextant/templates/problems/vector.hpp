// SPDX-License-Identifier: BSD-3-Clause
// y = 2 x - y with equal x and y: y must come back.
#pragma once

#include <sextant/plugin/kinds/vector.h>

#include "trial.hpp"

// The library fills new vectors by kernels of this kind, too: they are made before the kernel is forced.
struct Operands {
  sextant::Vector x, y;
};

class Problem : Operands, public trial::Selected<sxt_vector_args> {
 public:
  static constexpr const char *device = "@DEVICE@", *forced_kind = "", *forced_kernel = "@FORCED@";
  static constexpr std::int64_t sizes[] = {0, 1, 7, 1000, 65537}, bench_size = 4000000;

  Problem(sextant::Context &context, std::int64_t n)
      : Operands{sextant::Vector::copy_of(context, trial::numbers(n)),
                 sextant::Vector::copy_of(context, trial::numbers(n))},
        Selected(trial::forced(context, SXT_KIND_VECTOR, forced_kernel), SXT_KIND_VECTOR, query(n)) {
    context.unforce(SXT_KIND_VECTOR);
    args_.n = n;
    args_.operation = SXT_VECTOR_AXPBY;
    args_.alpha = {&alpha_, 0, 0};
    args_.beta = {&beta_, 0, 0};
    args_.x = x.data<double>().data();
    args_.y = y.data<double>().data();
  }

  double error() const {
    const std::vector<double> got = y.to_host<double>();
    trial::Distance distance(1e-15);
    for (std::size_t i = 0; i < got.size(); ++i) distance.add(got[i], trial::number(static_cast<std::int64_t>(i)));
    return distance.worst();
  }

 private:
  static sxt_vector_query query(std::int64_t n) {
    auto query = trial::query_of<sxt_vector_query>(SXT_KIND_VECTOR);
    query.n = n;
    query.operation = SXT_VECTOR_AXPBY;
    return query;
  }

  const double alpha_ = 2, beta_ = -1;
};
