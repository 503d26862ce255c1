// SPDX-License-Identifier: BSD-3-Clause
// Fits to some points of a set, and what fewer of them would have given.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "core/model/fit.hpp"
#include "model/trial.hpp"

namespace tool {

// The fit of those points.
sextant::FittedModel fit_points(const std::vector<ModelPoint> &points, const std::vector<std::size_t> &which);
// Relative errors |fitted / measured - 1| of all measured points: median, 90th percentile.
struct Errors {
  double median = 0, p90 = 0;
};
Errors errors_of(const std::vector<ModelPoint> &points, const std::function<double(const ModelPoint &)> &predicted);
double fitted_seconds(const sextant::FittedModel &fit, const ModelPoint &point);

// What fewer measurements would have given: the errors, on every point that was measured, of the fit to the first
// `points` of them in their order.
struct CurveStep {
  std::size_t points = 0;
  Errors errors;
  double seconds = 0;  // that those points took
};
std::vector<CurveStep> curve_of(const std::vector<ModelPoint> &points, const std::vector<std::size_t> &order);
// The first step from which on the median error stays within `most`; null where there is none.
const CurveStep *enough(const std::vector<CurveStep> &curve, double most);

}  // namespace tool
