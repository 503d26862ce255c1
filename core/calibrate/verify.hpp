// SPDX-License-Identifier: BSD-3-Clause
// Predicted against measured time for every candidate of a product, and what the numbers of many matrices say about the
// models: how far predictions are off, and what the choices made by them cost.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sextant/types.h"

namespace sextant {

class Matrix;

inline constexpr int verify_races = 2;  // of two candidates, and of three

struct VerifyLine {
  std::int64_t matrix = 0;
  std::string kernel, format;
  std::int64_t launch[4] = {0, 0, 0, 0};
  double predicted_setup_s = 0, predicted_run_s = 0, rel_error = 0;
  double measured_setup_s = 0, measured_run_s = 0, noise = 0;
  double select_s = 0;  // measured seconds of choosing, part of what the chosen candidate costs
  int repeats = 0;
  bool chosen = false, estimated = true;
};

// The model's choice, had it been decided by a race of the first few (core/choose/race_field.hpp), without what the
// race takes, which is told beside it.
struct RaceSummary {
  double top1_accuracy = 0;
  double regret_geomean = 1, regret_p95 = 1;
  double price = 0;  // median, in products of what it chose
};

struct VerifySummary {
  std::int64_t matrices = 0, candidates = 0;
  double median_relative_error = 0, p90_relative_error = 0;
  double top1_accuracy = 0;
  double regret_geomean = 1, regret_p95 = 1, regret_max = 1;
  double noise_median = 0;
  RaceSummary races[verify_races];
};

struct VerifySettings {
  double applies = 1000, candidate_s = 0.05;
  sxt_op op = SXT_NO_TRANSPOSE;
  bool references = false;
};

// Gives every candidate's line to `tell` until it answers false. The matrix holds the storages it held before.
void verify_model(Matrix &matrix, const VerifySettings &settings, const std::function<bool(const VerifyLine &)> &tell);

// Totals within this factor of the best are a tie.
inline constexpr double verify_tie = 1.03;

// Kernels without a model count for regret, not for errors. Matrices without a chosen line count for errors only.
VerifySummary summarise(const std::vector<VerifyLine> &lines, double applies);

}  // namespace sextant
