// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>

namespace sextant {

// A call of a kernel through core, the waits that some of them are included, beside the kernel's own time: predicted.
inline constexpr double call_on_device_s = 8e-6, call_on_host_s = 5e-7;

// Seconds since it was made, by the steady clock.
class Clock {
 public:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace sextant
