// SPDX-License-Identifier: BSD-3-Clause
// What measurements add to a fitted form where a model is a curve over one length: no form follows every step of a run
// time, but neighbouring lengths behave alike, so the smoothed residuals of those that were measured serve the others.
#pragma once

#include <vector>

namespace sextant {

struct Sample;

// Seconds to add, at working sets of first * 2^(k / nodes_an_octave) bytes; straight lines between.
struct Curve {
  static constexpr double nodes_an_octave = 2;
  double first = 0;
  std::vector<double> added;  // empty: nothing

  double at(double working_set) const;
};

// From samples and what the form says of each; one sample a working set is enough. Never more than half of the form's
// seconds either way.
Curve fit_curve(const std::vector<const Sample *> &samples, const std::vector<double> &form_seconds);

}  // namespace sextant
