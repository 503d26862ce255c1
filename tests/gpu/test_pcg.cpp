// SPDX-License-Identifier: BSD-3-Clause
// Conjugate gradients on a GPU: every engine and recurrence against the true residual, over types and problems; typed
// failures with their iteration; equal bits; new values; threads that share a set-up; streams that cannot be captured.
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <thread>

#include "pcg.hpp"

namespace {

using namespace gpu_test;
using api_test::explain;
using api_test::laplacian;
using api_test::solve_options;
using testing::HasSubstr;

class PcgEngine : public PcgGpu, public testing::WithParamInterface<const char *> {};

TEST_P(PcgEngine, MeetsTheToleranceOnEveryProblem) {
  for (const Csr &a : {laplacian(40), badly_scaled(30), uneven(3000), laplacian(1, 1), laplacian(2)}) {
    const Matrix matrix = matrix_of(a);
    const Pcg pcg = create(matrix, GetParam());
    const std::vector<double> b = waves(a.rows);
    std::vector<double> x(b.size());
    const sxt_pcg_report report = solve(pcg, b, x);
    EXPECT_EQ(report.reason, SXT_REASON_CONVERGED);
    EXPECT_LE(relative_residual(a, b, x), 1.0001e-9) << a.rows << " rows";
    EXPECT_THAT(explain(pcg), HasSubstr(GetParam()));
  }
}

// Iteration k gives iterate k on every engine, so the first residuals are those of the plain recurrence.
TEST_P(PcgEngine, FollowsTheTextbookRecurrence) {
  const Csr a = laplacian(40);
  const std::vector<double> b = waves(a.rows);
  std::vector<double> history(60), x(b.size());
  volatile std::int64_t length = 0;
  sxt_solve_options options = solve_options();
  options.history = history.data();
  options.history_capacity = static_cast<std::int64_t>(history.size());
  options.history_length = &length;
  const Matrix matrix = matrix_of(a);
  solve(create(matrix, GetParam(), "none"), b, x, SXT_OK, &options);
  ASSERT_EQ(length, 60);

  std::vector<double> r = b, p = b;
  const auto dot = [](const std::vector<double> &u, const std::vector<double> &v) {
    double sum = 0;
    for (std::size_t i = 0; i < u.size(); ++i) sum += u[i] * v[i];
    return sum;
  };
  double gamma = dot(r, r);
  for (std::size_t k = 0; k < history.size(); ++k) {
    EXPECT_NEAR(history[k] / std::sqrt(gamma), 1, 1e-6) << "iterate " << k;
    const std::vector<double> q = a.times(p);
    const double alpha = gamma / dot(p, q);
    for (std::size_t i = 0; i < r.size(); ++i) r[i] -= alpha * q[i];
    const double next = dot(r, r);
    for (std::size_t i = 0; i < p.size(); ++i) p[i] = r[i] + next / gamma * p[i];
    gamma = next;
  }
}

TEST_P(PcgEngine, RepeatsItsBits) {
  const Csr a = uneven(5000);
  const Matrix matrix = matrix_of(a);
  const Pcg pcg = create(matrix, GetParam()), other = create(matrix, GetParam());
  const std::vector<double> b = waves(a.rows);
  std::vector<double> first(b.size()), again(b.size()), anew(b.size());
  solve(pcg, b, first);
  solve(pcg, b, again);
  solve(other, b, anew);
  EXPECT_EQ(first, again);
  EXPECT_EQ(first, anew);
}

TEST_P(PcgEngine, NamesWhatIsWrong) {
  std::vector<double> x(400);
  const Csr indefinite = laplacian(20, -1);
  const Matrix matrix = matrix_of(indefinite);
  sxt_pcg_report report = solve(create(matrix, GetParam()), waves(400), x, SXT_NOT_CONVERGED);
  EXPECT_EQ(report.reason, SXT_REASON_A_INDEFINITE);
  EXPECT_GT(report.iterations, 0);
  for (const double each : x) EXPECT_TRUE(std::isfinite(each));

  Csr huge = laplacian(20);  // A p would leave the range of numbers in the first iteration: the set-up scales
  for (double &each : huge.values) each *= 3e307;
  const Matrix beyond = matrix_of(huge);
  std::vector<double> b(400, 1e10), y(400, 7);
  report = solve(create(beyond, GetParam(), "none"), b, y);
  EXPECT_EQ(report.reason, SXT_REASON_CONVERGED);
  EXPECT_LE(relative_residual(huge, b, y), 1.0001e-9);
}

// Two halves of a diagonal: the residual of the first iterate is nine times that of zero. The host notices after a
// block, and the second iterate is the last.
TEST_P(PcgEngine, GrowthBeyondTheLimitIsDivergence) {
  std::vector<double> entries(400, 1), b(400, 1), x(400);
  std::fill(entries.begin() + 200, entries.end(), 1000);
  std::fill(b.begin() + 200, b.end(), 0.01);
  const Matrix matrix = matrix_of(api_test::diagonal(entries));
  sxt_pcg_options options = pcg_options();
  options.engine = GetParam();
  options.preconditioner = "none";
  options.divergence_limit = 5;
  const Pcg pcg = api_test::make<Pcg>([&](sxt_pcg **out) { return sxt_pcg_create(matrix.get(), &options, out); });
  const sxt_pcg_report report = solve(pcg, b, x, SXT_NOT_CONVERGED);
  EXPECT_EQ(report.reason, SXT_REASON_DIVERGED);
  EXPECT_TRUE(report.iterations == 1 || report.iterations == 2) << report.iterations;
}

TEST_P(PcgEngine, StopsAtTheLimit) {
  const Csr a = laplacian(40);
  const Matrix matrix = matrix_of(a);
  const Pcg pcg = create(matrix, GetParam());
  const std::vector<double> b = waves(a.rows);
  std::vector<double> x(b.size()), exact(b.size(), 1);
  sxt_solve_options options = solve_options();
  for (const std::int64_t limit : {1, 3, 20}) {
    options.max_iterations = limit;
    const sxt_pcg_report report = solve(pcg, b, x, SXT_NOT_CONVERGED, &options);
    EXPECT_EQ(report.reason, SXT_REASON_ITERATION_LIMIT);
    EXPECT_EQ(report.iterations, limit);
  }
  options = solve_options();
  options.progress = [](void *, std::int64_t iteration, double) -> std::int32_t { return iteration >= 5; };
  EXPECT_EQ(solve(pcg, b, x, SXT_NOT_CONVERGED, &options).reason, SXT_REASON_CANCELLED);

  options = solve_options();
  options.use_initial_guess = 1;
  std::vector<double> guess = exact;
  EXPECT_EQ(solve(pcg, a.times(exact), guess, SXT_OK, &options).iterations, 0);
  EXPECT_EQ(guess, exact);
  std::vector<double> zero(b.size(), 0);
  EXPECT_EQ(solve(pcg, zero, x).iterations, 0);
  EXPECT_EQ(x, zero);
}

TEST_P(PcgEngine, ConvergesFromAGuess) {
  const Csr a = badly_scaled(25);
  const Matrix matrix = matrix_of(a);
  const Pcg pcg = create(matrix, GetParam());
  const std::vector<double> b = waves(a.rows);
  std::vector<double> cold(b.size()), warm(b.size());
  const std::int64_t from_zero = solve(pcg, b, cold).iterations;
  warm = cold;
  for (double &each : warm) each *= 1 + 1e-4;
  sxt_solve_options options = solve_options();
  options.use_initial_guess = 1;
  EXPECT_LE(solve(pcg, b, warm, SXT_OK, &options).iterations, from_zero);
  EXPECT_LE(relative_residual(a, b, warm), 1.0001e-9);
}

TEST_P(PcgEngine, NewValuesReachTheNextSolve) {
  const Csr first = laplacian(30, 1), second = badly_scaled(30);
  const Matrix matrix = matrix_of(first);
  const Pcg pcg = create(matrix, GetParam(), "jacobi");
  const std::vector<double> b = waves(first.rows);
  std::vector<double> x(b.size());
  solve(pcg, b, x);
  EXPECT_LE(relative_residual(first, b, x), 1.0001e-9);
  second.update(matrix);
  solve(pcg, b, x);
  EXPECT_LE(relative_residual(second, b, x), 1.0001e-9);
}

TEST_P(PcgEngine, ThreadsShareASetUp) {
  const Csr a = uneven(4000);
  const Matrix matrix = matrix_of(a);
  const Pcg pcg = create(matrix, GetParam());
  const std::vector<double> b = waves(a.rows);
  std::vector<double> alone(b.size());
  solve(pcg, b, alone);
  std::vector<std::vector<double>> x(2, std::vector<double>(b.size()));
  std::vector<std::thread> threads;
  for (std::vector<double> &own : x)
    threads.emplace_back([&] {
      for (int i = 0; i < 5; ++i) solve(pcg, b, own);
    });
  for (std::thread &each : threads) each.join();
  EXPECT_EQ(x[0], alone);
  EXPECT_EQ(x[1], alone);
}

TEST_P(PcgEngine, SinglePrecision) {
  const Csr a = laplacian(30, 0.1);
  const std::vector<float> values(a.values.begin(), a.values.end());
  sxt_matrix_options as_single = api_test::matrix_options();
  as_single.value_type = SXT_F32;
  const Matrix matrix = api_test::make<Matrix>([&](sxt_matrix **out) {
    return sxt_matrix_from_csr(context_.get(), a.rows, a.cols, a.ptr.data(), a.col.data(), values.data(), &as_single,
                               out);
  });
  const Pcg pcg = create(matrix, GetParam(), nullptr, 1e-4);
  std::vector<float> b(static_cast<std::size_t>(a.rows), 1), x(b.size());
  solve_as(pcg, SXT_F32, b, x);
  const std::vector<double> wide(x.begin(), x.end());
  EXPECT_LE(relative_residual(a, std::vector<double>(b.begin(), b.end()), wide), 1.1e-4);
}

INSTANTIATE_TEST_SUITE_P(Engines, PcgEngine, testing::ValuesIn(engines), [](const auto &info) {
  std::string name = info.param;
  for (char &each : name)
    if (!std::isalnum(static_cast<unsigned char>(each))) each = '_';
  return name;
});

TEST_F(PcgGpu, ComplexHermitianSystems) {
  const Csr a = laplacian(20, 0.5);
  const std::vector<Z> values = turned(a);
  const Matrix matrix = complex_matrix(a, values);
  const std::vector<Z> b(static_cast<std::size_t>(a.rows), Z(1, -2));
  for (const char *engine : engines) {
    if (engine == persistent || engine == cooperative) continue;  // for real types
    const Pcg pcg = create(matrix, engine);
    std::vector<Z> x(b.size());
    solve_as(pcg, SXT_C128, b, x);
    EXPECT_LE(relative_residual(a, values, b, x), 1.0001e-9) << engine;
  }
}

// The legacy stream cannot be captured, so the graph engine launches the same kernels one by one: equal bits. Its parts
// are chosen in a deterministic context, because otherwise a measurement in between may change a launch.
TEST_F(PcgGpu, ReplayEqualsEager) {
  const Csr a = uneven(3000);
  const std::vector<double> b = waves(a.rows);
  for (const char *engine : engines) {
    context_ = open_context("cuda", 0, std::string(engine).starts_with("pcg.graph."));
    const Matrix matrix = matrix_of(a);
    std::vector<double> replayed(b.size()), eager(b.size());
    solve(create(matrix, engine), b, replayed);
    void *const legacy = reinterpret_cast<void *>(1);  // cudaStreamLegacy
    ASSERT_EQ(sxt_context_set_stream(context_.get(), legacy), SXT_OK) << sxt_last_error(context_.get());
    solve(create(matrix, engine), b, eager);
    ASSERT_EQ(sxt_context_set_stream(context_.get(), nullptr), SXT_OK);
    EXPECT_EQ(replayed, eager) << engine;
  }
}

// Storages by diagonals leave out one that is all ones: captured blocks must not leave it out when new values change
// it.
TEST_F(PcgGpu, ADiagonalThatIsNoLongerOnesReachesCapturedBlocks) {
  const Csr many = laplacian(40, 1);
  Csr ones = many;
  for (double &each : ones.values) each /= 5;
  const std::vector<double> b = waves(many.rows);
  for (const char *engine : engines) {
    if (!std::string(engine).starts_with("pcg.graph.")) continue;
    const Matrix matrix = matrix_of(ones);
    const Pcg pcg = create(matrix, engine, "none", 1e-9, 0, "dia-symmetric");
    std::vector<double> x(b.size());
    for (const Csr &a : {ones, many, ones}) {
      a.update(matrix);
      solve(pcg, b, x);
      EXPECT_LE(relative_residual(a, b, x), 1.0001e-9) << engine;
    }
  }
}

// Values that a set-up found symmetric may be followed by others that are not.
TEST_F(PcgGpu, ATransposeFollowsValuesThatAreNoLongerSymmetric) {
  Csr a = laplacian(30);
  const Matrix matrix = matrix_of(a);
  create(matrix, nullptr);
  for (std::size_t k = 0; k < a.values.size(); ++k) a.values[k] = static_cast<double>(k % 7);
  a.update(matrix);
  const std::vector<double> b = waves(a.rows);
  const Vector x = on_device(b, SXT_F64), y = on_device(b, SXT_F64);
  ASSERT_EQ(sxt_spmv(SXT_TRANSPOSE, nullptr, matrix.get(), x.get(), nullptr, y.get()), SXT_OK);
  std::vector<double> want(b.size());
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int32_t k = a.ptr[i]; k < a.ptr[i + 1]; ++k) want[a.col[k]] += a.values[k] * b[i];
  const std::vector<double> got = values_of(y);
  for (std::size_t i = 0; i < want.size(); ++i) ASSERT_NEAR(got[i], want[i], 1e-12) << i;
}

