// SPDX-License-Identifier: BSD-3-Clause
// What the probe of a plan and the trials of other preconditioners have in common.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>

#include "core/pcg/solver.hpp"
#include "core/run/choice.hpp"

namespace sextant {

// Fewer iterations tell nothing; after more, residuals of most matrices have shown their rate.
inline constexpr std::int64_t least_steps = 10, most_steps = 80;
// Below this predicted total not even looking at another preconditioner would pay.
inline constexpr double worth_looking_s = 5e-3;

// Two digits: more would claim to be known.
inline std::string about(double value) {
  char out[32];
  std::snprintf(out, sizeof out, "%.2g", value);
  return out;
}

inline double tolerance_of(const PcgSettings &settings) { return settings.rtol > 0 ? settings.rtol : 1e-8; }

inline double total_of(const Choice &engine, double solves) {
  return engine.setup_s + engine.storage_s + std::max(1.0, solves) * engine.run_s;
}

}  // namespace sextant
