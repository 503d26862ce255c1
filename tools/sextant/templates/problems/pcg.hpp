// SPDX-License-Identifier: BSD-3-Clause
// A x = A 1 with the second difference of n points by this engine, without a preconditioner: x is 1.
#pragma once

#include <sextant/plugin/kinds/pcg.h>

#include "trial.hpp"

class Problem {
 public:
  static constexpr const char *device = "@DEVICE@", *forced_kind = SXT_KIND_PCG, *forced_kernel = "@FORCED@";
  static constexpr std::int64_t sizes[] = {1, 2, 7, 500}, bench_size = 1000;

  Problem(const sextant::Context &context, std::int64_t n) : solver_(trial::second_difference(context, n), options()) {
    for (std::int64_t i = 0; i < n; ++i) b_.push_back(trial::row_sum(i, n));
  }

  void run() {
    x_.assign(b_.size(), 0);
    solver_.solve(b_, x_);
  }
  double error() const {
    trial::Distance distance(1e-6);
    for (const double each : x_) distance.add(each, 1);
    return distance.worst();
  }
  std::string kernel() const { return forced_kernel; }  // it is forced: no other can serve
  double predicted() const { return std::numeric_limits<double>::quiet_NaN(); }

 private:
  static sextant::PcgOptions options() {
    sextant::PcgOptions options;
    options.preconditioner = "none";
    options.rtol = 1e-12;
    return options;
  }

  sextant::Pcg solver_;
  std::vector<double> b_, x_;
};
