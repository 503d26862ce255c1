// SPDX-License-Identifier: BSD-3-Clause
// Semidefinite systems on a GPU: every engine removes constants from b and x, for one right-hand side and for blocks.
#include <cmath>
#include <cstdint>
#include <numeric>

#include "pcg.hpp"

namespace {

using namespace gpu_test;

// The Laplacian of a path with a weight for each link, and of links between rows 17 apart.
Csr path(int n) {
  std::vector<double> degree(static_cast<std::size_t>(n));
  const auto weight = [](int i, int j) { return 1.5 + std::sin(0.1 * i + 0.3 * j); };
  for (int i = 0; i < n; ++i)
    for (const int step : {1, 17})
      if (i + step < n) degree[i] += weight(i, i + step), degree[i + step] += weight(i, i + step);
  Csr a;
  a.rows = a.cols = n;
  for (int i = 0; i < n; ++i) {
    for (const int j : {i - 17, i - 1, i, i + 1, i + 17})
      if (j >= 0 && j < n) a.entry(j, j == i ? degree[i] : -weight(std::min(i, j), std::max(i, j)));
    a.end_row();
  }
  return a;
}

class PcgNullSpaceGpu : public PcgGpu {
 protected:
  static constexpr int n = 3000;
  const Csr a_ = path(n);
  std::vector<double> b_ = waves(n), rest_ = b_;

  void SetUp() override {
    PcgGpu::SetUp();
    const double mean = std::accumulate(b_.begin(), b_.end(), 0.0) / n;
    for (double &each : rest_) each -= mean;
  }
  Pcg create_with_constants(const Matrix &matrix, const char *engine, std::int32_t reorder = 0) {
    sxt_pcg_options options = pcg_options();
    options.engine = engine;
    options.rtol = 1e-9;
    options.reorder = reorder;
    options.null_space_size = 1;
    return api_test::make<Pcg>([&](sxt_pcg **out) { return sxt_pcg_create(matrix.get(), &options, out); });
  }
  void expect_solved(const sxt_pcg_report &report, const double *x) {
    const std::vector<double> answer(x, x + n);
    EXPECT_EQ(report.reason, SXT_REASON_CONVERGED);
    EXPECT_LE(relative_residual(a_, rest_, answer), 1.01e-9);
    const double largest =
        std::fabs(*std::max_element(x, x + n, [](double u, double v) { return std::fabs(u) < std::fabs(v); }));
    EXPECT_LE(std::fabs(std::accumulate(x, x + n, 0.0)) / n, 1e-13 * largest);
    EXPECT_NEAR(report.null_space_norm * report.null_space_norm + report.rhs_norm * report.rhs_norm,
                std::inner_product(b_.begin(), b_.end(), b_.begin(), 0.0), 1e-8);
  }
};

TEST_F(PcgNullSpaceGpu, EveryEngineRemovesConstants) {
  const Matrix matrix = matrix_of(a_);
  for (const char *engine : engines)
    for (const std::int32_t reorder : {-1, 1}) {
      SCOPED_TRACE(engine);
      const Pcg pcg = create_with_constants(matrix, engine, reorder);
      std::vector<double> x(b_.size());
      expect_solved(solve(pcg, b_, x), x.data());
    }
}

TEST_F(PcgNullSpaceGpu, ColumnsOfABlockAndRightHandSidesInTheNullSpace) {
  const Matrix matrix = matrix_of(a_);
  const Pcg pcg = create_with_constants(matrix, nullptr);
  std::vector<double> many(b_), x(3 * b_.size(), 1);
  many.insert(many.end(), b_.size(), 2.0 / 3);
  many.insert(many.end(), b_.begin(), b_.end());
  std::vector<sxt_pcg_report> reports(3, new_report());
  ASSERT_EQ(sxt_pcg_solve_block(pcg.get(), n, 3, many.data(), n, x.data(), n, nullptr, reports.data()), SXT_OK)
      << sxt_last_error(context_.get());
  expect_solved(reports[0], x.data());
  expect_solved(reports[2], x.data() + 2 * n);
  EXPECT_EQ(reports[1].iterations, 0);
  for (int i = n; i < 2 * n; ++i) ASSERT_EQ(x[i], 0);
}

}  // namespace
