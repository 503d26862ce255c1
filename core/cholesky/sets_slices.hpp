// SPDX-License-Identifier: BSD-3-Clause
// A call's sets in slices: between two of them the caller is told, and may end the call.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/cholesky/sets.hpp"

namespace sextant::cholesky {

inline constexpr std::uint64_t most_staged = 64 << 20;  // bytes of some sets on their way to or from a device

inline std::int64_t sets_in(std::uint64_t bytes, std::uint64_t each, std::int64_t count) {
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(bytes / std::max<std::uint64_t>(1, each)), 1, count);
}

class Slices {
 public:
  // most: sets of a slice; seconds: predicted, of a set.
  Slices(const Watch &watch, std::int64_t first, std::int64_t count, std::int64_t most, double seconds)
      : watch_(watch), first_(first), count_(count), size_(std::clamp<std::int64_t>(most, 1, count)) {
    constexpr double told_s = 0.1;      // between two calls of the caller's function
    constexpr std::int64_t grain = 64;  // so many threads at least are kept busy
    if (!watch.progress || !(seconds > 0)) return;
    const double fit = told_s / seconds;
    if (fit < static_cast<double>(size_)) size_ = std::min(size_, (static_cast<std::int64_t>(fit) / grain + 1) * grain);
  }

  // f(first, count) -> sxt_status; the first that is not SXT_OK ends it. SXT_NOT_CONVERGED where the caller does.
  template <class F>
  sxt_status run(F &&f) const {
    for (std::int64_t done = 0; done < count_;) {
      if (watch_.cancel && __atomic_load_n(watch_.cancel, __ATOMIC_ACQUIRE)) return SXT_NOT_CONVERGED;
      const std::int64_t now = std::min(size_, count_ - done);
      if (const sxt_status status = f(first_ + done, now)) return status;
      done += now;
      if (watch_.progress && watch_.progress(watch_.user, done, count_)) return SXT_NOT_CONVERGED;
    }
    return SXT_OK;
  }

 private:
  const Watch &watch_;
  std::int64_t first_, count_, size_;
};

}  // namespace sextant::cholesky
