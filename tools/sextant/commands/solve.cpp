// SPDX-License-Identifier: BSD-3-Clause
// sextant solve: reads A and b, solves, and reports the choice, the time and the true residual.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>

#include "commands/command.hpp"
#include "commands/solve_cholesky.hpp"
#include "input/context_options.hpp"
#include "input/hints.hpp"
#include "input/matrix_input.hpp"
#include "input/solver_options.hpp"
#include "report/explanation.hpp"
#include "report/interrupt.hpp"
#include "report/table.hpp"
#include "report/waiting.hpp"
#include "report/write_file.hpp"
#include "sextant/plugin/kinds/pcg.h"

namespace tool {
namespace {

struct SolveOptions : SolverOptions {
  ContextOptions context;
  std::string matrix, rhs, method = "auto", order = "auto", scheduler;
  std::string plan, save_plan, output, history;
  bool rhs_ones = false, plan_required = false, json = false, verbose = false;
};

// Residual norms as the solver writes them; sized for the longest solve allowed, within reason.
struct History {
  std::unique_ptr<double[]> residuals;
  std::int64_t capacity = 0;
  volatile std::int64_t length = 0;
};

struct Outcome {
  sxt_status status = SXT_OK;
  std::string sentence;  // why it did not converge
  sxt_pcg_report report{};
  Json explanation;
  std::string explanation_text;
};

// The target of the progress callback.
struct ProgressState {
  Progress line;
  double wanted;
};

std::int32_t show_progress(void *user, std::int64_t iteration, double relative_residual) {
  auto *state = static_cast<ProgressState *>(user);
  state->line.show(fmt::format("iteration {}  relative residual {:.2e}  (wanted {:.1e})", iteration, relative_residual,
                               state->wanted));
  return 0;
}

// The relative residual at which a solve ends: max(rtol |b|, atol) / |b|. Files are f64 or c128.
double wanted(const SolveOptions &options, double rhs_norm) {
  const double rtol = options.relative_tolerance();
  return rhs_norm > 0 ? std::max(rtol, options.atol / rhs_norm) : rtol;
}

double norm(const HostVector &vector) {
  double scale = 0, sum = 0;
  for (const double value : vector.values) scale = std::max(scale, std::abs(value));
  for (const double value : vector.values) sum += scale > 0 ? (value / scale) * (value / scale) : 0;
  return scale * std::sqrt(sum);
}

void check_options(const SolveOptions &options) {
  const bool direct = options.method == "cholesky";
  if (direct && !options.history.empty()) fail(exit_usage, "--history needs iterations: --method cholesky has none");
  if (!direct && (options.order != "auto" || !options.scheduler.empty()))
    fail(exit_usage, "--order and --scheduler need --method cholesky");
  if (options.rhs_ones && !options.rhs.empty()) fail(exit_usage, "--rhs and --rhs-ones exclude each other");
  if (options.plan_required && options.plan.empty()) fail(exit_usage, "--plan-required needs --plan FILE");
  check_outputs({{"--output", options.output}, {"--history", options.history}, {"--save-plan", options.save_plan}});
}

History make_history(const SolveOptions &options, std::int64_t n) {
  constexpr std::int64_t most = std::int64_t{1} << 24;
  History history;
  if (options.history.empty()) return history;
  // The library's own default for the limit, and one more for iteration 0.
  const std::int64_t limit =
      options.max_iterations > 0 ? options.max_iterations : std::max<std::int64_t>(1000, 10 * std::min(n, most));
  history.capacity = std::min(limit, most - 1) + 1;
  history.residuals = std::make_unique_for_overwrite<double[]>(static_cast<std::size_t>(history.capacity));
  return history;
}

Outcome run_solver(sxt_context *context, sxt_pcg *pcg, const SolveOptions &options, const HostVector &b, HostVector &x,
                   History &history) {
  ProgressState progress{{}, wanted(options, norm(b))};
  const InterruptFlag interrupt;
  sxt_solve_options native;
  sxt_solve_options_init(&native, sizeof native);
  if (progress.line.visible()) {
    native.progress = show_progress;
    native.progress_user = &progress;
  }
  native.cancel = interrupt.flag();
  native.history = history.residuals.get();
  native.history_capacity = history.capacity;
  native.history_length = &history.length;

  Outcome outcome;
  outcome.report.struct_size = sizeof outcome.report;
  outcome.status = sxt_pcg_solve_array(pcg, b.length(), b.values.data(), x.values.data(), &native, &outcome.report);
  if (outcome.status != SXT_NOT_CONVERGED) check(outcome.status, context);
  if (outcome.status == SXT_NOT_CONVERGED) outcome.sentence = in_options(sxt_last_error(context));
  outcome.explanation = explain_json(pcg);
  if (options.verbose) outcome.explanation_text = explain_text(pcg);
  return outcome;
}

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

std::string rhs_text(const SolveOptions &options) { return options.rhs.empty() ? "A * ones" : options.rhs; }

void print_json_report(Outcome &outcome, const SolveOptions &options, const LoadedMatrix &matrix) {
  const sxt_pcg_report &report = outcome.report;
  Json plan = outcome.explanation["plan"];
  Json json;
  json["status"] = sxt_status_name(outcome.status);
  json["reason"] = sxt_reason_name(report.reason);
  json["iterations"] = report.iterations;
  json["true_relative_residual"] = report.true_relative_residual;
  json["method"] = "pcg";
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

void print_text_report(Outcome &outcome, const SolveOptions &options, const LoadedMatrix &matrix) {
  const sxt_pcg_report &report = outcome.report;
  print("matrix     {}: {}\n", matrix.path, describe(matrix));
  print("rhs        {}\n",
        options.rhs.empty() ? "A * ones (the solution is all ones); --rhs F takes yours" : options.rhs);
  const std::string recurrence = recurrence_of(outcome.explanation["plan"], options);
  print("method     pcg{}, preconditioner {}\n", recurrence.empty() ? "" : ", recurrence " + recurrence,
        preconditioner_of(outcome, options));
  for (const Json &note : outcome.explanation["notes"]) print("           {}\n", note.get<std::string>());
  print("plan\n");
  print_text(options.verbose ? outcome.explanation_text + "\n" : plan_table(outcome.explanation["plan"], 2));
  print_times(report);
  const auto count = static_cast<double>(std::max<std::int64_t>(1, report.iterations));
  if (report.probe_iterations > 0)
    print("probe      {} iterations in {}, of the set-up\n", report.probe_iterations,
          seconds_text(report.probe_seconds));
  print("host       {:.3f} waits an iteration", static_cast<double>(report.reductions) / count);
  if (report.launches > 0) print(", {:.3f} launches", static_cast<double>(report.launches) / count);
  print("\n");
  const bool good = outcome.status == SXT_OK;
  print("result     {} after {} iterations: {}\n",
        styled(good ? Style::good : Style::bad, sxt_reason_name(report.reason)), report.iterations,
        sxt_reason_sentence(report.reason));
  print("residual   |b - A x| / |b| = {:.3e}, wanted {:.1e}\n", report.true_relative_residual,
        wanted(options, report.rhs_norm));
}

// The keys of print_json_report in their order; those that a refusal knows are filled in again.
constexpr const char *unknown_keys[] = {"reason",
                                        "iterations",
                                        "true_relative_residual",
                                        "method",
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
                                        "rhs"};

// The same keys as a report, with null for what is not known: scripts need no second schema.
void print_json_failure(const ToolError &error, const SolveOptions &options) {
  Json json;
  json["status"] = sxt_status_name(error.status());
  for (const char *key : unknown_keys) json[key] = nullptr;
  json["method"] = options.method == "cholesky" ? "cholesky" : "pcg";
  json["kernels"] = Json::array();
  json["rhs"] = rhs_text(options);
  json["error"] = error.what();
  json["matrix"] = {{"path", options.matrix}};
  print_json(json);
}

int solve(const SolveOptions &options) {
  check_options(options);
  const Context context = open_context(options.context);
  if (!options.plan.empty())
    check(sxt_plan_load(context.get(), options.plan.c_str(), options.plan_required ? 1 : 0), context.get());
  const LoadedMatrix matrix = [&] {
    const Waiting waiting("reading " + options.matrix, options.context);
    return read_matrix(context.get(), options.matrix, options.setup.symmetry_tolerance);
  }();
  const auto right_hand_side = [&] {
    return options.rhs.empty() ? product_with_ones(context.get(), matrix)
                               : read_vector(context.get(), options.rhs, matrix.info.rows, matrix.info.value_type);
  };
  if (options.method == "cholesky")
    return solve_by_cholesky(context.get(), matrix, right_hand_side(),
                             {.order = options.order,
                              .scheduler = options.scheduler,
                              .rtol = options.rtol,
                              .symmetry_tolerance = options.setup.symmetry_tolerance,
                              .expected_solves = options.setup.expected_solves,
                              .assume_symmetric = options.setup.assume_symmetric,
                              .json = options.json,
                              .verbose = options.verbose,
                              .rhs = rhs_text(options),
                              .output = options.output});
  const Pcg pcg = [&] {
    const Waiting waiting("setting up", options.context);
    return make_solver(context.get(), matrix.handle.get(), options);
  }();
  const HostVector b = right_hand_side();
  HostVector x(matrix.info.value_type, matrix.info.cols);
  History history = make_history(options, matrix.info.rows);
  Outcome outcome = run_solver(context.get(), pcg.get(), options, b, x, history);

  // Files first: when one fails, stdout does not report success.
  if (!options.output.empty()) write_vector(options.output, x);
  if (!options.history.empty()) write_history(options.history, history.residuals.get(), history.length);
  if (!options.save_plan.empty()) check(sxt_plan_save(context.get(), options.save_plan.c_str()), context.get());

  options.json ? print_json_report(outcome, options, matrix) : print_text_report(outcome, options, matrix);
  if (outcome.status == SXT_OK) return exit_done;
  message(outcome.sentence + (options.output.empty() ? "" : "; " + options.output + " holds the last good iterate"));
  return exit_not_solved;
}

// Failures the library names are data too when JSON was asked for.
int solve_or_report(const SolveOptions &options) {
  try {
    return solve(options);
  } catch (const ToolError &error) {
    if (options.json && error.status() != SXT_OK) print_json_failure(error, options);
    throw;
  }
}

void add_choice_options(CLI::App &app, SolveOptions &options) {
  const std::string group = "Choices (the model makes those you leave out)";
  app.add_option("--method", options.method, "pcg, cholesky (a direct solve), or auto, which is pcg in this version")
      ->group(group)
      ->capture_default_str()
      ->check(one_of({"auto", "pcg", "cholesky"}));
  add_choices(app, options, group);
  app.add_option("--order", options.order, "Of elimination, with --method cholesky: amd, grid, metis, natural, ...")
      ->group(group)
      ->capture_default_str();
  app.add_option("--scheduler", options.scheduler,
                 "Kernel that factors, with --method cholesky: cholesky.tasks.cpu, ...")
      ->group(group);
  options.setup.add(app, group);
  app.add_option("--plan", options.plan, "Follow the choices saved in this file where they still fit")->group(group);
  app.add_flag("--plan-required", options.plan_required, "A plan that no longer fits is an error")->group(group);
  app.add_option("--save-plan,--emit-plan", options.save_plan, "Write the choices made")->group(group);
}

constexpr const char *solve_footer = R"(Examples:
  sextant solve A.mtx                           b = A * ones
  sextant solve A.mtx --rhs b.mtx -o x.mtx --json
  sextant solve A.mtx --format csr --precond none --recurrence classical
  sextant solve A.mtx --save-plan plan.toml && sextant solve A2.mtx --plan plan.toml

Ctrl-C stops the solve and reports where it stood; a second Ctrl-C ends at once.
Exit code 4: not converged (the reason is in the report), or not solvable by this method: A not square, not symmetric,
or without a positive diagonal. 3: a file is missing, malformed, or cannot be written.)";

}  // namespace

void add_solve(CLI::App &parent, Action &action) {
  auto options = std::make_shared<SolveOptions>();
  CLI::App *app = parent.add_subcommand("solve", "Solve A x = b and say what was chosen, and why");
  app->add_option("matrix", options->matrix, "A: Matrix Market file, plain or .gz")
      ->required()
      ->type_name("MATRIX.mtx");
  add_file_options(*app);
  app->add_option("--rhs", options->rhs, "b: Matrix Market file with one column")->type_name("FILE");
  app->add_flag("--rhs-ones", options->rhs_ones, "b = A * ones, so that the solution is known (the default)");
  app->add_option("-o,--output", options->output, "Write x as a Matrix Market array")->type_name("FILE");
  app->add_option("--history", options->history, "Write the residual of each iteration (CSV)")->type_name("FILE");
  app->add_flag("--json", options->json, "The report as JSON");
  app->add_flag("-v,--verbose", options->verbose, "The whole explanation, not its summary");
  add_choice_options(*app, *options);
  add_stopping(*app, *options, "Stopping");
  add_context_options(*app, options->context);
  app->footer(solve_footer);
  app->callback([options, &action] { action = [options] { return solve_or_report(*options); }; });
}

}  // namespace tool
