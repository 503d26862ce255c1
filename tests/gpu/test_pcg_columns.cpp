// SPDX-License-Identifier: BSD-3-Clause
// Several right-hand sides in one pass over A on a GPU: each column ends separately and meets its tolerance, with and
// without a preconditioner, from host and device arrays; failures name the iteration of their column.
#include <cmath>
#include <complex>
#include <cstdint>
#include <string>
#include <utility>

#include "pcg.hpp"

namespace {

using namespace gpu_test;
using testing::HasSubstr;

// Driven from the host, with any preconditioner; in captured blocks, with a scaling at most, or with one that takes
// columns side by side.
const char *const from_host = "pcg.graph.classical.cuda", *const in_blocks = pair, *const in_blocks_m = pair_m;

class PcgColumns : public PcgGpu {
 protected:
  void zeros_and_failures(const char *engine);
  void values_guesses_and_limits(const char *engine, const char *preconditioner);
  template <class T>
  void complex_columns(const char *engine, double rtol);
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
};

TEST_F(PcgColumns, EachMeetsItsToleranceInTheIterationsItNeedsAlone) {
  const std::pair<const char *, const char *> combinations[] = {
      {from_host, "none"},          {from_host, "jacobi"},           {from_host, "fsai"},
      {in_blocks, "none"},          {in_blocks, "jacobi"},           {in_blocks_m, "none"},
      {in_blocks_m, "fsai"},        {in_blocks_m, "fsai-2"},         {in_blocks_m, "ssor-ai"},
      {in_blocks_m, "ssor-ai-2"},   {in_blocks_m, "block-jacobi:4"}, {in_blocks_m, "block-jacobi:32"},
      {in_blocks_m, "chebyshev:3"}, {in_blocks_m, "chebyshev:9"},    {from_host, "chebyshev:5"}};
  for (const Csr &a : {laplacian(60, 0.01), uneven(5000)}) {
    const Matrix matrix = matrix_of(a);
    for (const auto &[engine, preconditioner] : combinations)
      for (const std::int64_t columns : {2, 3, 4, 8, 13, 32}) {
        SCOPED_TRACE(std::string(engine) + ", " + preconditioner + ", " + std::to_string(columns));
        const Pcg pcg = create(matrix, engine, preconditioner);
        const std::vector<double> b = sides(a.rows, columns);
        std::vector<double> x(b.size());
        std::vector<sxt_pcg_report> reports(static_cast<std::size_t>(columns), new_report());
        ASSERT_EQ(sxt_pcg_solve_block(pcg.get(), a.rows, columns, b.data(), a.rows, x.data(), a.rows, nullptr,
                                      reports.data()),
                  SXT_OK)
            << sxt_last_error(context_.get());
        EXPECT_THAT(api_test::explain(pcg), HasSubstr("pcg-columns"));
        for (std::int64_t j = 0; j < columns; ++j) {
          const sxt_pcg_report &report = reports[static_cast<std::size_t>(j)];
          const std::vector<double> rhs = column_of(b, a.rows, j);
          EXPECT_EQ(report.reason, SXT_REASON_CONVERGED);
          EXPECT_LE(relative_residual(a, rhs, column_of(x, a.rows, j)), 1.0001e-9);
          if (j % 5 != 0) continue;
          std::vector<double> alone(rhs.size());
          const sxt_pcg_report own = solve(pcg, rhs, alone);
          EXPECT_NEAR(static_cast<double>(report.iterations), static_cast<double>(own.iterations), 2) << j;
        }
      }
  }
}

// Hermitian systems in captured blocks, alone and together; rows long enough for many lanes, too.
template <class T>
void PcgColumns::complex_columns(const char *engine, double rtol) {
  for (const Csr &a : {laplacian(50, 0.02), uneven(3000)}) {
    const std::vector<Z> wide = turned(a);
    const Matrix matrix = complex_matrix(a, std::vector<T>(wide.begin(), wide.end()));
    for (const char *preconditioner : {"none", "jacobi", "fsai", "ssor-ai-2", "block-jacobi:4", "chebyshev:5"})
      for (const std::int64_t columns : {1, 2, 3, 7, 16, 32}) {
        SCOPED_TRACE(std::string(preconditioner) + ", " + std::to_string(columns));
        const bool scaling = std::string(preconditioner) == "none" || std::string(preconditioner) == "jacobi";
        const Pcg pcg = create(matrix, scaling || engine != in_blocks ? engine : in_blocks_m, preconditioner, rtol);
        const std::vector<double> re = sides(a.rows, columns), im = sides(a.rows, columns + 3);
        std::vector<T> b, x(re.size());
        for (std::size_t i = 0; i < re.size(); ++i)
          b.push_back(static_cast<T>(Z(re[i], im[i + static_cast<std::size_t>(3 * a.rows)])));
        ASSERT_EQ(sxt_pcg_solve_block(pcg.get(), a.rows, columns, b.data(), a.rows, x.data(), a.rows, nullptr, nullptr),
                  SXT_OK)
            << sxt_last_error(context_.get());
        for (std::int64_t j = 0; j < columns; ++j) {
          const auto part = [&](const std::vector<T> &of) {
            return std::vector<Z>(of.begin() + j * a.rows, of.begin() + (j + 1) * a.rows);
          };
          EXPECT_LE(relative_residual(a, wide, part(b), part(x)), 1.1 * rtol) << j;
        }
      }
  }
}

TEST_F(PcgColumns, ComplexSystems) {
  complex_columns<Z>(in_blocks, 1e-9);
  complex_columns<std::complex<float>>(in_blocks, 1e-4);
  complex_columns<Z>(from_host, 1e-9);
  complex_columns<std::complex<float>>(from_host, 1e-4);
}

TEST_F(PcgColumns, DeviceArraysZerosAndFailures) {
  for (const char *engine : {from_host, in_blocks, in_blocks_m}) {
    SCOPED_TRACE(engine);
    zeros_and_failures(engine);
  }
}

void PcgColumns::zeros_and_failures(const char *engine) {
  const Csr a = laplacian(40, 0.05);
  const Matrix matrix = matrix_of(a);
  const Pcg pcg = create(matrix, engine);
  const std::int64_t n = a.rows, columns = 6;
  std::vector<double> b = sides(n, columns);
  std::fill(b.begin() + 3 * n, b.begin() + 4 * n, 0.0);
  const Vector rhs = make_vector(b), solution = make_vector(std::vector<double>(b.size(), 7));
  std::vector<sxt_pcg_report> reports(static_cast<std::size_t>(columns), new_report());
  ASSERT_EQ(sxt_pcg_solve_block(pcg.get(), n, columns, sxt_vector_data(rhs.get()), n, sxt_vector_data(solution.get()),
                                n, nullptr, reports.data()),
            SXT_OK)
      << sxt_last_error(context_.get());
  const std::vector<double> x = values_of(solution);
  for (std::int64_t j = 0; j < columns; ++j) {
    if (j == 3) {
      EXPECT_EQ(column_of(x, n, j), std::vector<double>(static_cast<std::size_t>(n), 0));
      EXPECT_EQ(reports[3].iterations, 0);
    } else {
      EXPECT_LE(relative_residual(a, column_of(b, n, j), column_of(x, n, j)), 1.0001e-9) << j;
    }
  }
  const Csr indefinite = laplacian(20, -1);
  const Matrix bad = matrix_of(indefinite);
  const Pcg broken = create(bad, engine);
  const std::vector<double> c = sides(indefinite.rows, 3);
  std::vector<double> y(c.size());
  EXPECT_EQ(sxt_pcg_solve_block(broken.get(), 400, 3, c.data(), 400, y.data(), 400, nullptr, reports.data()),
            SXT_NOT_CONVERGED);
  for (std::int64_t j = 0; j < 3; ++j) {
    std::vector<double> alone(400);
    const sxt_pcg_report own = solve(broken, column_of(c, 400, j), alone, SXT_NOT_CONVERGED);
    EXPECT_EQ(reports[static_cast<std::size_t>(j)].reason, SXT_REASON_A_INDEFINITE);
    EXPECT_EQ(reports[static_cast<std::size_t>(j)].iterations, own.iterations);
  }
}

// New values reach blocks that were captured before; guesses, limits and tolerances are each column's.
void PcgColumns::values_guesses_and_limits(const char *engine, const char *preconditioner) {
  Csr a = uneven(3000);
  const Matrix matrix = matrix_of(a);
  const Pcg pcg = create(matrix, engine, preconditioner);
  const std::int64_t n = a.rows, columns = 5;
  const std::vector<double> b = sides(n, columns);
  std::vector<double> x(b.size(), 0.5);
  std::vector<sxt_pcg_report> reports(static_cast<std::size_t>(columns), new_report());
  sxt_solve_options options = api_test::solve_options();
  options.use_initial_guess = 1;
  const auto solve_all = [&](sxt_status expected) {
    EXPECT_EQ(sxt_pcg_solve_block(pcg.get(), n, columns, b.data(), n, x.data(), n, &options, reports.data()), expected)
        << sxt_last_error(context_.get());
  };
  solve_all(SXT_OK);
  for (std::size_t i = 0; i < a.values.size(); ++i) a.values[i] *= 3;
  a.update(matrix);
  solve_all(SXT_OK);
  for (std::int64_t j = 0; j < columns; ++j)
    EXPECT_LE(relative_residual(a, column_of(b, n, j), column_of(x, n, j)), 1.0001e-9) << j;
  const std::vector<double> first = x;
  std::fill(x.begin(), x.end(), 0.5);
  solve_all(SXT_OK);
  std::vector<double> again(b.size(), 0.5);
  x.swap(again);
  solve_all(SXT_OK);
  EXPECT_EQ(x, again) << "equal bits from run to run";
  options.use_initial_guess = 0;
  options.max_iterations = 2;
  solve_all(SXT_NOT_CONVERGED);
  for (const sxt_pcg_report &report : reports) {
    EXPECT_EQ(report.reason, SXT_REASON_ITERATION_LIMIT);
    EXPECT_EQ(report.iterations, 2);
  }
}

TEST_F(PcgColumns, InBlocksFollowValuesGuessesAndLimits) {
  values_guesses_and_limits(in_blocks, "none");
  values_guesses_and_limits(in_blocks_m, "fsai");
  values_guesses_and_limits(in_blocks_m, "block-jacobi:4");
  values_guesses_and_limits(in_blocks_m, "chebyshev:7");
}

// Such systems are mostly latency, which many columns share. Answers are correct for every choice.
TEST_F(PcgColumns, TheModelDecides) {
  const Csr small = laplacian(140, 0.001);
  const Matrix matrix = matrix_of(small);
  const Pcg pcg = create(matrix, nullptr);
  const std::int64_t n = small.rows, columns = 32;
  const std::vector<double> b = sides(n, columns);
  std::vector<double> x(b.size());
  ASSERT_EQ(sxt_pcg_solve_block(pcg.get(), n, columns, b.data(), n, x.data(), n, nullptr, nullptr), SXT_OK);
  EXPECT_THAT(api_test::explain(pcg), HasSubstr(std::string("pcg-columns: ") + in_blocks));
  for (std::int64_t j = 0; j < columns; ++j)
    EXPECT_LE(relative_residual(small, column_of(b, n, j), column_of(x, n, j)), 1.0001e-9);
}

}  // namespace
