// SPDX-License-Identifier: BSD-3-Clause
// Measures points one after the other, fits after each, and stops when more would tell little.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/model/fit_text.hpp"
#include "model/curve.hpp"
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

}  // namespace tool
