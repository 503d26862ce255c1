// SPDX-License-Identifier: BSD-3-Clause
// What sextant solve was asked, how the solve went, and how it says so.
#pragma once

#include <cstdint>
#include <string>

#include "input/context_options.hpp"
#include "input/matrix_input.hpp"
#include "input/solver_options.hpp"
#include "report/explanation.hpp"
#include "sextant/sextant.h"

namespace tool {

struct SolveOptions : SolverOptions {
  ContextOptions context;
  std::string matrix, rhs, method = "auto", order = "auto", scheduler, factor_precision = "working";
  std::string plan, save_plan, output, history, keep;
  bool rhs_ones = false, plan_required = false, json = false, verbose = false;
};

struct Outcome {
  sxt_status status = SXT_OK;
  std::string sentence;  // why it did not converge
  sxt_pcg_report report{};
  Json explanation;
  std::string explanation_text;
  Json comparison;  // with a direct solve, where --method auto made one; else null
};

double norm(const HostVector &vector);  // the 2-norm, without overflow
// The relative residual at which a solve ends: max(rtol |b|, atol) / |b|. Files are f64 or c128.
double wanted(const SolveOptions &options, double rhs_norm);
std::string rhs_text(const SolveOptions &options);
// A report with every key, all of them null: scripts need one schema for all methods and for failures.
Json empty_report();
void print_json_report(Outcome &outcome, const SolveOptions &options, const LoadedMatrix &matrix);
void print_text_report(Outcome &outcome, const SolveOptions &options, const LoadedMatrix &matrix);
void print_json_failure(const ToolError &error, const SolveOptions &options);

}  // namespace tool
