// SPDX-License-Identifier: BSD-3-Clause
// How a solve that cannot succeed ends: with a typed reason and an iteration, never with NaN or a false "converged".
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "tests/api/support.hpp"

namespace api_test {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

Pcg create(const Matrix &a, const sxt_pcg_options &options = pcg_options(), sxt_status expected = SXT_OK) {
  return make<Pcg>([&](sxt_pcg **out) { return sxt_pcg_create(a.get(), &options, out); }, expected);
}

Csr two_by_two(double a, double b, double c, double d) {
  Csr m;
  m.rows = m.cols = 2;
  m.entry(0, a), m.entry(1, b), m.end_row();
  m.entry(0, c), m.entry(1, d), m.end_row();
  return m;
}

TEST(PcgStopTest, MatricesThatCannotBeSolvedAreRefusedAtSetUp) {
  const Context context = cpu();
  Csr wide;
  wide.rows = 1;
  wide.cols = 2;
  wide.entry(0, 1), wide.end_row();
  create(wide.matrix(context), pcg_options(), SXT_E_NOT_SQUARE);
  EXPECT_NE(last_error(context).find("1 x 2"), std::string::npos);
  create(two_by_two(2, 1, 0.5, 2).matrix(context), pcg_options(), SXT_E_NOT_SYMMETRIC);
  EXPECT_NE(last_error(context).find("(0, 1) is 1 but (1, 0) is 0.5"), std::string::npos) << last_error(context);
  Csr missing;
  missing.rows = missing.cols = 2;
  missing.entry(0, 1), missing.entry(1, 1), missing.end_row();
  missing.entry(1, 2), missing.end_row();
  create(missing.matrix(context), pcg_options(), SXT_E_NOT_SYMMETRIC);
  create(diagonal({1, 0, 2}).matrix(context), pcg_options(), SXT_E_DIAGONAL);
  EXPECT_NE(last_error(context).find("row 1"), std::string::npos) << last_error(context);
  create(diagonal({1, 2, -3}).matrix(context), pcg_options(), SXT_E_DIAGONAL);
  EXPECT_NE(last_error(context).find("row 2"), std::string::npos) << last_error(context);
}

TEST(PcgStopTest, UnknownNamesNameTheNearest) {
  const Context context = cpu();
  const Matrix matrix = laplacian(4).matrix(context);
  const auto error_for = [&](auto change, sxt_status expected = SXT_E_UNKNOWN_NAME) {
    sxt_pcg_options options = pcg_options();
    change(options);
    create(matrix, options, expected);
    return last_error(context);
  };
  EXPECT_NE(error_for([](auto &o) { o.preconditioner = "jacoby"; }).find("'jacobi'"), std::string::npos);
  EXPECT_NE(error_for([](auto &o) { o.preconditioner = "JACOBI"; }).find("nearest is 'jacobi'"), std::string::npos);
  EXPECT_NE(error_for([](auto &o) { o.recurrence = "clasical"; }).find("'classical'"), std::string::npos);
  EXPECT_NE(error_for([](auto &o) { o.format = "cssr"; }).find("'csr'"), std::string::npos);
  EXPECT_NE(error_for([](auto &o) { o.engine = "pcg.host-loop.clasical.cpu"; }).find("'pcg.host-loop.classical.cpu'"),
            std::string::npos);
  EXPECT_NE(error_for([](auto &o) { o.atol = -1; }, SXT_E_ARGUMENT).find("-1"), std::string::npos);
  EXPECT_NE(error_for([](auto &o) { o.norm = 8; }, SXT_E_ARGUMENT).find("8"), std::string::npos);
}

TEST(PcgStopTest, AForcedEngineThatCannotApplySaysWhy) {
  const Context context = cpu();
  const Matrix matrix = laplacian(4).matrix(context);
  sxt_pcg_options options = pcg_options();
  options.engine = "pcg.host-loop.classical.cpu";
  options.recurrence = "predict-recompute";
  create(matrix, options, SXT_E_NOT_SUPPORTED);
  EXPECT_NE(last_error(context).find("pcg.host-loop.classical.cpu"), std::string::npos) << last_error(context);
}

TEST(PcgStopTest, AForcedPartIsNeverPassedOverInSilence) {
  const Context context = cpu();
  const Matrix matrix = laplacian(4).matrix(context);
  ASSERT_EQ(sxt_context_force(context.get(), "sxt.spmv/1", "spmv.coo.serial.cpu"), SXT_OK);
  EXPECT_NE(explain(create(matrix)).find("spmv.coo.serial.cpu on coo"), std::string::npos);
  sxt_pcg_options options = pcg_options();
  options.format = "csr";
  create(matrix, options, SXT_E_NOT_SUPPORTED);
  EXPECT_NE(last_error(context).find("spmv.coo.serial.cpu"), std::string::npos) << last_error(context);
}

TEST(PcgStopTest, BadRightHandSidesAreNamed) {
  const Context context = cpu();
  const Matrix matrix = laplacian(4).matrix(context);
  const Pcg pcg = create(matrix);
  std::vector<double> b(16, 1), x(16, 5);
  b[11] = nan;
  solve(pcg, b, x, SXT_E_NOT_FINITE);
  EXPECT_NE(last_error(context).find("b[11]"), std::string::npos) << last_error(context);
  EXPECT_EQ(x, std::vector<double>(16, 5));
  b[11] = 1;
  std::vector<double> shorter(15, 1);
  solve(pcg, shorter, x, SXT_E_DIMENSION);
  EXPECT_NE(last_error(context).find("15"), std::string::npos);
  EXPECT_EQ(sxt_pcg_solve_array(pcg.get(), 16, nullptr, x.data(), nullptr, nullptr), SXT_E_ARGUMENT);
  EXPECT_EQ(sxt_pcg_solve_array(pcg.get(), 16, x.data(), x.data(), nullptr, nullptr), SXT_E_ARGUMENT);
  EXPECT_EQ(sxt_pcg_solve_array(nullptr, 16, b.data(), x.data(), nullptr, nullptr), SXT_E_ARGUMENT);
  EXPECT_EQ(solve(pcg, b, x, SXT_OK).reason, SXT_REASON_CONVERGED);  // the handle is still usable
}

TEST(PcgStopTest, IndefiniteMatricesStopWithTheIteration) {
  const Context context = cpu();
  const Matrix matrix = two_by_two(1, 3, 3, 1).matrix(context);  // eigenvalues 4 and -2
  for (const char *recurrence : {"classical", "chronopoulos-gear", "predict-recompute"}) {
    sxt_pcg_options options = pcg_options();
    options.recurrence = recurrence;
    const std::vector<double> b{1, -1};
    std::vector<double> x(2);
    const sxt_pcg_report report = solve(create(matrix, options), b, x, SXT_NOT_CONVERGED);
    EXPECT_EQ(report.reason, SXT_REASON_A_INDEFINITE) << recurrence;
    EXPECT_EQ(report.iterations, 1) << recurrence;
    EXPECT_NE(last_error(context).find("not positive definite"), std::string::npos);
  }
}

TEST(PcgStopTest, SingularInconsistentSystemsNeverConverge) {
  const Context context = cpu();
  const Matrix matrix = two_by_two(1, -1, -1, 1).matrix(context);  // null vector (1, 1)
  const std::vector<double> b{1, 0};
  std::vector<double> x(2);
  const sxt_pcg_report report = solve(create(matrix), b, x, SXT_NOT_CONVERGED);
  EXPECT_NE(report.reason, SXT_REASON_CONVERGED);
  EXPECT_NE(report.reason, SXT_REASON_NONE);
  EXPECT_GT(report.true_relative_residual, 0.5);
  const std::vector<double> consistent{1, -1};
  EXPECT_EQ(solve(create(matrix), consistent, x, SXT_OK).reason, SXT_REASON_CONVERGED);
}

// With no tolerance at all a solve ends where rounding ends it, and does not call A singular.
TEST(PcgStopTest, WithoutAToleranceTheLimitIsRounding) {
  const Context context = cpu();
  for (const std::int64_t n : {1, 4, 20}) {
    const Matrix matrix = laplacian(static_cast<int>(n)).matrix(context);
    sxt_pcg_options options = pcg_options();
    options.rtol = options.atol = 0;
    const std::vector<double> b(static_cast<std::size_t>(n * n), 1);
    std::vector<double> x(b.size());
    const sxt_pcg_report report = solve(create(matrix, options), b, x, SXT_NOT_CONVERGED);
    EXPECT_EQ(report.reason, SXT_REASON_STAGNATED) << n;
    EXPECT_LE(report.true_relative_residual, 1e-13) << n;
    EXPECT_EQ(last_error(context).find("singular"), std::string::npos) << last_error(context);
  }
}

TEST(PcgStopTest, LimitsCancelAndTimeAreTyped) {
  const Context context = cpu();
  const Matrix matrix = laplacian(30).matrix(context);
  const Pcg pcg = create(matrix);
  const std::vector<double> b(900, 1);
  std::vector<double> x(900);
  sxt_solve_options options = solve_options();
  options.max_iterations = 3;
  sxt_pcg_report report = solve(pcg, b, x, SXT_NOT_CONVERGED, &options);
  EXPECT_EQ(report.reason, SXT_REASON_ITERATION_LIMIT);
  EXPECT_EQ(report.iterations, 3);
  EXPECT_LT(report.true_relative_residual, 10);

  options = solve_options();
  options.progress = [](void *, std::int64_t iteration, double) -> std::int32_t { return iteration == 4; };
  report = solve(pcg, b, x, SXT_NOT_CONVERGED, &options);
  EXPECT_EQ(report.reason, SXT_REASON_CANCELLED);
  EXPECT_EQ(report.iterations, 4);

  options = solve_options();
  const volatile std::int32_t cancel = 1;
  options.cancel = &cancel;
  EXPECT_EQ(solve(pcg, b, x, SXT_NOT_CONVERGED, &options).reason, SXT_REASON_CANCELLED);

  options = solve_options();
  options.time_limit = 1e-9;
  EXPECT_EQ(solve(pcg, b, x, SXT_NOT_CONVERGED, &options).reason, SXT_REASON_TIME_LIMIT);
}

TEST(PcgStopTest, PartsOfTheTimeAddUp) {
  const Context context = cpu();
  const Matrix matrix = laplacian(60).matrix(context);
  const std::vector<double> b(3600, 1);
  std::vector<double> x(3600);
  const Pcg pcg = create(matrix);
  const sxt_pcg_report report = solve(pcg, b, x, SXT_OK);
  EXPECT_GT(report.predicted_iteration_seconds, 0);
  EXPECT_GT(report.predicted_residual_seconds, 0);
  EXPECT_GT(report.iteration_seconds, 0);
  EXPECT_GT(report.residual_seconds, 0);
  const double parts = static_cast<double>(report.iterations) * report.iteration_seconds +
                       static_cast<double>(report.confirmations) * report.residual_seconds;
  EXPECT_LE(parts, report.solve_seconds);
  EXPECT_GE(parts, 0.3 * report.solve_seconds);  // little else happens
  const sxt_pcg_report nothing = solve(pcg, std::vector<double>(3600), x, SXT_OK);
  EXPECT_EQ(nothing.iteration_seconds, 0);
  EXPECT_EQ(nothing.residual_seconds, 0);
}

// The residual of the first iterate is nine times that of zero.
TEST(PcgStopTest, GrowthBeyondTheLimitIsDivergence) {
  const Context context = cpu();
  const Matrix matrix = diagonal({1, 1000}).matrix(context);
  const std::vector<double> b{1, 0.01};
  for (const char *recurrence : {"classical", "chronopoulos-gear", "predict-recompute"}) {
    sxt_pcg_options options = pcg_options();
    options.recurrence = recurrence;
    options.preconditioner = "none";
    options.divergence_limit = 5;
    std::vector<double> x(2);
    const sxt_pcg_report report = solve(create(matrix, options), b, x, SXT_NOT_CONVERGED);
    EXPECT_EQ(report.reason, SXT_REASON_DIVERGED) << recurrence;
    EXPECT_EQ(report.iterations, 1) << recurrence;
    options.divergence_limit = 20;
    EXPECT_EQ(solve(create(matrix, options), b, x, SXT_OK).reason, SXT_REASON_CONVERGED) << recurrence;
  }
}

TEST(PcgStopTest, UnreachableTolerancesStagnate) {
  const Context context = cpu();
  const Matrix matrix = laplacian(30).matrix(context);
  sxt_pcg_options options = pcg_options();
  options.rtol = 1e-30;
  const std::vector<double> b(900, 1);
  std::vector<double> x(900);
  const sxt_pcg_report report = solve(create(matrix, options), b, x, SXT_NOT_CONVERGED);
  EXPECT_EQ(report.reason, SXT_REASON_STAGNATED);
  EXPECT_LT(report.true_relative_residual, 1e-12);
}

TEST(PcgStopTest, HistoryIsReadableAndBounded) {
  const Context context = cpu();
  const Matrix matrix = laplacian(20).matrix(context);
  const Pcg pcg = create(matrix);
  const std::vector<double> b(400, 1);
  std::vector<double> x(400), history(10, -1);
  volatile std::int64_t length = -1;
  sxt_solve_options options = solve_options();
  options.history = history.data();
  options.history_capacity = 9;
  options.history_length = &length;
  solve(pcg, b, x, SXT_OK, &options);
  EXPECT_EQ(length, 9);
  EXPECT_GT(history[0], history[8]);
  EXPECT_GT(history[8], 0);
  EXPECT_EQ(history[9], -1);
}

// A ring, whose rows sum to 0: b has a part that A cannot reach, and iterates grow without end.
TEST(PcgStopTest, AFailedSolveReturnsNothingWorseThanItsStart) {
  const Context context = cpu();
  Csr ring;
  const std::int32_t n = 40;
  ring.rows = ring.cols = n;
  for (std::int32_t i = 0; i < n; ++i) {
    for (std::int32_t j = 0; j < n; ++j)
      if (i == j || j == (i + 1) % n || i == (j + 1) % n) ring.entry(j, i == j ? 2 : -1);
    ring.end_row();
  }
  const Matrix matrix = ring.matrix(context);
  std::vector<double> b(n, 0.0), guess(n);
  b[3] = 1;
  for (std::int32_t i = 0; i < n; ++i) guess[i] = std::sin(6.283185307179586 * i / n);
  for (const char *engine : {"pcg.host-loop.classical.cpu", "pcg.team.predict-recompute.cpu", ""})
    for (const std::int64_t iterations : {20, 200, 4000}) {
      sxt_pcg_options options = pcg_options();
      options.engine = *engine ? engine : nullptr;
      options.max_iterations = iterations;
      const Pcg pcg = create(matrix, options);
      for (const bool guessed : {false, true}) {
        std::vector<double> x = guessed ? guess : std::vector<double>(n, 7.0);
        sxt_solve_options how = solve_options();
        how.use_initial_guess = guessed;
        const sxt_pcg_report report = solve(pcg, b, x, SXT_NOT_CONVERGED, &how);
        const double before = guessed ? relative_residual(ring, b, guess) : 1;
        EXPECT_LE(relative_residual(ring, b, x), before * (1 + 1e-12)) << engine << ", " << iterations;
        EXPECT_LE(report.true_relative_residual, before * (1 + 1e-12)) << engine << ", " << iterations;
      }
      // Columns of a block, each separately.
      std::vector<double> two = b, found(2 * n, 7.0);
      two.insert(two.end(), b.rbegin(), b.rend());
      EXPECT_EQ(sxt_pcg_solve_block(pcg.get(), n, 2, two.data(), n, found.data(), n, nullptr, nullptr),
                SXT_NOT_CONVERGED);
      for (const int column : {0, 1}) {
        const std::vector<double> rhs(two.begin() + column * n, two.begin() + (column + 1) * n),
            x(found.begin() + column * n, found.begin() + (column + 1) * n);
        EXPECT_LE(relative_residual(ring, rhs, x), 1 + 1e-12) << engine << ", " << iterations << ", column " << column;
      }
    }
}

// The engine converged in the scaled system; scaled back, the second number of x is subnormal.
TEST(PcgStopTest, AnAnswerThatLosesItsDigitsOnTheWayBackIsNotReturned) {
  const Context context = cpu();
  std::mt19937 random(7);
  std::uniform_real_distribution<double> digits(1, 10);
  for (int trial = 0; trial < 300; ++trial) {
    const auto first = static_cast<float>(digits(random) * 1e25), last = static_cast<float>(digits(random) * 1e25);
    const auto beside = static_cast<float>(digits(random) * 1e24);
    Csr a;
    a.rows = a.cols = 2;
    a.entry(0, first), a.entry(1, beside), a.end_row();
    a.entry(0, beside), a.entry(1, last), a.end_row();
    sxt_matrix_options kind = matrix_options();
    kind.value_type = SXT_F32;
    const std::vector<float> values(a.values.begin(), a.values.end());
    const Matrix matrix = make<Matrix>([&](sxt_matrix **out) {
      return sxt_matrix_from_csr(context.get(), 2, 2, a.ptr.data(), a.col.data(), values.data(), &kind, out);
    });
    sxt_pcg *raw = nullptr;
    ASSERT_EQ(sxt_pcg_create(matrix.get(), nullptr, &raw), SXT_OK) << sxt_last_error(context.get());
    const Pcg pcg(raw);
    const std::vector<float> b{static_cast<float>(digits(random) * 1e-20), 0};
    std::vector<float> x{7, 7};
    sxt_pcg_report report{};
    report.struct_size = sizeof report;
    const sxt_status status = sxt_pcg_solve_array(pcg.get(), 2, b.data(), x.data(), nullptr, &report);
    EXPECT_EQ(status, report.reason == SXT_REASON_CONVERGED ? SXT_OK : SXT_NOT_CONVERGED);
    const std::vector<double> wide_b(b.begin(), b.end()), wide_x(x.begin(), x.end());
    EXPECT_LE(relative_residual(a, wide_b, wide_x), 1 + 1e-6) << trial;
    EXPECT_LE(report.true_relative_residual, 1 + 1e-6) << trial;
  }
}

TEST(PcgStopTest, TheMaximumNormCanBeRequested) {
  const Context context = cpu();
  const Csr a = laplacian(20);
  const Matrix matrix = a.matrix(context);
  sxt_pcg_options options = pcg_options();
  options.norm = SXT_NORM_MAX;
  options.rtol = 0;
  options.atol = 1e-6;
  std::vector<double> b(400, 1), x(400);
  const sxt_pcg_report report = solve(create(matrix, options), b, x, SXT_OK);
  const std::vector<double> ax = a.times(x);
  double largest = 0;
  for (std::size_t i = 0; i < b.size(); ++i) largest = std::max(largest, std::fabs(b[i] - ax[i]));
  EXPECT_LE(largest, 1e-6 * 1.0001);
  EXPECT_NEAR(report.residual_norm, largest, 1e-9);
  EXPECT_EQ(report.rhs_norm, 1);
}

}  // namespace
}  // namespace api_test
