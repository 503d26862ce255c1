// SPDX-License-Identifier: BSD-3-Clause
// Inside the fit: one form with given breakpoints. Which form is used is decided in fit_choice.cpp.
#pragma once

#include <array>
#include <vector>

#include "core/model/fit.hpp"

namespace sextant {

inline constexpr std::size_t most_regimes = 3;

// What all forms of one problem share.
struct Layout {
  std::vector<Group> groups;
  std::vector<double> prior;  // times the factor that suits the samples
};

// Coefficients in one row after the other of [regime][term]; those of latency stand in regime 0 only.
struct FormFit {
  double power = 1;
  std::vector<double> breakpoints;
  std::vector<double> coefficients;
  // Seconds; gradient, if given, gets the derivative by each coefficient and is zero where it is not written.
  double evaluate(const Layout &layout, const double *terms, double working_set, double *gradient = nullptr) const;
};

// How much each regime says about this working set; they add up to 1.
std::array<double, most_regimes> regime_weights(const std::vector<double> &breakpoints, double working_set);

FormFit fit_form(const Layout &layout, const std::vector<const Sample *> &samples, double power,
                 const std::vector<double> &breakpoints);

}  // namespace sextant
