// SPDX-License-Identifier: BSD-3-Clause
// n numbers into the memory of the device and back.
#pragma once

#include <sextant/plugin/kinds/device.h>

#include "trial.hpp"

class Problem {
 public:
  // The context is of the device itself; a device is not forced.
  static constexpr const char *device = "@DEVICE_NAME@", *forced_kind = "", *forced_kernel = "@FORCED@";
  static constexpr std::int64_t sizes[] = {0, 1, 7, 1000}, bench_size = 4000000;

  Problem(const sextant::Context &context, std::int64_t n)
      : numbers_(trial::numbers(n)), got_(numbers_.size()), memory_(sextant::Vector::zeros<double>(context, n)) {}

  void run() {
    memory_.write(numbers_);
    memory_.read(got_);
  }
  double error() const { return got_ == numbers_ ? 0 : std::numeric_limits<double>::infinity(); }
  std::string kernel() const { return forced_kernel; }
  double predicted() const { return std::numeric_limits<double>::quiet_NaN(); }

 private:
  std::vector<double> numbers_, got_;
  sextant::Vector memory_;
};
