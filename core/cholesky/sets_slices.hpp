// SPDX-License-Identifier: BSD-3-Clause
// A call's sets in slices: between two of them the caller is told, and may end the call.
#pragma once

#include <algorithm>
#include <chrono>
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
      : watch_(watch),
        first_(first),
        count_(count),
        most_(std::clamp<std::int64_t>(most, 1, count)),
        seconds_(seconds) {}

  // f(first, count) -> sxt_status; the first that is not SXT_OK ends it. SXT_NOT_CONVERGED where the caller does.
  template <class F>
  sxt_status run(F &&f) const {
    using Clock = std::chrono::steady_clock;
    std::int64_t size = sets_of(first_s, seconds_);
    for (std::int64_t done = 0; done < count_;) {
      if (watch_.cancel && __atomic_load_n(watch_.cancel, __ATOMIC_ACQUIRE)) return SXT_NOT_CONVERGED;
      const std::int64_t now = std::min(size, count_ - done);
      const Clock::time_point start = Clock::now();
      if (const sxt_status status = f(first_ + done, now)) return status;
      size = sets_of(told_s, std::chrono::duration<double>(Clock::now() - start).count() / static_cast<double>(now));
      done += now;
      if (watch_.progress && watch_.progress(watch_.user, done, count_)) return SXT_NOT_CONVERGED;
    }
    return SXT_OK;
  }

 private:
  static constexpr double told_s = 0.1;      // between two calls of the caller's function
  static constexpr double first_s = 0.02;    // before the first: predictions may be far off
  static constexpr std::int64_t grain = 64;  // so many threads at least are kept busy

  // Sets of a slice that takes so long. All there may be, where the caller is told nothing.
  std::int64_t sets_of(double slice_s, double set_s) const {
    if (!watch_.progress || !(set_s > 0)) return most_;
    const double fit = slice_s / set_s;
    if (!(fit < static_cast<double>(most_))) return most_;
    return std::min(most_, (static_cast<std::int64_t>(fit) / grain + 1) * grain);
  }

  const Watch &watch_;
  std::int64_t first_, count_, most_;
  double seconds_;
};

}  // namespace sextant::cholesky
