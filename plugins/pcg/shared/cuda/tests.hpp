// SPDX-License-Identifier: BSD-3-Clause
// The tests that a device makes of a recurrence's numbers before it touches x, in the order of the questions to core:
// whether an iterate ends its block, then whether the coming step can be taken. Include from .cu files.
#pragma once

#include <cfloat>
#include <cstdint>

#include "plugins/pcg/shared/ended.hpp"

namespace sextant::plugin::pcg {

__device__ inline bool is_finite(double value) { return fabs(value) <= DBL_MAX; }

// Of the vectors' type; numbers below `smallest` have lost digits that a division would need.
struct Limits {
  double smallest, largest, epsilon;
};
__device__ constexpr Limits limits_of(bool single) {
  return single ? Limits{FLT_MIN, FLT_MAX, FLT_EPSILON} : Limits{DBL_MIN, DBL_MAX, DBL_EPSILON};
}
template <class V>
__device__ constexpr Limits limits_of() {
  return limits_of(sizeof(V) == 4);
}

// Iterate k by its r'r. Block: the host's request for the present one, by the names of plugins/pcg/shared/blocks.hpp,
// with tolerance_squared.
template <class Block>
__device__ Ended judge(const Block &block, std::int64_t k, double squared, const Limits &limits) {
  const bool first = k == block.first;
  if (!is_finite(squared)) return Ended::not_a_number;
  if (squared <= block.tolerance_squared && (!first || block.test_first)) return Ended::met;
  if (first && block.replaced_from >= 0 &&
      fabs(sqrt(squared) - block.replaced_from) > near_enough * block.replaced_from)
    return Ended::far;
  if (k >= block.last) return Ended::at_last;
  return squared < limits.smallest ? Ended::breakdown : Ended::running;
}

// A divisor that must be positive.
__device__ inline Ended usable(double value, Ended not_positive, const Limits &limits) {
  if (!is_finite(value)) return Ended::not_a_number;
  if (value <= 0) return not_positive;
  return value >= limits.smallest ? Ended::running : Ended::breakdown;
}

// alpha = gamma / divisor, if it is a number of the vectors' type.
__device__ inline Ended step_length(double gamma, double divisor, const Limits &limits, double *alpha) {
  *alpha = gamma / divisor;
  return *alpha >= limits.smallest && *alpha <= limits.largest ? Ended::running : Ended::breakdown;
}

}  // namespace sextant::plugin::pcg
