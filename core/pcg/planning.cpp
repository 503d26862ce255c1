// SPDX-License-Identifier: BSD-3-Clause
#include "core/pcg/planning.hpp"

#include <cmath>

namespace sextant {

// Choices are made for a number on a grid of powers of the square root of two: a plan that was saved then still fits
// when rounding, or other values on the same pattern, change the estimate a little.
Expectation Expectation::with(double number) const {
  Expectation out = *this;
  out.iterations = std::max(1.0, number);
  const double mean = mean_over * out.iterations;
  out.assumed = stated ? mean : std::round(std::exp2(std::round(2 * std::log2(mean)) / 2));
  return out;
}

Expectation Expectation::scattering(double mean_over_expected, double number) const {
  Expectation out = *this;
  out.mean_over = mean_over_expected;
  return out.with(number);
}

}  // namespace sextant
