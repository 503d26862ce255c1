// SPDX-License-Identifier: BSD-3-Clause
#include "commands/solve_report.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "report/table.hpp"
#include "sextant/plugin/kinds/pcg.h"

namespace tool {
namespace {

// In their order.
constexpr const char *report_keys[] = {"status",
                                       "reason",
                                       "iterations",
                                       "true_relative_residual",
                                       "method",
                                       "comparison",
                                       "preconditioner",
                                       "recurrence",
                                       "format",
                                       "kernels",
                                       "predicted_seconds",
                                       "measured_seconds",
                                       "plan",
                                       "predicted_setup_seconds",
                                       "predicted_solve_seconds",
                                       "measured_setup_seconds",
                                       "measured_solve_seconds",
                                       "rhs_norm",
                                       "residual_norm",
                                       "residual_bound",
                                       "rounding_limit",
                                       "recursive_residual",
                                       "confirmations",
                                       "replacements",
                                       "products",
                                       "reductions",
                                       "launches",
                                       "null_space_norm",
                                       "predicted_iteration_seconds",
                                       "measured_iteration_seconds",
                                       "predicted_residual_seconds",
                                       "measured_residual_seconds",
                                       "predicted_iterations",
                                       "probe_iterations",
                                       "probe_seconds",
                                       "rhs",
                                       "matrix"};

// The preconditioner in use: the first word of what the library says ("jacobi (as symmetric scaling)"), else what was
// asked for.
std::string preconditioner_of(Outcome &outcome, const SolveOptions &options) {
  const std::string stated = text_of(outcome.explanation["problem"], "preconditioner", options.preconditioner);
  return stated.substr(0, stated.find(' '));
}

// What was asked for, else the part of the engine's name that is a recurrence's; empty when neither tells.
std::string recurrence_of(const Json &plan, const SolveOptions &options) {
  if (options.recurrence != "auto") return options.recurrence;
  const Json *engine = find_kind(plan, SXT_KIND_PCG);
  const std::string name = engine ? text_of(*engine, "kernel") : "";
#define SXT_X(suffix, value, text, source) \
  if (name.find("." text ".") != std::string::npos) return text;
  SXT_RECURRENCE_TABLE(SXT_X)
#undef SXT_X
  return "";
}

// The storage of A that the engine reads.
std::string format_of(const Json &plan) {
  const Json *engine = find_kind(plan, SXT_KIND_PCG);
  return short_format(engine ? text_of(*engine, "format") : "");
}

// One row: the parts of a solve, and their sum.
void print_row(const char *name, double setup, double iterations, double iteration, std::int64_t confirmations,
               double residual, double rest) {
  print("{:<10} {:>10}  {:>10.0f}  {:>12}  {:>13}  {:>10}  {:>10}\n", name, seconds_text(setup), iterations,
        seconds_text(iteration), fmt::format("{} x {}", confirmations, seconds_text(residual)), seconds_text(rest),
        seconds_text(iterations * iteration + static_cast<double>(confirmations) * residual + rest));
}

// Component by component, so that the source of a wrong prediction is visible: iterations, true residuals and the rest
// add up to the solve in both rows. The library's prediction of a solve is for the iterations that were taken; the row
// is for those that were predicted.
void print_times(const sxt_pcg_report &report) {
  const auto taken = static_cast<double>(report.iterations), residuals = static_cast<double>(report.confirmations);
  const auto rest = [&](double solve, double iteration, double residual) {
    return std::max(0.0, solve - taken * iteration - residuals * residual);
  };
  print("           {:>10}  {:>10}  {:>12}  {:>13}  {:>10}  {:>10}\n", "set-up", "iterations", "an iteration",
        "true residual", "the rest", "solve");
  print_row(
      "predicted", report.predicted_setup_seconds, report.predicted_iterations, report.predicted_iteration_seconds,
      report.confirmations, report.predicted_residual_seconds,
      rest(report.predicted_solve_seconds, report.predicted_iteration_seconds, report.predicted_residual_seconds));
  print_row("measured", report.setup_seconds, taken, report.iteration_seconds, report.confirmations,
            report.residual_seconds, rest(report.solve_seconds, report.iteration_seconds, report.residual_seconds));
}

}  // namespace

double norm(const HostVector &vector) {
  double scale = 0, sum = 0;
  for (const double value : vector.values) scale = std::max(scale, std::abs(value));
  for (const double value : vector.values) sum += scale > 0 ? (value / scale) * (value / scale) : 0;
  return scale * std::sqrt(sum);
}

// The relative residual at which a solve ends: max(rtol |b|, atol) / |b|. Files are f64 or c128.
double wanted(const SolveOptions &options, double rhs_norm) {
  const double rtol = options.relative_tolerance();
  return rhs_norm > 0 ? std::max(rtol, options.atol / rhs_norm) : rtol;
}

std::string rhs_text(const SolveOptions &options) {
  return options.rhs_ones ? "A * ones" : options.rhs.empty() ? "random" : options.rhs;
}

Json empty_report() {
  Json json;
  for (const char *key : report_keys) json[key] = nullptr;
  return json;
}

void print_json_report(Outcome &outcome, const SolveOptions &options, const LoadedMatrix &matrix) {
  const sxt_pcg_report &report = outcome.report;
  Json plan = outcome.explanation["plan"];
  Json json = empty_report();
  json["status"] = sxt_status_name(outcome.status);
  json["reason"] = sxt_reason_name(report.reason);
  json["iterations"] = report.iterations;
  json["true_relative_residual"] = report.true_relative_residual;
  json["method"] = "pcg";
  json["comparison"] = outcome.comparison;
  json["preconditioner"] = preconditioner_of(outcome, options);
  const std::string recurrence = recurrence_of(plan, options);
  json["recurrence"] = recurrence.empty() ? Json() : Json(recurrence);
  json["format"] = format_of(plan);
  json["kernels"] = kernel_names(plan);
  json["predicted_seconds"] = report.predicted_setup_seconds + report.predicted_solve_seconds;
  json["measured_seconds"] = report.setup_seconds + report.solve_seconds;
  json["plan"] = std::move(plan);
  json["predicted_setup_seconds"] = report.predicted_setup_seconds;
  json["predicted_solve_seconds"] = report.predicted_solve_seconds;
  json["measured_setup_seconds"] = report.setup_seconds;
  json["measured_solve_seconds"] = report.solve_seconds;
  json["rhs_norm"] = report.rhs_norm;
  json["residual_norm"] = report.residual_norm;
  json["residual_bound"] = report.residual_bound;
  json["rounding_limit"] = report.rounding_limit;
  json["recursive_residual"] = report.recursive_residual;
  json["confirmations"] = report.confirmations;
  json["replacements"] = report.replacements;
  json["products"] = report.products;
  json["reductions"] = report.reductions;
  json["launches"] = report.launches;
  json["null_space_norm"] = report.null_space_norm;
  json["predicted_iteration_seconds"] = report.predicted_iteration_seconds;
  json["measured_iteration_seconds"] = report.iteration_seconds;
  json["predicted_residual_seconds"] = report.predicted_residual_seconds;
  json["measured_residual_seconds"] = report.residual_seconds;
  json["predicted_iterations"] = report.predicted_iterations;
  json["probe_iterations"] = report.probe_iterations;
  json["probe_seconds"] = report.probe_seconds;
  json["rhs"] = rhs_text(options);
  json["matrix"] = matrix_json(matrix);
  print_json(json);
}

void print_text_report(Outcome &outcome, const SolveOptions &options, const LoadedMatrix &matrix) {
  const sxt_pcg_report &report = outcome.report;
  print("matrix     {}: {}\n", matrix.path, describe(matrix));
  print("rhs        {}{}\n", rhs_text(options),
        options.rhs_ones      ? " (the solution is all ones)"
        : options.rhs.empty() ? ", the same numbers in [-1, 1) every time; --rhs F takes yours"
                              : "");
  const std::string recurrence = recurrence_of(outcome.explanation["plan"], options);
  print("method     pcg{}, preconditioner {}\n", recurrence.empty() ? "" : ", recurrence " + recurrence,
        preconditioner_of(outcome, options));
  if (outcome.comparison.is_object()) print("           {}\n", text_of(outcome.comparison, "why"));
  for (const Json &note : outcome.explanation["notes"]) print("           {}\n", note.get<std::string>());
  print("plan\n");
  print_text(options.verbose ? outcome.explanation_text + "\n" : plan_table(outcome.explanation["plan"], 2));
  print_times(report);
  const auto count = static_cast<double>(std::max<std::int64_t>(1, report.iterations));
  if (report.probe_iterations > 0)
    print("probe      {} iterations in {}, of the set-up\n", report.probe_iterations,
          seconds_text(report.probe_seconds));
  print("host       {:.3f} reductions an iteration", static_cast<double>(report.reductions) / count);
  if (report.launches > 0) print(", {:.3f} launches", static_cast<double>(report.launches) / count);
  print("\n");
  const bool good = outcome.status == SXT_OK;
  print("result     {} after {} iterations: {}\n",
        styled(good ? Style::good : Style::bad, sxt_reason_name(report.reason)), report.iterations,
        sxt_reason_sentence(report.reason));
  print("residual   |b - A x| / |b| = {:.3e}, wanted {:.1e}\n", report.true_relative_residual,
        wanted(options, report.rhs_norm));
}

void print_json_failure(const ToolError &error, const SolveOptions &options) {
  Json json = empty_report();
  json["status"] = sxt_status_name(error.status());
  json["method"] = options.method == "cholesky" ? "cholesky" : "pcg";
  json["kernels"] = Json::array();
  json["rhs"] = rhs_text(options);
  json["error"] = error.what();
  json["matrix"] = {{"path", options.matrix}};
  print_json(json);
}

}  // namespace tool
