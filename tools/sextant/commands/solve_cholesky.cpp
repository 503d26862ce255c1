// SPDX-License-Identifier: BSD-3-Clause
#include "commands/solve_cholesky.hpp"

#include <cmath>

#include <memory>

#include "commands/command.hpp"
#include "input/handle.hpp"
#include "report/explanation.hpp"
#include "report/interrupt.hpp"
#include "report/table.hpp"
#include "report/waiting.hpp"
#include "report/write_file.hpp"

namespace tool {
namespace {

// Corrections that a solve may take; two are enough where the factor is any good.
constexpr std::int32_t most_corrections = 5;

sxt_factor_precision precision_of(const std::string &name) {
  return name == "single"    ? SXT_PRECISION_SINGLE
         : name == "auto"    ? SXT_PRECISION_AUTO
         : name == "rounded" ? SXT_PRECISION_ROUNDED
                             : SXT_PRECISION_WORKING;
}

struct Solved {
  sxt_analysis_info analysis{};
  sxt_cholesky_info factor{};
  sxt_cholesky_solve_report solve{};
  std::string method;
  double rhs_norm = 0;
  bool good = false;  // the residual, with its bound, is what was wanted
  Json explanation;
};

void factor_and_solve(sxt_context *context, const Analysis &analysis, const HostVector &b, HostVector &x,
                      const SolveOptions &asked, Solved &solved) {
  sxt_cholesky *made = nullptr;
  check(sxt_cholesky_create(analysis.get(), &made), context);
  const Cholesky cholesky(made);
  const InterruptFlag interrupt;
  sxt_factor_options factor;
  sxt_factor_options_init(&factor, sizeof factor);
  factor.cancel = interrupt.flag();
  {
    const Waiting waiting("factoring", asked.context, predicted(solved.analysis.predicted_factor_seconds));
    check(sxt_cholesky_factor(cholesky.get(), nullptr, &factor), context);
  }
  sxt_cholesky_solve_options options;
  sxt_cholesky_solve_options_init(&options, sizeof options);
  options.refine_steps = most_corrections;
  options.refine_tolerance = asked.rtol < 0 ? 0 : wanted(asked, solved.rhs_norm);
  options.cancel = interrupt.flag();
  solved.solve.struct_size = sizeof solved.solve;
  const std::int64_t n = b.length();
  const Waiting waiting("solving", asked.context, predicted(2 * solved.analysis.predicted_solve_seconds));
  check(sxt_cholesky_solve(cholesky.get(), n, 1, b.values.data(), n, x.values.data(), n, &options, &solved.solve),
        context);
  solved.factor.struct_size = sizeof solved.factor;
  check(sxt_cholesky_get_info(cholesky.get(), &solved.factor), context);
}

void print_json_report(const Solved &solved, const LoadedMatrix &matrix, const SolveOptions &asked,
                       const Json &comparison) {
  Json json = empty_report();
  const sxt_analysis_info &analysis = solved.analysis;
  json["status"] = sxt_status_name(solved.good ? SXT_OK : SXT_NOT_CONVERGED);
  json["reason"] = sxt_reason_name(solved.good ? SXT_REASON_CONVERGED : SXT_REASON_STAGNATED);
  json["iterations"] = 0;
  json["true_relative_residual"] = solved.solve.residual;
  json["method"] = "cholesky";
  json["comparison"] = comparison;
  json["kernels"] = kernel_names(solved.explanation["plan"]);
  json["predicted_seconds"] = analysis.predicted_factor_seconds + analysis.predicted_solve_seconds;
  json["measured_seconds"] = analysis.analysis_seconds + solved.factor.factor_seconds + solved.solve.solve_seconds;
  json["predicted_solve_seconds"] = analysis.predicted_solve_seconds;
  json["measured_setup_seconds"] = analysis.analysis_seconds + solved.factor.factor_seconds;
  json["measured_solve_seconds"] = solved.solve.solve_seconds;
  json["rhs_norm"] = solved.rhs_norm;
  json["residual_norm"] = solved.solve.residual * solved.rhs_norm;
  json["residual_bound"] = solved.solve.residual_bound * solved.rhs_norm;
  json["plan"] = solved.explanation["plan"];
  json["rhs"] = rhs_text(asked);
  json["matrix"] = matrix_json(matrix);
  json["order"] = solved.method;
  json["nnz_l"] = analysis.nnz_l;
  json["flops"] = analysis.flops;
  json["factor_bytes"] = analysis.factor_bytes;
  json["measured_analysis_seconds"] = analysis.analysis_seconds;
  json["predicted_factor_seconds"] = analysis.predicted_factor_seconds;
  json["measured_factor_seconds"] = solved.factor.factor_seconds;
  json["corrections"] = solved.solve.refined;
  json["factor_type"] = value_type_name(solved.factor.factor_type);
  json["factor_repeated"] = solved.factor.repeated != 0;
  json["log_determinant"] = solved.factor.log_determinant;
  print_json(json);
}

void print_text_report(const Solved &solved, const std::string &explanation, const LoadedMatrix &matrix,
                       const SolveOptions &asked, const Json &comparison) {
  print("matrix     {}: {}\n", matrix.path, describe(matrix));
  print("rhs        {}\n", rhs_text(asked));
  print("method     cholesky, order {}: {} entries of L, {:.3g} flops\n", solved.method, solved.analysis.nnz_l,
        solved.analysis.flops);
  if (solved.factor.repeated || solved.factor.factor_type != matrix.info.value_type)
    print("           factor in {}{}\n", value_type_name(solved.factor.factor_type),
          solved.factor.repeated ? ": single precision did not serve this matrix" : ", solution refined");
  if (comparison.is_object()) print("           {}\n", text_of(comparison, "why"));
  for (const Json &note : solved.explanation["notes"]) print("           {}\n", note.get<std::string>());
  print("plan\n");
  print_text(asked.verbose ? explanation + "\n" : plan_table(solved.explanation["plan"], 2));
  print("           {:>10}  {:>10}  {:>10}\n", "analysis", "factor", "solve");
  print("{:<10} {:>10}  {:>10}  {:>10}\n", "predicted", "-", seconds_text(solved.analysis.predicted_factor_seconds),
        seconds_text(solved.analysis.predicted_solve_seconds));
  print("{:<10} {:>10}  {:>10}  {:>10}  with {} corrections\n", "measured",
        seconds_text(solved.analysis.analysis_seconds), seconds_text(solved.factor.factor_seconds),
        seconds_text(solved.solve.solve_seconds), solved.solve.refined);
  print("result     {} after {} corrections\n",
        styled(solved.good ? Style::good : Style::bad, solved.good ? "converged" : "stagnated"), solved.solve.refined);
  print("residual   |b - A x| / |b| = {:.3e}, exact within {:.1e}, wanted {:.1e}\n", solved.solve.residual,
        solved.solve.residual_bound, wanted(asked, solved.rhs_norm));
}

}  // namespace

Analysis analyse(sxt_context *context, const LoadedMatrix &matrix, const SolveOptions &asked) {
  sxt_analysis_options options;
  sxt_analysis_options_init(&options, sizeof options);
  options.order = asked.order.c_str();
  options.scheduler = asked.scheduler.empty() ? nullptr : asked.scheduler.c_str();
  options.expected_solves = asked.setup.expected_solves;
  options.symmetry_tolerance = asked.setup.symmetry_tolerance;
  options.check_symmetry = asked.setup.assume_symmetric ? 0 : 1;
  options.factor_precision = precision_of(asked.factor_precision);
  sxt_analysis *analysis = nullptr;
  const Waiting waiting("analysing", asked.context);
  check(sxt_analysis_create(matrix.handle.get(), &options, &analysis), context);
  return Analysis(analysis);
}

sxt_analysis_info about(sxt_context *context, const Analysis &analysis) {
  sxt_analysis_info info{};
  info.struct_size = sizeof info;
  check(sxt_analysis_get_info(analysis.get(), &info), context);
  return info;
}

int solve_by_cholesky(sxt_context *context, const LoadedMatrix &matrix, const Analysis &analysis, const HostVector &b,
                      const SolveOptions &asked, const Json &comparison) {
  Solved solved;
  solved.analysis = about(context, analysis);
  solved.rhs_norm = norm(b);
  HostVector x(matrix.info.value_type, matrix.info.cols);
  factor_and_solve(context, analysis, b, x, asked, solved);
  solved.method = get_text(context, [&](char *buffer, std::int64_t capacity, std::int64_t *length) {
    return sxt_analysis_get_method(analysis.get(), buffer, capacity, length);
  });
  const auto explain = [&](std::int32_t form) {
    return get_text(context, [&](char *buffer, std::int64_t capacity, std::int64_t *length) {
      return sxt_analysis_explain(analysis.get(), form, buffer, capacity, length);
    });
  };
  solved.explanation = Json::parse(explain(SXT_JSON));
  const double limit = wanted(asked, solved.rhs_norm);
  solved.good = solved.solve.residual + solved.solve.residual_bound <= limit;
  if (!asked.output.empty()) write_vector(asked.output, x);  // first: when it fails, stdout does not report success
  asked.json ? print_json_report(solved, matrix, asked, comparison)
             : print_text_report(solved, asked.verbose ? explain(SXT_TEXT) : "", matrix, asked, comparison);
  if (solved.good) return exit_done;
  message(
      std::isfinite(solved.solve.residual_bound)
          ? fmt::format("the residual {:.3e} is above {:.1e}: the matrix is too badly conditioned for its precision",
                        solved.solve.residual, limit)
          : "the residual cannot be judged: its numbers leave the range of the matrix's type; scale A and b");
  return exit_not_solved;
}

}  // namespace tool
