// SPDX-License-Identifier: BSD-3-Clause
// Three systems of order n with 2 on the diagonal and -1 beside it, b = A 1: the solutions are 1.
#pragma once

#include <sextant/plugin/kinds/@HEADER@.h>

#include "trial.hpp"

class Problem {
 public:
  static constexpr const char *device = "@DEVICE@", *forced_kind = "@KIND@", *forced_kernel = "@FORCED@";
  static constexpr std::int64_t sizes[] = {1, 2, 7, 40}, bench_size = 100;

  Problem(const sextant::Context &context, std::int64_t n) : n_(n), solver_(context, options(n)) {}

  void run() {
    std::vector<double> a(static_cast<std::size_t>(systems * n_ * n_));
    x_.assign(static_cast<std::size_t>(systems * n_), 0);
    for (std::int64_t s = 0; s < systems; ++s)
      for (std::int64_t j = 0; j < n_; ++j) {
        x_[static_cast<std::size_t>(s * n_ + j)] = trial::row_sum(j, n_);
        for (std::int64_t i = 0; i < n_; ++i)
          a[static_cast<std::size_t>((s * n_ + j) * n_ + i)] = i == j ? 2 : std::abs(i - j) == 1 ? -1 : 0;
      }
    info_ = solver_.factor_solve(a, x_);
  }
  double error() const {
    trial::Distance distance(1e-9);
    for (const double each : x_) distance.add(each, 1);
    for (const std::int32_t each : info_) distance.add(each, 0);
    return distance.worst();
  }
  std::string kernel() const { return forced_kernel; }  // it is forced: no other can serve
  double predicted() const { return std::numeric_limits<double>::quiet_NaN(); }

 private:
  static constexpr std::int64_t systems = 3;
  static sextant::HermitianOptions options(std::int64_t n) {
    sextant::HermitianOptions options;
    options.batch = systems;
    options.n = n;
    options.space = SXT_SPACE_HOST;
    // What calls for the kernel.@HERMITIAN_OPTION@
    return options;
  }

  std::int64_t n_;
  sextant::Hermitian solver_;
  std::vector<double> x_;
  std::vector<std::int32_t> info_;
};
