// SPDX-License-Identifier: BSD-3-Clause
// A matrix held in f32: the accuracy of the f64 one nevertheless, from a guess, after new values, and where rounding
// makes it indefinite.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "tests/api/support.hpp"

namespace api_test {
namespace {

// Entries that no float holds: a third of the Laplacian, its rows scaled over four decades.
Csr thirds(int side) {
  return laplacian(side, 0.001).scaled([](double i) {
    return std::pow(10.0, 2.0 * std::sin(0.7 * i)) / std::sqrt(3.0);
  });
}

class PcgNarrowTest : public testing::TestWithParam<const char *> {
 protected:
  Pcg create(const Matrix &matrix, const char *format, double rtol = 1e-10, sxt_status expected = SXT_OK,
             const char *preconditioner = "jacobi") {
    sxt_pcg_options options = pcg_options();
    options.format = format;
    options.rtol = rtol;
    options.preconditioner = preconditioner;
    options.recurrence = GetParam();
    options.max_iterations = 100000;
    return make<Pcg>([&](sxt_pcg **out) { return sxt_pcg_create(matrix.get(), &options, out); }, expected);
  }
  static std::vector<double> waves(std::int64_t n) {
    std::vector<double> b(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = std::cos(0.3 * static_cast<double>(i)) + 0.1;
    return b;
  }
  Context context_ = cpu();
};

TEST_P(PcgNarrowTest, MeetsATightToleranceOfTheWideMatrix) {
  const Csr a = thirds(40);
  const Matrix matrix = a.matrix(context_);
  const Pcg narrow = create(matrix, "csr:f32"), wide = create(matrix, "csr:f64");
  EXPECT_NE(explain(narrow).find("reads A in f32"), std::string::npos) << explain(narrow);
  EXPECT_EQ(explain(wide).find("f32"), std::string::npos);
  const std::vector<double> b = waves(a.rows);
  std::vector<double> x(b.size()), y(b.size());
  const sxt_pcg_report report = solve(narrow, b, x), other = solve(wide, b, y);
  EXPECT_LE(relative_residual(a, b, x), 1.0001e-10);
  EXPECT_GT(report.replacements, 0) << "rounding must have shown";
  EXPECT_LT(report.iterations, 2 * other.iterations);
  EXPECT_GT(report.products, report.iterations);
}

TEST_P(PcgNarrowTest, BeginsFromAGuess) {
  const Csr a = thirds(30);
  const Matrix matrix = a.matrix(context_);
  const Pcg pcg = create(matrix, "auto:f32");
  const std::vector<double> b = waves(a.rows);
  std::vector<double> x(b.size());
  const std::int64_t cold = solve(pcg, b, x).iterations;
  sxt_solve_options warm = solve_options();
  warm.use_initial_guess = 1;
  EXPECT_EQ(solve(pcg, b, x, SXT_OK, &warm).iterations, 0);
  for (double &each : x) each *= 1 + 1e-7;
  EXPECT_LT(solve(pcg, b, x, SXT_OK, &warm).iterations, cold);
  EXPECT_LE(relative_residual(a, b, x), 1.0001e-10);
}

TEST_P(PcgNarrowTest, NewValuesReachTheNextSolve) {
  const Csr first = laplacian(30, 0.3), second = thirds(30);
  const Matrix matrix = first.matrix(context_);
  const Pcg pcg = create(matrix, "csr:f32");
  const std::vector<double> b = waves(first.rows);
  std::vector<double> x(b.size());
  solve(pcg, b, x);
  EXPECT_LE(relative_residual(first, b, x), 1.0001e-10);
  second.update(matrix);
  solve(pcg, b, x);
  EXPECT_LE(relative_residual(second, b, x), 1.0001e-10);
}

// The first new values allocate memory for rounded ones, which is kept.
TEST_P(PcgNarrowTest, FurtherNewValuesAskForNoMemory) {
  Lender lender;
  const Context context = lender.context();
  const Csr a = thirds(20);
  const Matrix matrix = a.matrix(context);
  const Pcg pcg = create(matrix, "csr:f32");
  const std::vector<double> b = waves(a.rows);
  std::vector<double> x(b.size());
  std::int64_t before = 0;
  for (int step = 0; step < 4; ++step) {
    if (step == 2) before = lender.calls;
    a.update(matrix);
    solve(pcg, b, x);
  }
  EXPECT_EQ(lender.calls, before);
}

// Two rows that differ in the tenth digit only: equal, so singular, in f32.
TEST_P(PcgNarrowTest, WhatRoundingMakesSingularIsSolvedAllTheSame) {
  Csr a;
  a.rows = a.cols = 2;
  a.entry(0, 1), a.entry(1, 1 - 1e-10), a.end_row();
  a.entry(0, 1 - 1e-10), a.entry(1, 1), a.end_row();
  const Matrix matrix = a.matrix(context_);
  const Pcg pcg = create(matrix, "csr:f32", 1e-8);
  const std::vector<double> b{1, -0.5};
  std::vector<double> x(2);
  solve(pcg, b, x);
  EXPECT_LE(relative_residual(a, b, x), 1.0001e-8);
}

TEST_P(PcgNarrowTest, LimitsAndHistoryCountAllPasses) {
  const Csr a = thirds(40);
  const Matrix matrix = a.matrix(context_);
  const Pcg pcg = create(matrix, "csr:f32");
  const std::vector<double> b = waves(a.rows);
  std::vector<double> x(b.size()), history(5000, -1);
  std::int64_t length = 0;
  sxt_solve_options options = solve_options();
  options.history = history.data();
  options.history_capacity = static_cast<std::int64_t>(history.size());
  options.history_length = &length;
  const std::int64_t all = solve(pcg, b, x, SXT_OK, &options).iterations;
  EXPECT_EQ(length, all + 1);
  for (std::int64_t i = 0; i < length; ++i) EXPECT_GE(history[i], 0) << i;
  options.max_iterations = all - 3;
  sxt_pcg_report report = new_report();
  EXPECT_EQ(sxt_pcg_solve_array(pcg.get(), a.rows, b.data(), x.data(), &options, &report), SXT_NOT_CONVERGED);
  EXPECT_EQ(report.reason, SXT_REASON_ITERATION_LIMIT);
  EXPECT_EQ(report.iterations, all - 3);
}

// At any position of the limit: in a pass, or between two of them.
TEST_P(PcgNarrowTest, EveryLimitIsCalledOne) {
  const Csr a = thirds(16);
  const Matrix matrix = a.matrix(context_);
  const Pcg pcg = create(matrix, "csr:f32");
  const std::vector<double> b = waves(a.rows);
  std::vector<double> x(b.size());
  const std::int64_t all = solve(pcg, b, x).iterations;
  sxt_solve_options options = solve_options();
  for (options.max_iterations = 1; options.max_iterations < all - 2; ++options.max_iterations) {
    const sxt_pcg_report report = solve(pcg, b, x, SXT_NOT_CONVERGED, &options);
    EXPECT_EQ(report.reason, SXT_REASON_ITERATION_LIMIT) << options.max_iterations;
    EXPECT_EQ(report.iterations, options.max_iterations);
  }
}

TEST_P(PcgNarrowTest, RefusalsAreNamed) {
  const Csr a = laplacian(5);
  const Matrix matrix = a.matrix(context_);
  create(matrix, "csr:f16", 1e-8, SXT_E_UNKNOWN_NAME);
  EXPECT_NE(last_error(context_).find("'f16'"), std::string::npos) << last_error(context_);
  Csr huge = laplacian(5);
  for (double &each : huge.values) each *= 1e300;
  const Matrix beyond = huge.matrix(context_);
  create(beyond, "csr:f32", 1e-8, SXT_OK);
  create(beyond, "csr:f32", 1e-8, SXT_OK, "none");  // times a power of two, it fits
  const Matrix mixed = laplacian(5).scaled([](double i) { return i == 3 ? 1e-25 : 1; }).matrix(context_);
  create(mixed, "csr:f32", 1e-8, SXT_OK);  // scaled by its diagonal
  create(mixed, "csr:f32", 1e-8, SXT_E_OVERFLOW, "none");
  EXPECT_NE(last_error(context_).find("does not fit f32"), std::string::npos) << last_error(context_);
}

INSTANTIATE_TEST_SUITE_P(Recurrences, PcgNarrowTest,
                         testing::Values("classical", "chronopoulos-gear", "predict-recompute"),
                         [](const auto &info) { return word_of(info.param); });

}  // namespace
}  // namespace api_test
