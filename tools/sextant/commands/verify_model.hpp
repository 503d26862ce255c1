// SPDX-License-Identifier: BSD-3-Clause
// The judgement of verify-model, for other subcommands.
#pragma once

#include <string>
#include <vector>

#include "report/output.hpp"
#include "sextant/sextant.h"

namespace tool {

// What lines of many matrices say together.
struct Judgement {
  sxt_verify_summary summary{};
  double within_error_bars = 0;  // share of the runs that a model predicted within its error bar and the repeats' noise
};
Judgement judge(const std::vector<sxt_verify_line> &lines, double applies);
// {matrices, candidates, median_relative_error, p90_relative_error, within_error_bars, regret_geomean, regret_max,
// top1_accuracy}
Json judgement_json(const Judgement &judgement);
std::string judgement_text(const Judgement &judgement, double applies);

// Every candidate for products with generated matrices of three sizes, none of which any calibration makes.
Judgement verify_on_generated(sxt_context *context, double applies);

}  // namespace tool
