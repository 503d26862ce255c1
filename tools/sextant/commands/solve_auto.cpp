// SPDX-License-Identifier: BSD-3-Clause
#include "commands/solve_auto.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "commands/solve_cholesky.hpp"
#include "report/table.hpp"
#include "sextant/plugin/kinds/pcg.h"

namespace tool {
namespace {

// The least that an order and a structure take: assumed, not measured on this machine.
constexpr double analysis_s = 5e-4, analysis_s_an_entry = 2e-7;

// Seconds of all solves that are expected; NaN: no engine was chosen.
double pcg_seconds(const Json &explanation, const SolveOptions &options) {
  const auto plan = explanation.find("plan");
  const Json *const engine = plan == explanation.end() ? nullptr : find_kind(*plan, SXT_KIND_PCG);
  return std::max(1.0, options.setup.expected_solves) * (engine ? number_of(*engine, "predicted_run_s") : NAN);
}

Json told(const char *chosen, std::string why, double pcg_s) {
  Json out;
  out["chosen"] = chosen;
  out["why"] = std::move(why);
  out["pcg_seconds"] = std::isfinite(pcg_s) ? Json(pcg_s) : Json();
  out["cholesky_seconds"] = nullptr;
  out["cholesky_bytes"] = nullptr;
  return out;
}

}  // namespace

std::string option_of_pcg(const SolveOptions &options) {
  const std::pair<bool, const char *> given[] = {{options.format != "auto", "--format"},
                                                 {options.preconditioner != "auto", "--precond"},
                                                 {options.recurrence != "auto", "--recurrence"},
                                                 {!options.engine.empty(), "--engine"},
                                                 {options.setup.reorder != "auto", "--reorder"},
                                                 {options.setup.null_space != "none", "--null-space"},
                                                 {options.max_iterations > 0, "--max-iterations"},
                                                 {options.time_limit > 0, "--time-limit"},
                                                 {!options.plan.empty(), "--plan"},
                                                 {!options.save_plan.empty(), "--save-plan"},
                                                 {!options.history.empty(), "--history"}};
  for (const auto &[is_given, name] : given)
    if (is_given) return name;
  return "";
}

Comparison compare_methods(sxt_context *context, const LoadedMatrix &matrix, const sxt_pcg *pcg,
                           const SolveOptions &options) {
  if (!option_of_pcg(options).empty()) return {};
  const Json explanation = explain_json(pcg);
  const double pcg_s = pcg_seconds(explanation, options);
  if (!(pcg_s > 0)) return {};
  const double least_s = analysis_s + analysis_s_an_entry * static_cast<double>(matrix.info.nnz);
  if (pcg_s < least_s)
    return {nullptr, told("pcg",
                          fmt::format("no direct solve: its analysis would take at least {}, conjugate gradients {}",
                                      seconds_text(least_s), seconds_text(pcg_s)),
                          pcg_s)};
  Comparison out;
  out.analysis = analyse(context, matrix, options);
  const sxt_analysis_info info = about(context, out.analysis);
  const double solves = std::max(1.0, options.setup.expected_solves);
  // A solve is refined once at least, which takes a residual and another solve.
  const double direct_s = info.predicted_factor_seconds + 2 * solves * info.predicted_solve_seconds;
  const std::uint64_t bytes = info.host_bytes + info.device_bytes;
  const bool direct = direct_s < pcg_s;
  out.about = told(direct ? "cholesky" : "pcg",
                   fmt::format("a direct solve is predicted to take {} and {}, conjugate gradients {}",
                               seconds_text(direct_s), bytes_text(bytes), seconds_text(pcg_s)),
                   pcg_s);
  out.about["cholesky_seconds"] = direct_s;
  out.about["cholesky_bytes"] = bytes;
  if (!direct) out.analysis.reset();
  return out;
}

bool leaves_pcg(sxt_status status) {
  return status == SXT_E_MEMORY || status == SXT_E_NOT_POSITIVE_DEFINITE || status == SXT_E_NOT_FINITE ||
         status == SXT_E_NO_KERNEL || status == SXT_E_NOT_SUPPORTED;
}

Json after_failure(Json about, const ToolError &error) {
  if (!about.is_object()) about = told("pcg", "", std::numeric_limits<double>::quiet_NaN());  // before predictions
  about["chosen"] = "pcg";
  about["why"] = fmt::format("conjugate gradients, as the direct solve failed: {}", error.what());
  return about;
}

}  // namespace tool
