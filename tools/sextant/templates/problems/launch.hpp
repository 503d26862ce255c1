// SPDX-License-Identifier: BSD-3-Clause
// n configurations of which the last has the largest blocks that a multiprocessor can hold. The library alone calls
// policies, and programs cannot: the kernel's table is taken from the file.
#pragma once

#include <sextant/plugin/kinds/launch.h>

#include "trial.hpp"

class Problem {
 public:
  static constexpr const char *device = "@DEVICE@", *forced_kind = "", *forced_kernel = "@FORCED@";
  static constexpr std::int64_t sizes[] = {1, 2, 5}, bench_size = 16;

  Problem(const sextant::Context &, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i)
      configs_.push_back({1, i + 1 < n ? 2048 : 256, 0, 32, 1e-6});  // 2048 threads are too many for a block
    args_.h = {sizeof args_, SXT_KIND_LAUNCH};
    args_.limits = {10, 2048, 16, 65536, 49152, 1024, 49152, 32};
    args_.count = n;
    args_.configs = configs_.data();
  }

  void run() {
    args_.chosen = -2;
    const sxt_exec exec{};
    if (kernel_ && kernel_->run(nullptr, nullptr, &args_.h, &exec) != SXT_OK) args_.chosen = -2;
  }
  double error() const { return args_.chosen == args_.count - 1 ? 0 : std::numeric_limits<double>::infinity(); }
  std::string kernel() const { return kernel_ ? kernel_->name : "none"; }
  double predicted() const { return std::numeric_limits<double>::quiet_NaN(); }

 private:
  const sxt_kernel *kernel_ = trial::kernel_of_file();
  std::vector<sxt_launch_config> configs_;
  sxt_launch_args args_{};
};
