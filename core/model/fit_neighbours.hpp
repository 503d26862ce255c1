// SPDX-License-Identifier: BSD-3-Clause
// What measurements add to a fitted form where no form follows every matrix: samples whose terms are alike were off
// alike, so what the form missed of them corrects what it says of others. Kernel ridge regression of the logarithm of
// the residuals (Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006, chapter 2) over the terms in
// octaves, with the rational quadratic kernel 1 / (1 + d^2 / reach^2), which costs a division and no exponential.
#pragma once

#include <cstddef>
#include <vector>

namespace sextant {

struct Sample;

struct Neighbours {
  static constexpr std::size_t most = 256;      // samples
  static constexpr double reach = 4;            // octaves: samples so far away count half
  static constexpr double weight_steps = 1e4;   // to one, in profiles
  static constexpr double most_factor = 0.405;  // of the natural logarithm: never more than one and a half either way

  std::vector<double> floors;  // of each term: what less counts as; 0: the term tells nothing apart
  // In hundredths of an octave above the floors: a row of samples for each term with a floor.
  std::vector<float> places;   // whole numbers
  std::vector<float> weights;  // of each sample; empty: no correction

  // What the form's seconds are to be multiplied by.
  double factor(const double *terms) const;
};

// From samples and what the form says of each. noise: variance of a sample that nothing explains, against that of what
// its neighbours explain.
Neighbours fit_neighbours(const std::vector<const Sample *> &samples, const std::vector<double> &form_seconds,
                          std::size_t n_terms, double noise);

}  // namespace sextant
