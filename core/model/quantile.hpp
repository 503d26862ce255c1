// SPDX-License-Identifier: BSD-3-Clause
// Quantiles of measured times and errors.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace sextant {

// The q-quantile (0..1) with linear interpolation between order statistics; 0 when there are none.
inline double quantile(std::vector<double> values, double q) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const double place = q * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (place - static_cast<double>(below)) * (values[above] - values[below]);
}

}  // namespace sextant
