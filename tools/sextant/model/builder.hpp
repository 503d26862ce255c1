// SPDX-License-Identifier: BSD-3-Clause
// Measures points one after the other, fits after each, and stops when more would tell little.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/model/fit_text.hpp"
#include "model/points.hpp"
#include "model/suggest.hpp"

namespace tool {

struct BuilderSettings {
  bool all = false;             // every point of the set, in the order of suggestions
  double wanted = 0.05;         // stop when the cross-validated median error is below
  double seconds = 60;          // stop after
  double point_seconds = 0.03;  // one measurement
};

struct BuiltModel {
  sextant::FitLabel label;
  sextant::FittedModel fit;
  std::vector<ModelPoint> points;  // measured or not
  std::vector<std::size_t> order;  // in which they were measured
  std::vector<Suggestion> next;    // not measured yet, the best first
  std::string stopped;             // why, as a sentence
  double seconds = 0;              // all of it
};

// Called after each run with the number of runs and the fit so far.
using AfterRun = std::function<void(const BuiltModel &, const ModelPoint &)>;

// interrupted: asked before the first run, too, while the points are collected.
// Throws where the device failed, and says after how many points.
BuiltModel build_model(sxt_context *context, const ModelledKernel &kernel, const ModelSet &set,
                       const BuilderSettings &settings, const std::function<bool()> &interrupted,
                       const AfterRun &after);

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
std::vector<CurveStep> curve_of(const BuiltModel &built);
// The first step from which on the median error stays within `most`; null where there is none.
const CurveStep *enough(const std::vector<CurveStep> &curve, double most);

}  // namespace tool
