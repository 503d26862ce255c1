// SPDX-License-Identifier: BSD-3-Clause
// Solves on a GPU as callers use them: arrays of the host, of the device and managed ones, blocks of right-hand sides,
// answers compared with those of the CPU, and the errors of a solve inside a capture or with a lost stream.
#include <cmath>
#include <cstdint>

#include "pcg.hpp"

namespace {

using namespace gpu_test;
using api_test::laplacian;
using api_test::solve_options;
using testing::AnyOf;
using testing::HasSubstr;

class PcgCallers : public PcgGpu {
 protected:
  sxt_pcg_report solve_array(const Pcg &pcg, std::int64_t n, const void *b, void *x,
                             const sxt_solve_options *options = nullptr) {
    sxt_pcg_report report = new_report();
    EXPECT_EQ(sxt_pcg_solve_array(pcg.get(), n, b, x, options, &report), SXT_OK) << sxt_last_error(context_.get());
    return report;
  }
};

TEST_F(PcgCallers, HostAndDeviceArraysGiveEqualBits) {
  for (const char *engine : engines) {
    const Csr a = badly_scaled(30);
    const Matrix matrix = matrix_of(a);
    const Pcg pcg = create(matrix, engine);
    const std::vector<double> b = waves(a.rows);
    std::vector<double> vectors(b.size()), host(b.size(), 5);
    solve(pcg, b, vectors);
    const sxt_pcg_report report = solve_array(pcg, a.rows, b.data(), host.data());
    EXPECT_EQ(host, vectors) << engine;
    EXPECT_LE(report.true_relative_residual, 1e-9);

    // b on the device and x on the host, and the reverse.
    const Vector rhs = on_device(b, SXT_F64), solution = on_device(b, SXT_F64);
    std::fill(host.begin(), host.end(), 5);
    solve_array(pcg, a.rows, sxt_vector_data(rhs.get()), host.data());
    EXPECT_EQ(host, vectors) << engine;
    solve_array(pcg, a.rows, b.data(), sxt_vector_data(solution.get()));
    EXPECT_EQ(values_of(solution), vectors) << engine;
    solve_array(pcg, a.rows, sxt_vector_data(rhs.get()), sxt_vector_data(solution.get()));
    EXPECT_EQ(values_of(solution), vectors) << engine;
  }
}

TEST_F(PcgCallers, AGuessInAHostArrayIsUsed) {
  const Csr a = laplacian(40);
  const Matrix matrix = matrix_of(a);
  const Pcg pcg = create(matrix, nullptr);
  std::vector<double> exact(static_cast<std::size_t>(a.rows), 1), x = exact;
  const std::vector<double> b = a.times(exact);
  sxt_solve_options options = solve_options();
  options.use_initial_guess = 1;
  EXPECT_EQ(solve_array(pcg, a.rows, b.data(), x.data(), &options).iterations, 0);
  EXPECT_EQ(x, exact);
}

// The exact solution for the badly scaled matrix, rounded to doubles, already has a residual of 0.5e-10 |b|: 1e-9 is
// what any solver can reach.
TEST_F(PcgCallers, AnswersEqualThoseOfTheCpu) {
  constexpr double rtol = 1e-9;
  const Context cpu = open_context("cpu");
  ASSERT_TRUE(cpu);
  for (const Csr &a : {laplacian(50, 0.1), badly_scaled(25), uneven(3000)}) {
    const std::vector<double> b = waves(a.rows);
    std::vector<double> there(b.size()), here(b.size());
    const Matrix matrix = matrix_of(a);
    const Pcg pcg = create(matrix, nullptr, nullptr, rtol);
    solve_array(pcg, a.rows, b.data(), there.data());
    const Matrix of_cpu = api_test::make<Matrix>([&](sxt_matrix **out) {
      return sxt_matrix_from_csr(cpu.get(), a.rows, a.cols, a.ptr.data(), a.col.data(), a.values.data(), nullptr, out);
    });
    const Pcg on_cpu = create(of_cpu, nullptr, nullptr, rtol);
    ASSERT_EQ(sxt_pcg_solve_array(on_cpu.get(), a.rows, b.data(), here.data(), nullptr, nullptr), SXT_OK);
    double largest = 0, apart = 0;
    for (std::size_t i = 0; i < here.size(); ++i) {
      largest = std::max(largest, std::fabs(here[i]));
      apart = std::max(apart, std::fabs(here[i] - there[i]));
    }
    EXPECT_LE(apart, 1e-5 * largest) << a.rows << " rows";
  }
}

TEST_F(PcgCallers, BlocksOfRightHandSides) {
  const Csr a = uneven(2000);
  const Matrix matrix = matrix_of(a);
  const Pcg pcg = create(matrix, nullptr);
  const std::int64_t n = a.rows, columns = 3, ld = n + 8;
  std::vector<double> b(static_cast<std::size_t>(columns * ld), 1e300), x(b.size(), 5);
  for (std::int64_t j = 0; j < columns; ++j)
    for (std::int64_t i = 0; i < n; ++i) b[j * ld + i] = std::cos(0.01 * static_cast<double>((j * j + 1) * i));
  std::vector<sxt_pcg_report> reports(columns, new_report());
  const Vector rhs = on_device(b, SXT_F64), solution = on_device(x, SXT_F64);
  ASSERT_EQ(sxt_pcg_solve_block(pcg.get(), n, columns, b.data(), ld, x.data(), ld, nullptr, reports.data()), SXT_OK)
      << sxt_last_error(context_.get());
  ASSERT_EQ(sxt_pcg_solve_block(pcg.get(), n, columns, sxt_vector_data(rhs.get()), ld, sxt_vector_data(solution.get()),
                                ld, nullptr, nullptr),
            SXT_OK);
  EXPECT_EQ(values_of(solution), x);
  for (std::int64_t j = 0; j < columns; ++j) {
    const double *right = b.data() + j * ld, *found = x.data() + j * ld;
    EXPECT_LE(relative_residual(a, {right, right + n}, {found, found + n}), 1.0001e-9) << j;
    EXPECT_EQ(reports[j].reason, SXT_REASON_CONVERGED);
    EXPECT_EQ(found[n], 5);
  }
}

TEST_F(PcgCallers, ASolveInsideACaptureIsRefusedAndLeavesItWhole) {
  const Csr a = laplacian(20);
  const Matrix matrix = matrix_of(a);
  const std::vector<double> b = waves(a.rows);
  std::vector<double> x(b.size());
  void *stream = nullptr;
  ASSERT_EQ(ops().stream_create(handle(), &stream), SXT_OK);
  ASSERT_EQ(sxt_context_set_stream(context_.get(), stream), SXT_OK);
  for (const char *engine : engines) {
    const Pcg pcg = create(matrix, engine);
    solve_array(pcg, a.rows, b.data(), x.data());
    const std::vector<double> answer = x;
    const Vector y = make_vector(std::vector<double>(100, 1));
    const double two = 2;
    ASSERT_EQ(sxt_scale(&two, y.get()), SXT_OK);  // sets the kernel up
    void *graph = nullptr;
    ASSERT_EQ(ops().capture_begin(handle(), stream), SXT_OK);
    EXPECT_EQ(sxt_scale(&two, y.get()), SXT_OK);
    EXPECT_EQ(sxt_pcg_solve_array(pcg.get(), a.rows, b.data(), x.data(), nullptr, nullptr), SXT_E_STATE);
    EXPECT_THAT(sxt_last_error(context_.get()), HasSubstr("captur"));
    ASSERT_EQ(ops().capture_end(handle(), stream, &graph), SXT_OK);
    ASSERT_EQ(ops().graph_launch(handle(), stream, graph), SXT_OK);
    ASSERT_EQ(sxt_context_synchronize(context_.get()), SXT_OK);
    EXPECT_EQ(values_of(y), std::vector<double>(100, 4)) << engine;
    EXPECT_EQ(x, answer);
    solve_array(pcg, a.rows, b.data(), x.data());
    EXPECT_EQ(x, answer) << engine;
    ops().graph_destroy(handle(), graph);
  }
  ASSERT_EQ(sxt_context_set_stream(context_.get(), nullptr), SXT_OK);
  ops().stream_destroy(handle(), stream);
}

TEST_F(PcgCallers, ReportsLaunchesAndWaits) {
  const Csr a = laplacian(100);
  const Matrix matrix = matrix_of(a);
  const std::vector<double> b = waves(a.rows);
  for (const char *engine : engines) {
    std::vector<double> x(b.size());
    const sxt_pcg_report report = solve_array(create(matrix, engine), a.rows, b.data(), x.data());
    EXPECT_GT(report.launches, 0) << engine;
    EXPECT_LT(report.launches, report.iterations / 2) << engine;
    EXPECT_LT(report.reductions, report.iterations / 4) << engine;
  }
}

// The probe on the device: an estimate near the true number, and about the same one each time.
TEST_F(PcgCallers, TheProbeEstimatesIterations) {
  const Csr a = laplacian(150);
  const Matrix matrix = matrix_of(a);
  sxt_pcg_options options = pcg_options();
  options.probe = 60;
  double first = 0;
  for (int i = 0; i < 2; ++i) {
    const Pcg pcg = api_test::make<Pcg>([&](sxt_pcg **out) { return sxt_pcg_create(matrix.get(), &options, out); });
    const std::vector<double> b = waves(a.rows);
    std::vector<double> x(b.size());
    const sxt_pcg_report report = solve_array(pcg, a.rows, b.data(), x.data());
    const auto taken = static_cast<double>(report.iterations);
    EXPECT_EQ(report.probe_iterations, 60);
    EXPECT_GT(report.predicted_iterations, 0.4 * taken);
    EXPECT_LT(report.predicted_iterations, 2.5 * taken);
    if (i > 0) EXPECT_NEAR(report.predicted_iterations, first, 1e-6 * first);  // sums in another order
    first = report.predicted_iterations;
  }
}

TEST_F(PcgCallers, AMatrixInSinglePrecisionMeetsATightTolerance) {
  Csr a = badly_scaled(40);
  for (double &each : a.values) each /= 3;  // no float holds them
  const Matrix matrix = matrix_of(a);
  const std::vector<double> b = waves(a.rows);
  for (const char *engine : engines) {
    sxt_pcg_options options = pcg_options();
    options.engine = engine;
    options.format = "csr:f32";
    options.rtol = 1e-9;
    if (engine == pair || engine == pair_m) {  // these multiply by A themselves, in the vectors' type
      sxt_pcg *refused = nullptr;
      EXPECT_EQ(sxt_pcg_create(matrix.get(), &options, &refused), SXT_E_NOT_SUPPORTED) << engine;
      EXPECT_THAT(sxt_last_error(context_.get()), HasSubstr("a matrix of type f32 under vectors of type f64 is not offered"));
      sxt_pcg_destroy(refused);
      continue;
    }
    const Pcg pcg = api_test::make<Pcg>([&](sxt_pcg **out) { return sxt_pcg_create(matrix.get(), &options, out); });
    ASSERT_TRUE(pcg) << sxt_last_error(context_.get());
    std::vector<double> x(b.size());
    const sxt_pcg_report report = solve_array(pcg, a.rows, b.data(), x.data());
    EXPECT_LE(relative_residual(a, b, x), 1.0001e-9) << engine;
    EXPECT_GT(report.replacements, 0) << engine;
    EXPECT_THAT(api_test::explain(pcg), HasSubstr("reads A in f32"));
  }
}

TEST_F(PcgCallers, AZeroOnTheDiagonalNamesTheRow) {
  Csr a = laplacian(5);
  for (std::int32_t k = a.ptr[7]; k < a.ptr[8]; ++k)
    if (a.col[k] == 7) a.values[k] = 0;
  const Matrix matrix = matrix_of(a);
  sxt_pcg *pcg = nullptr;
  EXPECT_EQ(sxt_pcg_create(matrix.get(), nullptr, &pcg), SXT_E_DIAGONAL);
  EXPECT_THAT(sxt_last_error(context_.get()), HasSubstr("row 7"));
}

// A chain with one row far larger than all others, which the direction reaches after six iterations: there the sum
// overflows, or no digit of the others is left.
TEST_F(PcgCallers, ARowBeyondAllOthersGivesNoFalseReport) {
  constexpr int n = 2000, row = 6;
  Csr a;
  a.rows = a.cols = n;
  for (int i = 0; i < n; ++i) {
    if (i > 0) a.entry(i - 1, -1);
    a.entry(i, i == row ? 1e308 : 2);
    if (i + 1 < n) a.entry(i + 1, -1);
    a.end_row();
  }
  std::vector<double> b(n, 0);
  b[0] = 1e6;
  const Matrix matrix = matrix_of(a);
  for (const char *engine : engines) {
    const Pcg pcg = create(matrix, engine, "none");
    std::vector<double> x(n, 7);
    const sxt_pcg_report report = solve(pcg, b, x, SXT_NOT_CONVERGED);
    EXPECT_THAT(report.reason, AnyOf(SXT_REASON_NOT_A_NUMBER, SXT_REASON_STAGNATED, SXT_REASON_DIVERGED)) << engine;
    EXPECT_GE(report.iterations, row) << engine;
    EXPECT_LE(relative_residual(a, b, x), 1 + 1e-12) << engine;
  }
}

TEST_F(PcgCallers, NanInBIsNamed) {
  const Csr a = laplacian(20);
  const Matrix matrix = matrix_of(a);
  const Pcg pcg = create(matrix, nullptr);
  std::vector<double> b = waves(a.rows), x(b.size(), 3);
  b[17] = std::nan("");
  EXPECT_EQ(sxt_pcg_solve_array(pcg.get(), a.rows, b.data(), x.data(), nullptr, nullptr), SXT_E_NOT_FINITE);
  EXPECT_THAT(sxt_last_error(context_.get()), HasSubstr("b holds NaN"));
  EXPECT_EQ(x, std::vector<double>(x.size(), 3));
}

TEST_F(PcgCallers, VectorsAreWrittenAndRead) {
  const std::vector<double> values = waves(1000);
  std::vector<double> back(values.size());
  const Vector vector = make_vector(std::vector<double>(values.size(), 0));
  ASSERT_EQ(sxt_vector_write(vector.get(), values.data()), SXT_OK);
  EXPECT_EQ(values_of(vector), values);
  ASSERT_EQ(sxt_vector_read(vector.get(), back.data()), SXT_OK);
  EXPECT_EQ(back, values);
}

}  // namespace
