// SPDX-License-Identifier: BSD-3-Clause
// The feature of the second difference of n points: 2 (n - 1) of its 3 n - 2 entries are beside the diagonal.
#pragma once

#include "trial.hpp"

class Problem {
 public:
  // The library runs the kernel that has the name; none is forced.
  static constexpr const char *device = "@DEVICE@", *forced_kind = "", *forced_kernel = "@FORCED@";
  static constexpr std::int64_t sizes[] = {1, 2, 7, 1000}, bench_size = 1000000;

  Problem(const sextant::Context &context, std::int64_t n) : context_(context), n_(n) {}

  // A matrix keeps its features, so that each run makes one.
  void run() { value_ = trial::second_difference(context_, n_).feature("@SYMBOL@_mean_distance"); }
  double error() const {
    trial::Distance distance(1e-15);
    distance.add(value_, static_cast<double>(2 * (n_ - 1)) / static_cast<double>(3 * n_ - 2));
    return distance.worst();
  }
  std::string kernel() const { return forced_kernel; }
  double predicted() const { return std::numeric_limits<double>::quiet_NaN(); }

 private:
  const sextant::Context &context_;
  std::int64_t n_;
  double value_ = -1;
};
