// SPDX-License-Identifier: BSD-3-Clause
// Which point to measure next: the one that lowers the uncertainty of all predictions most for the seconds that it
// takes.
//
// Sequential design of experiments: with the linear model of relative times that the fit has at its present
// coefficients, the variance of a prediction is x' M^-1 x, where M is the sum of x x' over what was measured. Adding a
// point p lowers the sum of these variances over the set by sum_i (x_i' M^-1 x_p)^2 / (1 + x_p' M^-1 x_p) (Cohn,
// Ghahramani and Jordan 1996).
#pragma once

#include <cstddef>
#include <vector>

#include "model/trial.hpp"

namespace tool {

struct Suggestion {
  std::size_t point = 0;
  double gain = 0;     // part of the remaining variance that it takes away
  double seconds = 0;  // that a measurement takes, about
};

class Design {
 public:
  // measure_seconds: what one measurement is given, beside making its matrix.
  Design(const std::vector<ModelPoint> &points, double measure_seconds);
  // The points that are not measured yet, the best first.
  std::vector<Suggestion> suggestions() const;
  void measured(std::size_t point);
  // How many times the error of a prediction is what it would be after all points, on average over the set: 1 after the
  // last one.
  double inflation() const;

 private:
  using Row = std::vector<double>;
  double along(const Row &a, const Row &b) const;  // a' M^-1 b
  void learn(const Row &x);                        // adds x x' to M
  double scatter() const;                          // of predictions, that of a measurement being 1
  std::vector<Row> rows_;
  std::vector<Row> inverse_;
  std::vector<double> seconds_;
  std::vector<bool> done_;
  double in_the_end_ = 1;  // scatter after all points
};

}  // namespace tool
