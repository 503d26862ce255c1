// SPDX-License-Identifier: BSD-3-Clause
// Right-hand sides far from 1, whose squares vanish or overflow in the type of the vectors: solved as any other, and
// reported in the caller's scale. And the report where no finite x is found.
#include <cmath>
#include <cstdint>
#include <limits>

#include "tests/api/support.hpp"

namespace api_test {
namespace {

// Rows of -1, diagonal, -1.
Csr tridiagonal(int n, double diagonal, double scale = 1) {
  Csr a;
  a.rows = a.cols = n;
  for (int i = 0; i < n; ++i) {
    if (i > 0) a.entry(i - 1, -scale);
    a.entry(i, diagonal * scale);
    if (i + 1 < n) a.entry(i + 1, -scale);
    a.end_row();
  }
  return a;
}

std::vector<double> waves(std::int64_t n, double scale) {
  std::vector<double> b(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = scale * (std::cos(0.3 * static_cast<double>(i)) + 0.1);
  return b;
}

// |b - A x| / |b| without a square that vanishes or overflows.
template <class T>
double relative(const Csr &a, const std::vector<T> &b, const std::vector<T> &x) {
  long double residual = 0, norm = 0;
  for (std::int64_t i = 0; i < a.rows; ++i) {
    long double sum = b[static_cast<std::size_t>(i)];
    norm += sum * sum;
    for (std::int32_t k = a.ptr[i]; k < a.ptr[i + 1]; ++k)
      sum -= static_cast<long double>(a.values[k]) * x[static_cast<std::size_t>(a.col[k])];
    residual += sum * sum;
  }
  return static_cast<double>(std::sqrt(residual / norm));
}

Pcg create(const Matrix &matrix, const sxt_pcg_options &options) {
  return make<Pcg>([&](sxt_pcg **out) { return sxt_pcg_create(matrix.get(), &options, out); });
}

class PcgRangeTest : public testing::TestWithParam<const char *> {
 protected:
  sxt_pcg_options options(double rtol, const char *preconditioner) const {
    sxt_pcg_options out = pcg_options();
    out.recurrence = GetParam();
    out.preconditioner = preconditioner;
    out.rtol = rtol;
    return out;
  }
  Context context_ = cpu();
};

TEST_P(PcgRangeTest, SmallAndLargeRightHandSidesInSinglePrecision) {
  const Csr a = tridiagonal(50, 2.5).scaled([](double i) { return 1 + 0.5 * std::sin(i); });
  Csr rounded = a;
  std::vector<float> values(a.values.begin(), a.values.end());
  rounded.values.assign(values.begin(), values.end());
  sxt_matrix_options type = matrix_options();
  type.value_type = SXT_F32;
  const Matrix matrix = make<Matrix>([&](sxt_matrix **out) {
    return sxt_matrix_from_csr(context_.get(), a.rows, a.cols, a.ptr.data(), a.col.data(), values.data(), &type, out);
  });
  for (const char *preconditioner : {"none", "jacobi"})
    for (const double scale : {1e-34, 1e-24, 1e-16, 1e-8, 1.0, 1e8, 1e18, 1e37}) {
      SCOPED_TRACE(std::string(preconditioner) + ", " + std::to_string(std::log10(scale)));
      const Pcg pcg = create(matrix, options(1e-5, preconditioner));
      const std::vector<double> wide = waves(a.rows, scale);
      const std::vector<float> b(wide.begin(), wide.end());
      std::vector<float> x(b.size());
      sxt_pcg_report report = new_report();
      EXPECT_EQ(sxt_pcg_solve_array(pcg.get(), a.rows, b.data(), x.data(), nullptr, &report), SXT_OK)
          << last_error(context_);
      EXPECT_LE(relative(rounded, b, x), 1.01e-5);
      EXPECT_NEAR(report.rhs_norm / scale, 5, 1);
    }
}

TEST_P(PcgRangeTest, SmallAndLargeRightHandSidesInDoublePrecision) {
  const Csr a = laplacian(12, 0.1).scaled([](double i) { return 1 + 0.5 * std::sin(i); });
  const Matrix matrix = a.matrix(context_);
  for (const char *preconditioner : {"none", "jacobi", "fsai"}) {
    const Pcg pcg = create(matrix, options(1e-9, preconditioner));
    for (const double scale : {1e-280, 1e-170, 1.0, 1e170, 1e280}) {
      SCOPED_TRACE(std::string(preconditioner) + ", " + std::to_string(std::log10(scale)));
      const std::vector<double> b = waves(a.rows, scale);
      std::vector<double> x(b.size()), history(1, 0);
      sxt_solve_options solving = solve_options();
      solving.history = history.data();
      solving.history_capacity = 1;
      const sxt_pcg_report report = solve(pcg, b, x, SXT_OK, &solving);
      EXPECT_LE(relative(a, b, x), 1.0001e-9);
      EXPECT_NEAR(report.residual_norm / report.rhs_norm, report.true_relative_residual, 1e-12);
      EXPECT_GT(history[0] / scale, 1e-4);
      EXPECT_LT(history[0] / scale, 1e4);
      // The answer as a guess is good enough, and stays unchanged.
      solving.use_initial_guess = 1;
      solving.rtol = 1e-8;
      const std::vector<double> before = x;
      EXPECT_EQ(solve(pcg, b, x, SXT_OK, &solving).iterations, 0);
      EXPECT_EQ(x, before);
    }
  }
}

TEST_P(PcgRangeTest, ScaledColumnsAndNarrowMatrices) {
  const Csr a = laplacian(20, 0.1);
  const Matrix matrix = a.matrix(context_);
  for (const char *format : {"csr:f32", "csr:f64"}) {
    sxt_pcg_options asked = options(1e-9, "jacobi");
    asked.format = format;
    const Pcg pcg = create(matrix, asked);
    const double scales[] = {1e-170, 1, 1e170};
    std::vector<double> b, x(3 * static_cast<std::size_t>(a.rows));
    for (const double scale : scales)
      for (const double each : waves(a.rows, scale)) b.push_back(each);
    std::vector<sxt_pcg_report> reports(3, new_report());
    EXPECT_EQ(sxt_pcg_solve_block(pcg.get(), a.rows, 3, b.data(), a.rows, x.data(), a.rows, nullptr, reports.data()),
              SXT_OK);
    for (int j = 0; j < 3; ++j) {
      const auto part = [&](const std::vector<double> &all) {
        return std::vector<double>(all.begin() + j * a.rows, all.begin() + (j + 1) * a.rows);
      };
      EXPECT_LE(relative(a, part(b), part(x)), 1.0001e-9) << format << j;
      EXPECT_NEAR(reports[j].rhs_norm / scales[j], reports[1].rhs_norm, 1e-9);
    }
  }
}

TEST_P(PcgRangeTest, AbsoluteTolerancesAreTheCallers) {
  const Csr a = tridiagonal(50, 2.5);
  const Matrix matrix = a.matrix(context_);
  sxt_pcg_options asked = options(0, "none");
  asked.atol = 1e-175;
  const Pcg pcg = create(matrix, asked);
  std::vector<double> x(50);
  const sxt_pcg_report report = solve(pcg, waves(50, 1e-170), x);
  EXPECT_GT(report.iterations, 3);
  EXPECT_LE(report.residual_norm, 1e-175);
  EXPECT_EQ(solve(pcg, waves(50, 1e-177), x).iterations, 0);
}

TEST_P(PcgRangeTest, ANormMayOverflow) {
  const Matrix matrix = tridiagonal(4, 8).matrix(context_);
  std::vector<double> x(4);
  const sxt_pcg_report report = solve(create(matrix, options(1e-8, nullptr)), std::vector<double>(4, 1.5e308), x);
  EXPECT_EQ(report.reason, SXT_REASON_CONVERGED);
  EXPECT_EQ(report.rhs_norm, std::numeric_limits<double>::max());
  EXPECT_LE(relative(tridiagonal(4, 8), std::vector<double>(4, 1.5e308), x), 1.01e-8);
}

// A time loop starts from its last x when the source has all but ended.
TEST_P(PcgRangeTest, AGuessFarFromASmallRightHandSideIsLeft) {
  const Csr a = tridiagonal(400, 2.5);
  sxt_solve_options solving = solve_options();
  solving.use_initial_guess = 1;
  for (const double size : {1e-120, 1e-160, 1e-200, 1e-290}) {
    SCOPED_TRACE(size);
    const Matrix matrix = a.matrix(context_);
    const std::vector<double> b = waves(400, size);
    std::vector<double> x(400, 5);
    const sxt_pcg_report report = solve(create(matrix, options(1e-8, nullptr)), b, x, SXT_OK, &solving);
    EXPECT_LT(report.iterations, 60);
    EXPECT_LE(relative(a, b, x), 1.01e-8);
  }
}

// x is beyond the largest number: 0, or the guess, is returned and reported.
TEST_P(PcgRangeTest, AnAnswerThatCannotBeStoredIsReported) {
  for (const bool scaled : {false, true}) {
    SCOPED_TRACE(scaled);
    const Csr a = tridiagonal(30, 2.5, scaled ? 1e-3 : 1e-300);
    const Matrix matrix = a.matrix(context_);
    const Pcg pcg = create(matrix, options(1e-8, "none"));
    const std::vector<double> b = waves(30, scaled ? 1e307 : 1e9);
    std::vector<double> x(30, 5);
    sxt_pcg_report report = solve(pcg, b, x, SXT_NOT_CONVERGED);
    EXPECT_EQ(x, std::vector<double>(30, 0));
    EXPECT_EQ(report.residual_norm, report.rhs_norm);
    EXPECT_EQ(report.true_relative_residual, 1);
    if (scaled) continue;  // its guess is gone
    sxt_solve_options solving = solve_options();
    solving.use_initial_guess = 1;
    const std::vector<double> guess(30, 1e308);
    x = guess;
    report = solve(pcg, b, x, SXT_NOT_CONVERGED, &solving);
    EXPECT_EQ(x, guess);
    EXPECT_NEAR(report.true_relative_residual, relative(a, b, x), 1e-12);
    EXPECT_GT(std::abs(report.true_relative_residual - 1), 1e-3);
  }
}

INSTANTIATE_TEST_SUITE_P(Recurrences, PcgRangeTest,
                         testing::Values("classical", "chronopoulos-gear", "predict-recompute"),
                         [](const auto &info) { return word_of(info.param); });

}  // namespace
}  // namespace api_test
