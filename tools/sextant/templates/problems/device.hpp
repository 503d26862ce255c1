// SPDX-License-Identifier: BSD-3-Clause
// n numbers into the memory of the device and back, by the operations of its table. The context of the test shows that
// the library opens it; vectors there need kernels of other kinds.
#pragma once

#include <sextant/plugin/kinds/device.h>

#include "trial.hpp"

class Problem {
 public:
  static constexpr const char *device = "@DEVICE_NAME@", *forced_kind = "", *forced_kernel = "@FORCED@";
  static constexpr std::int64_t sizes[] = {0, 1, 7, 1000}, bench_size = 4000000;

  Problem(const sextant::Context &, std::int64_t n) : numbers_(trial::numbers(n)) {}

  void run() {
    got_.assign(numbers_.size(), -1);
    const auto &ops = *static_cast<const sxt_device_ops *>(kernel_->ops);
    const std::uint64_t bytes = numbers_.size() * sizeof(double);
    void *opened = nullptr, *memory = nullptr;
    if (ops.open(nullptr, 0, &opened) != SXT_OK) return;
    if (ops.alloc(opened, nullptr, SXT_SPACE_DEVICE, bytes, 256, &memory) == SXT_OK) {
      ops.copy(opened, nullptr, memory, numbers_.data(), bytes);
      ops.copy(opened, nullptr, got_.data(), memory, bytes);
      ops.free(opened, nullptr, SXT_SPACE_DEVICE, memory);
    }
    ops.close(opened);
  }
  double error() const { return got_ == numbers_ ? 0 : std::numeric_limits<double>::infinity(); }
  std::string kernel() const { return kernel_ ? kernel_->name : "none"; }
  double predicted() const { return std::numeric_limits<double>::quiet_NaN(); }

 private:
  const sxt_kernel *kernel_ = trial::kernel_of_file();
  std::vector<double> numbers_, got_;
};
