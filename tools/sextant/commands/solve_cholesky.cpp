// SPDX-License-Identifier: BSD-3-Clause
#include "commands/solve_cholesky.hpp"

#include <memory>

#include "commands/command.hpp"
#include "input/handle.hpp"
#include "report/explanation.hpp"
#include "report/interrupt.hpp"
#include "report/table.hpp"
#include "report/write_file.hpp"

namespace tool {
namespace {

using Analysis = std::unique_ptr<sxt_analysis, Destroyer<sxt_analysis_destroy>>;
using Cholesky = std::unique_ptr<sxt_cholesky, Destroyer<sxt_cholesky_destroy>>;

// Corrections that a solve may take; two are enough where the factor is any good.
constexpr std::int32_t most_corrections = 5;
constexpr double default_rtol = 1e-8;

struct Solved {
  sxt_analysis_info analysis{};
  sxt_cholesky_info factor{};
  sxt_cholesky_solve_report solve{};
  std::string method;
  Json explanation;
};

Analysis analyse(sxt_context *context, const LoadedMatrix &matrix, const CholeskyRequest &request) {
  sxt_analysis_options options;
  sxt_analysis_options_init(&options, sizeof options);
  options.order = request.order.c_str();
  options.scheduler = request.scheduler.empty() ? nullptr : request.scheduler.c_str();
  options.expected_solves = request.expected_solves;
  options.symmetry_tolerance = request.symmetry_tolerance;
  options.check_symmetry = request.assume_symmetric ? 0 : 1;
  sxt_analysis *analysis = nullptr;
  check(sxt_analysis_create(matrix.handle.get(), &options, &analysis), context);
  return Analysis(analysis);
}

void factor_and_solve(sxt_context *context, const Analysis &analysis, const HostVector &b, HostVector &x,
                      const CholeskyRequest &request, Solved &solved) {
  sxt_cholesky *made = nullptr;
  check(sxt_cholesky_create(analysis.get(), &made), context);
  const Cholesky cholesky(made);
  const InterruptFlag interrupt;
  sxt_factor_options factor;
  sxt_factor_options_init(&factor, sizeof factor);
  factor.cancel = interrupt.flag();
  check(sxt_cholesky_factor(cholesky.get(), nullptr, &factor), context);
  sxt_cholesky_solve_options options;
  sxt_cholesky_solve_options_init(&options, sizeof options);
  options.refine_steps = most_corrections;
  options.refine_tolerance = request.rtol < 0 ? 0 : request.rtol;
  options.cancel = interrupt.flag();
  solved.solve.struct_size = sizeof solved.solve;
  const std::int64_t n = b.length();
  check(sxt_cholesky_solve(cholesky.get(), n, 1, b.values.data(), n, x.values.data(), n, &options, &solved.solve),
        context);
  solved.factor.struct_size = sizeof solved.factor;
  check(sxt_cholesky_get_info(cholesky.get(), &solved.factor), context);
}

void print_json_report(const Solved &solved, const LoadedMatrix &matrix, const CholeskyRequest &request) {
  Json json;
  json["status"] = sxt_status_name(SXT_OK);
  json["method"] = "cholesky";
  json["order"] = solved.method;
  json["kernels"] = kernel_names(solved.explanation["plan"]);
  json["nnz_l"] = solved.analysis.nnz_l;
  json["flops"] = solved.analysis.flops;
  json["factor_bytes"] = solved.analysis.factor_bytes;
  json["measured_analysis_seconds"] = solved.analysis.analysis_seconds;
  json["predicted_factor_seconds"] = solved.analysis.predicted_factor_seconds;
  json["measured_factor_seconds"] = solved.factor.factor_seconds;
  json["predicted_solve_seconds"] = solved.analysis.predicted_solve_seconds;
  json["measured_solve_seconds"] = solved.solve.solve_seconds;
  json["corrections"] = solved.solve.refined;
  json["true_relative_residual"] = solved.solve.residual;
  json["residual_bound"] = solved.solve.residual_bound;
  json["log_determinant"] = solved.factor.log_determinant;
  json["plan"] = solved.explanation["plan"];
  json["rhs"] = request.rhs;
  json["matrix"] = matrix_json(matrix);
  print_json(json);
}

void print_text_report(const Solved &solved, const std::string &explanation, const LoadedMatrix &matrix,
                       const CholeskyRequest &request) {
  print("matrix     {}: {}\n", matrix.path, describe(matrix));
  print("rhs        {}\n", request.rhs);
  print("method     cholesky, order {}: {} entries of L, {:.3g} flops\n", solved.method, solved.analysis.nnz_l,
        solved.analysis.flops);
  for (const Json &note : solved.explanation["notes"]) print("           {}\n", note.get<std::string>());
  print("plan\n");
  print_text(request.verbose ? explanation + "\n" : plan_table(solved.explanation["plan"], 2));
  print("           {:>10}  {:>10}  {:>10}\n", "analysis", "factor", "solve");
  print("{:<10} {:>10}  {:>10}  {:>10}\n", "predicted", "-", seconds_text(solved.analysis.predicted_factor_seconds),
        seconds_text(solved.analysis.predicted_solve_seconds));
  print("{:<10} {:>10}  {:>10}  {:>10}  with {} corrections\n", "measured",
        seconds_text(solved.analysis.analysis_seconds), seconds_text(solved.factor.factor_seconds),
        seconds_text(solved.solve.solve_seconds), solved.solve.refined);
  print("residual   |b - A x| / |b| = {:.3e}, exact within {:.1e}\n", solved.solve.residual,
        solved.solve.residual_bound);
}

}  // namespace

int solve_by_cholesky(sxt_context *context, const LoadedMatrix &matrix, const HostVector &b,
                      const CholeskyRequest &request) {
  const Analysis analysis = analyse(context, matrix, request);
  Solved solved;
  solved.analysis.struct_size = sizeof solved.analysis;
  check(sxt_analysis_get_info(analysis.get(), &solved.analysis), context);
  HostVector x(matrix.info.value_type, matrix.info.cols);
  factor_and_solve(context, analysis, b, x, request, solved);
  solved.method = get_text(context, [&](char *buffer, std::int64_t capacity, std::int64_t *length) {
    return sxt_analysis_get_method(analysis.get(), buffer, capacity, length);
  });
  const auto explain = [&](std::int32_t form) {
    return get_text(context, [&](char *buffer, std::int64_t capacity, std::int64_t *length) {
      return sxt_analysis_explain(analysis.get(), form, buffer, capacity, length);
    });
  };
  solved.explanation = Json::parse(explain(SXT_JSON));
  if (!request.output.empty()) write_vector(request.output, x);  // first: when it fails, stdout does not report success
  request.json ? print_json_report(solved, matrix, request)
               : print_text_report(solved, request.verbose ? explain(SXT_TEXT) : "", matrix, request);
  const double wanted = request.rtol < 0 ? default_rtol : request.rtol;
  if (solved.solve.residual + solved.solve.residual_bound <= wanted) return exit_done;
  message(fmt::format("the residual {:.3e} is above {:.1e}: the matrix is too badly conditioned for its precision",
                      solved.solve.residual, wanted));
  return exit_not_solved;
}

}  // namespace tool
