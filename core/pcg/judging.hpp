// SPDX-License-Identifier: BSD-3-Clause
// When a solve gives up, and how it goes on after a true residual that missed the target: for every loop that a host
// accompanies.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/pcg/settings.hpp"
#include "sextant/sdk/pcg_confirm.hpp"

namespace sextant {

// Iterations without a new least residual, where the caller names no number: sxt_pcg_options says so.
inline constexpr std::int64_t usual_window = 10000;

// Of the recursive residuals of one solve, in the order of iterations.
class Progress {
 public:
  // NONE to go on.
  sxt_reason judge(std::int64_t iteration, double residual, const PcgSettings &settings) {
    if (!std::isfinite(residual)) return SXT_REASON_NOT_A_NUMBER;
    if (iteration == 0) first_ = least_ = residual;
    if (residual < least_) least_ = residual, least_at_ = iteration;
    if (first_ > 0 && residual > settings.divergence_limit * first_) return SXT_REASON_DIVERGED;
    const std::int64_t window = settings.stagnation_window > 0 ? settings.stagnation_window : usual_window;
    return iteration - least_at_ >= window ? SXT_REASON_STAGNATED : SXT_REASON_NONE;
  }
  double first() const noexcept { return first_; }

 private:
  double first_ = 0, least_ = 0;
  std::int64_t least_at_ = 0;
};

// Of true residuals that missed the target.
class Misses {
 public:
  // True: rounding has the last word, since further work does not lower the true residual, or the recurrence believes
  // that it is done. norm: the true one, before: that of the confirmation before it, if there was one.
  bool hopeless(bool first, double norm, double before, double recursive) {
    fruitless_ = !first && norm > 0.5 * before ? fruitless_ + 1 : 0;
    if (recursive > 0 && fruitless_ < confirming::patience) return false;
    if (recursive > 0 || fruitless_ >= 1) return true;
    ++fruitless_;
    return false;
  }
  // Where the engine should ask next. system: 2-norm of the true residual in the engine's system; the caller's norm of
  // it differs by scaling and norm, and should meet the target.
  static double next_tolerance(double system, double norm, double target) {
    return std::clamp(confirming::aim * system * (target / norm), confirming::least_step * system, 0.9 * system);
  }

 private:
  int fruitless_ = 0;
};

}  // namespace sextant
