// SPDX-License-Identifier: BSD-3-Clause
// What factors in single precision do on matrices of applications: cholesky_precision [--device NAME] [--rounded]
// FILE...
//
// For each Matrix Market file that is real and positive definite: its order, the reciprocal of its condition number,
// the relative residual of one random right-hand side by a factor of f64 and by one of f32 whose solve is refined, the
// corrections that took, and whether the factor was made again. Sums on stderr. Through the public interface alone, in
// the order "amd"; by the residuals that the library confirms.
#include <cstdio>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "sextant/sextant.h"

namespace {

template <class T, void (*destroy)(T *)>
struct Destroy {
  void operator()(T *handle) const { destroy(handle); }
};
using Context = std::unique_ptr<sxt_context, Destroy<sxt_context, sxt_context_destroy>>;
using Matrix = std::unique_ptr<sxt_matrix, Destroy<sxt_matrix, sxt_matrix_destroy>>;
using Analysis = std::unique_ptr<sxt_analysis, Destroy<sxt_analysis, sxt_analysis_destroy>>;
using Cholesky = std::unique_ptr<sxt_cholesky, Destroy<sxt_cholesky, sxt_cholesky_destroy>>;

struct Outcome {
  sxt_status status = SXT_OK;
  double residual = 0, rcond = 0;
  int corrections = 0;
  bool again = false, in_solve = false;  // the factor was made again; in the solve
};

Outcome solved(sxt_matrix *a, std::int64_t n, sxt_factor_precision precision) {
  Outcome out;
  sxt_analysis_options options;
  sxt_analysis_options_init(&options, sizeof options);
  options.factor_precision = precision, options.order = "amd";
  sxt_analysis *analysis = nullptr;
  sxt_cholesky *made = nullptr;
  out.status = sxt_analysis_create(a, &options, &analysis);
  const Analysis held(analysis);
  if (out.status == SXT_OK) out.status = sxt_cholesky_create(analysis, &made);
  const Cholesky cholesky(made);
  if (out.status == SXT_OK) out.status = sxt_cholesky_factor(made, nullptr, nullptr);
  if (out.status != SXT_OK) return out;
  std::mt19937 random(1);
  std::uniform_real_distribution<double> value(-0.5, 0.5);
  std::vector<double> b(static_cast<std::size_t>(n)), x(b.size());
  for (double &each : b) each = value(random);
  sxt_cholesky_solve_options solve;
  sxt_cholesky_solve_options_init(&solve, sizeof solve);
  if (precision == SXT_PRECISION_WORKING) solve.refine_steps = 1, solve.refine_tolerance = 1;  // for the residual alone
  sxt_cholesky_solve_report report{};
  report.struct_size = sizeof report;
  out.status = sxt_cholesky_solve(made, n, 1, b.data(), n, x.data(), n, &solve, &report);
  if (out.status == SXT_OK && report.residual != report.residual) {  // the working precision, after all
    solve.refine_steps = 1, solve.refine_tolerance = 1;
    out.status = sxt_cholesky_solve(made, n, 1, b.data(), n, x.data(), n, &solve, &report);
  }
  sxt_cholesky_info info{};
  info.struct_size = sizeof info;
  if (out.status == SXT_OK) out.status = sxt_cholesky_get_info(made, &info);
  if (out.status == SXT_OK && precision == SXT_PRECISION_WORKING) out.status = sxt_cholesky_rcond(made, &out.rcond);
  out.residual = report.residual, out.corrections = report.refined;
  out.again = info.repeated, out.in_solve = report.repeated;
  return out;
}

struct Sums {
  int matrices = 0, served = 0, in_solve = 0, failed = 0;
  double worst = 0;  // of the residual in single precision over that in f64
};

void measure(sxt_context *context, const char *path, sxt_factor_precision precision, Sums &sums) {
  sxt_matrix *made = nullptr;
  if (sxt_matrix_from_file(context, path, nullptr, &made) != SXT_OK) return;
  const Matrix a(made);
  sxt_matrix_info info{};
  info.struct_size = sizeof info;
  if (sxt_matrix_get_info(made, &info) != SXT_OK || info.rows != info.cols || info.value_type != SXT_F64) return;
  const Outcome wide = solved(made, info.rows, SXT_PRECISION_WORKING);
  if (wide.status != SXT_OK) return;  // not positive definite, or not symmetric
  const Outcome narrow = solved(made, info.rows, precision);
  ++sums.matrices;
  sums.served += narrow.status == SXT_OK && !narrow.again, sums.in_solve += narrow.in_solve;
  sums.failed += narrow.status != SXT_OK;
  if (wide.residual > 0 && !(narrow.residual / wide.residual <= sums.worst))
    sums.worst = narrow.residual / wide.residual;
  const char *const slash = std::strrchr(path, '/');
  std::printf("| %s | %lld | %.1e | %.1e | %.1e | %d | %s |\n", slash ? slash + 1 : path, (long long)info.rows,
              wide.rcond, wide.residual, narrow.residual, narrow.corrections,
              narrow.status != SXT_OK ? sxt_status_name(narrow.status)
              : narrow.in_solve       ? "made again in the solve"
              : narrow.again          ? "made again at once"
                                      : "single");
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char **argv) {
  sxt_context_options options;
  sxt_context_options_init(&options, sizeof options);
  options.device = "cpu";
  sxt_factor_precision precision = SXT_PRECISION_SINGLE;
  int first = 1;
  for (; first < argc && argv[first][0] == '-'; ++first) {
    if (!std::strcmp(argv[first], "--device") && first + 1 < argc)
      options.device = argv[++first];
    else if (!std::strcmp(argv[first], "--rounded"))
      precision = SXT_PRECISION_ROUNDED;
    else
      return std::fprintf(stderr, "no option is called %s\n", argv[first]), 2;
  }
  sxt_context *context = nullptr;
  if (sxt_context_create(&options, &context) != SXT_OK) return std::fprintf(stderr, "%s\n", sxt_last_error(nullptr)), 1;
  const Context held(context);
  std::printf(
      "| matrix | n | rcond | residual f64 | residual f32 | corrections | factor |\n|---|---|---|---|---|---|---|\n");
  Sums sums;
  for (int k = first; k < argc; ++k) measure(context, argv[k], precision, sums);
  std::fprintf(
      stderr,
      "%d matrices: %d served by single precision, %d made again in a solve, %d failed; worst residual %.3g of f64's\n",
      sums.matrices, sums.served, sums.in_solve, sums.failed, sums.worst);
  return 0;
}
