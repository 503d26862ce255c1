// SPDX-License-Identifier: BSD-3-Clause
// sextant solve: reads A and b, solves, and reports the choice, the time and the true residual.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <memory>

#include "commands/command.hpp"
#include "commands/solve_auto.hpp"
#include "commands/solve_cholesky.hpp"
#include "commands/solve_keep.hpp"
#include "input/context_options.hpp"
#include "input/hints.hpp"
#include "input/log_file.hpp"
#include "input/matrix_input.hpp"
#include "input/random_vector.hpp"
#include "input/solver_options.hpp"
#include "input/standard_input.hpp"
#include "report/explanation.hpp"
#include "report/interrupt.hpp"
#include "report/table.hpp"
#include "report/waiting.hpp"
#include "report/write_file.hpp"
#include "sextant/plugin/kinds/pcg.h"

namespace tool {
namespace {

// The target of the progress callback.
struct ProgressState {
  Progress line;
  double wanted, least = 1;  // relative residuals; the least yet
  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();

  // At the rate so far, in decades of the residual; not in the first two seconds.
  double seconds_left() const {
    const double passed = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    const double done = std::log(least) / std::log(wanted);
    return passed > 2 && done > 0 && done < 1 ? passed * (1 - done) / done : -1;
  }
};

std::int32_t show_progress(void *user, std::int64_t iteration, double relative_residual) {
  auto *state = static_cast<ProgressState *>(user);
  state->least = std::min(state->least, relative_residual);
  state->line.show(fmt::format("iteration {}  relative residual {:.2e}  (wanted {:.1e}){}", iteration,
                               relative_residual, state->wanted, left_text(state->seconds_left())));
  return 0;
}

void check_options(const SolveOptions &options) {
  const bool direct = options.method == "cholesky";
  if (const std::string name = option_of_pcg(options); direct && !name.empty())
    fail(exit_usage, "{} is an option of conjugate gradients: --method cholesky has none", name);
  if (!direct && (options.order != "auto" || !options.scheduler.empty() || options.factor_precision != "working"))
    fail(exit_usage, "--order, --scheduler and --factor-precision need --method cholesky");
  if (options.rhs_ones && !options.rhs.empty()) fail(exit_usage, "--rhs and --rhs-ones exclude each other");
  if (options.plan_required && options.plan.empty()) fail(exit_usage, "--plan-required needs --plan FILE");
  if (is_standard_input(options.matrix) && is_standard_input(options.rhs))
    fail(exit_usage, "A and b cannot both be read from standard input");
  check_outputs({{"--output", options.output}, {"--history", options.history}, {"--save-plan", options.save_plan}});
}

void make_history(const SolveOptions &options, std::int64_t n, History &history) {
  constexpr std::int64_t most = std::int64_t{1} << 24;
  if (options.history.empty() && options.keep.empty()) return;
  // The library's own default for the limit, and one more for iteration 0.
  const std::int64_t limit =
      options.max_iterations > 0 ? options.max_iterations : std::max<std::int64_t>(1000, 10 * std::min(n, most));
  history.capacity = std::min(limit, most - 1) + 1;
  history.residuals = std::make_unique_for_overwrite<double[]>(static_cast<std::size_t>(history.capacity));
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

int solve(const SolveOptions &options, SolveRun &run) {
  Context &context = run.context = open_context(options.context);
  if (!options.plan.empty())
    check(sxt_plan_load(context.get(), options.plan.c_str(), options.plan_required ? 1 : 0), context.get());
  LoadedMatrix &matrix = run.matrix = [&] {
    const Waiting waiting = reading(options.matrix, options.context);
    return read_matrix(context.get(), options.matrix, options.setup.symmetry_tolerance);
  }();
  const auto right_hand_side = [&] {
    if (options.rhs_ones) return product_with_ones(context.get(), matrix);
    return options.rhs.empty() ? random_vector(matrix.info.value_type, matrix.info.rows)
                               : read_vector(context.get(), options.rhs, matrix.info.rows, matrix.info.value_type);
  };
  HostVector &b = run.b = right_hand_side();
  if (options.method == "cholesky")
    return solve_by_cholesky(context.get(), matrix, analyse(context.get(), matrix, options), b, options, Json());
  Pcg &pcg = run.pcg = [&] {
    const Waiting waiting("setting up", options.context);
    return make_solver(context.get(), matrix.handle.get(), options);
  }();
  Comparison methods;
  try {
    if (options.method == "auto") methods = compare_methods(context.get(), matrix, pcg.get(), options);
    if (methods.analysis) return solve_by_cholesky(context.get(), matrix, methods.analysis, b, options, methods.about);
  } catch (const ToolError &error) {
    if (!leaves_pcg(error.status())) throw;
    methods.about = after_failure(std::move(methods.about), error);
  }
  HostVector &x = run.x = HostVector(matrix.info.value_type, matrix.info.cols);
  History &history = run.history;
  make_history(options, matrix.info.rows, history);
  Outcome outcome = run_solver(context.get(), pcg.get(), options, b, x, history);
  outcome.comparison = std::move(methods.about);

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
  check_options(options);
  RunFolder folder(options.keep);
  if (!options.keep.empty()) keep_log(folder.log_path());
  SolveRun run;
  try {
    const int code = solve(options, run);
    if (code != exit_done) folder.keep(run, code, "the solve did not converge");
    return code;
  } catch (const ToolError &error) {
    folder.keep(run, error.exit_code(), error.what());
    if (options.json && error.status() != SXT_OK) print_json_failure(error, options);
    throw;
  } catch (const std::exception &error) {
    folder.keep(run, exit_internal, error.what());
    throw;
  }
}

void add_choice_options(CLI::App &app, SolveOptions &options) {
  const std::string group = "Choices (the model makes those you leave out)";
  app.add_option("--method", options.method, "pcg, cholesky (a direct solve), or auto: by predicted time")
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
  app.add_option("--factor-precision", options.factor_precision,
                 "Of the factor, with --method cholesky: working, single (solves are refined), auto, or rounded")
      ->group(group)
      ->capture_default_str()
      ->check(one_of({"working", "single", "auto", "rounded"}));
  options.setup.add(app, group);
  app.add_option("--plan", options.plan, "Follow the choices saved in this file where they still fit")->group(group);
  app.add_flag("--plan-required", options.plan_required, "A plan that no longer fits is an error")->group(group);
  app.add_option("--save-plan,--emit-plan", options.save_plan, "Write the choices made")->group(group);
}

constexpr const char *solve_footer = R"(Examples:
  sextant solve A.mtx                           b is random, the same every time
  sextant solve A.mtx --rhs b.mtx -o x.mtx --json
  sextant solve A.mtx --format csr --precond none --recurrence classical
  zcat A.mtx.gz | sextant solve -               A from standard input, as Matrix Market
  sextant solve A.mtx --keep failed             a solve that fails leaves what it takes to run it again
  sextant solve A.mtx --save-plan plan.toml && sextant solve A2.mtx --plan plan.toml

Ctrl-C stops the solve and reports where it stood; a second Ctrl-C ends at once.
Exit code 4: not converged (the reason is in the report), or not solvable by this method: A not square, not symmetric,
or without a positive diagonal. 3: a file is missing, malformed, or cannot be written.)";

}  // namespace

void add_solve(CLI::App &parent, Action &action) {
  auto options = std::make_shared<SolveOptions>();
  CLI::App *app = parent.add_subcommand("solve", "Solve A x = b and say what was chosen, and why");
  app->add_option("matrix", options->matrix, "A: Matrix Market or Harwell-Boeing file, plain or .gz; -: standard input")
      ->required()
      ->type_name("MATRIX.mtx");
  add_file_options(*app);
  app->add_option("--rhs", options->rhs, "b: Matrix Market file with one column; default: random")->type_name("FILE");
  app->add_flag("--rhs-ones", options->rhs_ones, "b = A * ones, so that the solution is known: all ones");
  app->add_option("-o,--output", options->output, "Write x as a Matrix Market array")->type_name("FILE");
  app->add_option("--history", options->history, "Write the residual of each iteration (CSV)")->type_name("FILE");
  app->add_option("--keep", options->keep, "If the solve fails, keep command, log, b, x and plan in this new folder")
      ->type_name("DIR");
  app->add_flag("--json", options->json, "The report as JSON");
  app->add_flag("-v,--verbose", options->verbose, "The whole explanation, not its summary");
  add_choice_options(*app, *options);
  add_stopping(*app, *options, "Stopping");
  add_context_options(*app, options->context);
  app->footer(solve_footer);
  app->callback([options, &action] { action = [options] { return solve_or_report(*options); }; });
}

}  // namespace tool
