// SPDX-License-Identifier: BSD-3-Clause
// Several right-hand sides in one pass over A: columns of very different length, each with its own end, compared with
// single solves; guesses, zeros, failures, preconditioners, types, more columns than go together.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <string>
#include <vector>

#include "support.hpp"

namespace api_test {
namespace {

constexpr const char *loop = "pcg.host-loop.classical.cpu";

class PcgColumns : public testing::Test {
 protected:
  Pcg create(const Matrix &matrix, const char *engine = loop, const char *preconditioner = "jacobi",
             double rtol = 1e-9) {
    sxt_pcg_options options = pcg_options();
    options.engine = engine;
    options.preconditioner = preconditioner;
    options.rtol = rtol;
    return make<Pcg>([&](sxt_pcg **out) { return sxt_pcg_create(matrix.get(), &options, out); });
  }
  // Column j of b oscillates faster than the one before it, so that columns end one after the other.
  static std::vector<double> sides(std::int64_t n, std::int64_t columns) {
    std::vector<double> b(static_cast<std::size_t>(n * columns));
    for (std::int64_t j = 0; j < columns; ++j)
      for (std::int64_t i = 0; i < n; ++i)
        b[static_cast<std::size_t>(j * n + i)] = std::sin(0.013 * static_cast<double>((j * j + 1) * (i + 1)));
    return b;
  }
  static std::vector<double> column_of(const std::vector<double> &block, std::int64_t n, std::int64_t j) {
    return {block.begin() + j * n, block.begin() + (j + 1) * n};
  }
  Context context = cpu();
};

TEST_F(PcgColumns, EachMeetsItsToleranceInTheIterationsItNeedsAlone) {
  const Csr a = laplacian(40, 0.01);
  const Matrix matrix = a.matrix(context);
  for (const char *preconditioner : {"none", "jacobi", "fsai", "block-jacobi"})
    for (const std::int64_t columns : {2, 7, 32, 35}) {
      SCOPED_TRACE(std::string(preconditioner) + ", " + std::to_string(columns));
      const Pcg pcg = create(matrix, loop, preconditioner);
      const std::vector<double> b = sides(a.rows, columns);
      std::vector<double> x(b.size());
      std::vector<sxt_pcg_report> reports(static_cast<std::size_t>(columns), new_report());
      ASSERT_EQ(
          sxt_pcg_solve_block(pcg.get(), a.rows, columns, b.data(), a.rows, x.data(), a.rows, nullptr, reports.data()),
          SXT_OK)
          << last_error(context);
      EXPECT_NE(explain(pcg).find("pcg-columns"), std::string::npos);
      std::int64_t least = 1 << 30, most = 0;
      for (std::int64_t j = 0; j < columns; ++j) {
        const sxt_pcg_report &report = reports[static_cast<std::size_t>(j)];
        const std::vector<double> rhs = column_of(b, a.rows, j);
        EXPECT_EQ(report.reason, SXT_REASON_CONVERGED);
        EXPECT_LE(relative_residual(a, rhs, column_of(x, a.rows, j)), 1.0001e-9);
        EXPECT_GE(report.products, report.iterations);
        std::vector<double> alone(rhs.size());
        sxt_pcg_report own = new_report();
        ASSERT_EQ(sxt_pcg_solve_array(pcg.get(), a.rows, rhs.data(), alone.data(), nullptr, &own), SXT_OK);
        EXPECT_NEAR(static_cast<double>(report.iterations), static_cast<double>(own.iterations), 2) << j;
        least = std::min(least, report.iterations), most = std::max(most, report.iterations);
      }
      EXPECT_GT(most, least);
    }
}

TEST_F(PcgColumns, GuessesZerosAndLimitsAreEachColumnsOwn) {
  const Csr a = laplacian(30, 0.05);
  const Matrix matrix = a.matrix(context);
  const Pcg pcg = create(matrix);
  const std::int64_t n = a.rows, columns = 5, gap = 3;
  std::vector<double> b(static_cast<std::size_t>(columns * n)), x(static_cast<std::size_t>(columns * (n + gap)), -3);
  const std::vector<double> exact(static_cast<std::size_t>(n), 1), ones = a.times(exact), waves = sides(n, columns);
  std::copy(waves.begin(), waves.end(), b.begin());
  std::copy(ones.begin(), ones.end(), b.begin() + 2 * n);  // its guess is the answer
  std::fill(b.begin() + 3 * n, b.begin() + 4 * n, 0.0);    // nothing to solve
  for (std::int64_t j = 0; j < columns; ++j) std::fill_n(x.begin() + j * (n + gap), n, j == 2 ? 1.0 : 0.0);
  std::vector<double> history(static_cast<std::size_t>(columns * 5), -1);
  std::vector<std::int64_t> lengths(static_cast<std::size_t>(columns), -1);
  sxt_solve_options options = solve_options();
  options.use_initial_guess = 1;
  options.max_iterations = 4;
  options.history = history.data();
  options.history_capacity = 5;
  options.history_length = lengths.data();
  std::vector<sxt_pcg_report> reports(static_cast<std::size_t>(columns), new_report());
  EXPECT_EQ(sxt_pcg_solve_block(pcg.get(), n, columns, b.data(), n, x.data(), n + gap, &options, reports.data()),
            SXT_NOT_CONVERGED);
  EXPECT_NE(explain(pcg).find("pcg-columns"), std::string::npos);
  for (std::int64_t j = 0; j < columns; ++j) {
    const sxt_pcg_report &report = reports[static_cast<std::size_t>(j)];
    const bool done = j == 2 || j == 3;
    EXPECT_EQ(report.reason, done ? SXT_REASON_CONVERGED : SXT_REASON_ITERATION_LIMIT) << j;
    EXPECT_EQ(report.iterations, done ? 0 : 4) << j;
    EXPECT_EQ(lengths[static_cast<std::size_t>(j)], j == 3 ? 0 : j == 2 ? 1 : 5) << j;
    const double *const column = x.data() + j * (n + gap);
    if (j == 2) EXPECT_EQ(std::vector<double>(column, column + n), exact);
    for (std::int64_t i = n; i < n + gap; ++i) EXPECT_EQ(column[i], -3) << "between the columns";
  }
}

TEST_F(PcgColumns, FailuresHaveTheirReasonAndIteration) {
  const Csr a = laplacian(20, -1);  // indefinite
  const Matrix matrix = a.matrix(context);
  const Pcg pcg = create(matrix);
  const std::vector<double> b = sides(a.rows, 3);
  std::vector<double> x(b.size());
  std::vector<sxt_pcg_report> reports(3, new_report());
  EXPECT_EQ(sxt_pcg_solve_block(pcg.get(), a.rows, 3, b.data(), a.rows, x.data(), a.rows, nullptr, reports.data()),
            SXT_NOT_CONVERGED);
  for (std::int64_t j = 0; j < 3; ++j) {
    std::vector<double> alone(static_cast<std::size_t>(a.rows));
    const std::vector<double> rhs = column_of(b, a.rows, j);
    sxt_pcg_report own = new_report();
    EXPECT_EQ(sxt_pcg_solve_array(pcg.get(), a.rows, rhs.data(), alone.data(), nullptr, &own), SXT_NOT_CONVERGED);
    EXPECT_EQ(reports[static_cast<std::size_t>(j)].reason, SXT_REASON_A_INDEFINITE);
    EXPECT_EQ(reports[static_cast<std::size_t>(j)].iterations, own.iterations) << j;
  }
  for (const double each : x) EXPECT_TRUE(std::isfinite(each));
}

TEST_F(PcgColumns, NewValuesAndComplexNumbers) {
  using Z = std::complex<double>;
  const Csr a = laplacian(25, 0.1);
  std::vector<Z> values(a.values.begin(), a.values.end());
  for (std::int32_t i = 0; i < a.rows; ++i)
    for (std::int32_t k = a.ptr[i]; k < a.ptr[i + 1]; ++k)
      if (a.col[k] != i) values[k] *= a.col[k] > i ? Z(0.6, 0.8) : Z(0.6, -0.8);
  sxt_matrix_options options = matrix_options();
  options.value_type = SXT_C128;
  const Matrix matrix = make<Matrix>([&](sxt_matrix **out) {
    return sxt_matrix_from_csr(context.get(), a.rows, a.cols, a.ptr.data(), a.col.data(), values.data(), &options, out);
  });
  const Pcg pcg = create(matrix);
  const std::int64_t n = a.rows, columns = 4;
  std::vector<Z> b(static_cast<std::size_t>(columns * n)), x(b.size());
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = Z(std::sin(0.1 * static_cast<double>(i)), 0.5);
  for (const double factor : {1.0, 3.0}) {
    std::vector<Z> scaled = values;
    for (Z &each : scaled) each *= factor;
    ASSERT_EQ(sxt_matrix_update_values(matrix.get(), scaled.data(), static_cast<std::int64_t>(scaled.size())), SXT_OK);
    std::vector<sxt_pcg_report> reports(static_cast<std::size_t>(columns), new_report());
    ASSERT_EQ(sxt_pcg_solve_block(pcg.get(), n, columns, b.data(), n, x.data(), n, nullptr, reports.data()), SXT_OK)
        << last_error(context);
    for (std::int64_t j = 0; j < columns; ++j)
      for (std::int64_t i = 0; i < n; ++i) {
        Z r = b[static_cast<std::size_t>(j * n + i)];
        for (std::int32_t k = a.ptr[i]; k < a.ptr[i + 1]; ++k)
          r -= scaled[k] * x[static_cast<std::size_t>(j * n + a.col[k])];
        ASSERT_LE(std::abs(r), 1e-7) << j;
      }
  }
}

// Data of single columns stay separate.
TEST_F(PcgColumns, OthersGoOneAfterTheOther) {
  const Csr a = laplacian(30, 0.05);
  const Matrix matrix = a.matrix(context);
  const std::vector<double> b = sides(a.rows, 3);
  std::vector<double> x(b.size());
  sxt_solve_options options = solve_options();
  options.progress = [](void *, std::int64_t, double) -> std::int32_t { return 0; };
  const Pcg watched = create(matrix);
  ASSERT_EQ(sxt_pcg_solve_block(watched.get(), a.rows, 3, b.data(), a.rows, x.data(), a.rows, &options, nullptr),
            SXT_OK);
  EXPECT_EQ(explain(watched).find("pcg-columns"), std::string::npos);
  const Pcg other = create(matrix, "pcg.host-loop.predict-recompute.cpu");
  ASSERT_EQ(sxt_pcg_solve_block(other.get(), a.rows, 3, b.data(), a.rows, x.data(), a.rows, nullptr, nullptr), SXT_OK);
  EXPECT_EQ(explain(other).find("pcg-columns"), std::string::npos);
}

}  // namespace
}  // namespace api_test
