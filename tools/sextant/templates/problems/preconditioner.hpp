// SPDX-License-Identifier: BSD-3-Clause
// One application of M to b = A 1, A being the second difference of n points; conjugate gradients with M must find 1.
#pragma once

#include <sextant/plugin/kinds/preconditioner.h>

#include "trial.hpp"

class Problem : public trial::Selected<sxt_preconditioner_args> {
 public:
  static constexpr const char *device = "@DEVICE@", *forced_kind = SXT_KIND_PRECONDITIONER, *forced_kernel = "@FORCED@";
  static constexpr std::int64_t sizes[] = {1, 2, 7, 500}, bench_size = 1000000;

  Problem(const sextant::Context &context, std::int64_t n)
      : Problem(context, n, trial::second_difference(context, n)) {}

  // In units of 1e-6: a solve ends at its tolerance. Besides, r' M r must be positive.
  double error() {
    sextant::PcgOptions options;
    options.preconditioner = "@NAME@";
    options.rtol = 1e-12;
    std::vector<double> x(rhs_.size());
    sextant::Pcg(matrix_, options).solve(rhs_, x);
    trial::Distance distance(1e-6);
    for (const double each : x) distance.add(each, 1);
    const std::vector<double> z = z_.to_host<double>();
    double form = 0;
    for (std::size_t i = 0; i < z.size(); ++i) form += z[i] * rhs_[i];
    return form > 0 ? distance.worst() : std::numeric_limits<double>::infinity();
  }

 private:
  Problem(const sextant::Context &context, std::int64_t n, sextant::Matrix matrix)
      : Selected(context, SXT_KIND_PRECONDITIONER,
                 trial::matrix_query_of<sxt_preconditioner_query>(SXT_KIND_PRECONDITIONER), matrix),
        matrix_(std::move(matrix)),
        r_(sextant::Vector::zeros<double>(context, n)),
        z_(sextant::Vector::zeros<double>(context, n)) {
    for (std::int64_t i = 0; i < n; ++i) rhs_.push_back(trial::row_sum(i, n));
    r_.write(rhs_);
    args_.n = n;
    args_.r = r_.data<double>().data();
    args_.z = z_.data<double>().data();
  }

  sextant::Matrix matrix_;
  std::vector<double> rhs_;
  sextant::Vector r_, z_;
};