TEST_F(PcgGpu, HostIsAskedOncePerBlock) {
  const Csr a = laplacian(100);
  const Matrix matrix = matrix_of(a);
  const std::vector<double> b = waves(a.rows);
  for (const char *engine : engines) {
    std::vector<double> x(b.size());
    const sxt_pcg_report report = solve(create(matrix, engine), b, x);
    EXPECT_GT(report.iterations, 100);
    EXPECT_LT(report.reductions, report.iterations / 4) << engine;
  }
}

TEST_F(PcgGpu, OneNumberBesideTheDiagonalOrSeveral) {
  const Csr even = laplacian(300, 0.01);  // some rows a thread of the persistent engine
  Csr uneven = even;                      // the first two rows are coupled less than all others
  ASSERT_EQ(uneven.col[1], 1);
  uneven.values[1] = uneven.values[uneven.ptr[1]] = -0.5;
  const Matrix matrix = matrix_of(even);
  const Pcg pcg = create(matrix, persistent, "none");
  const std::vector<double> b = waves(even.rows);
  const Csr *const turns[] = {&even, &uneven, &even};
  for (const Csr *a : turns) {
    a->update(matrix);
    std::vector<double> x(b.size());
    solve(pcg, b, x);
    EXPECT_LE(relative_residual(*a, b, x), 1.0001e-9);
  }
}

TEST_F(PcgGpu, ThePersistentEngineReportsWhatDoesNotFit) {
  const Csr a = laplacian(800);  // 640000 rows
  const Matrix matrix = matrix_of(a);
  sxt_pcg_options options = pcg_options();
  options.engine = persistent;
  sxt_pcg *pcg = nullptr;
  EXPECT_LT(sxt_pcg_create(matrix.get(), &options, &pcg), 0);
  EXPECT_THAT(sxt_last_error(context_.get()), HasSubstr("640000 rows on"));
  sxt_pcg_destroy(pcg);
}

}  // namespace
