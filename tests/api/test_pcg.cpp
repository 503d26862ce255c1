// SPDX-License-Identifier: BSD-3-Clause
// Conjugate gradients: right answers, from every engine and preconditioner, for every type, from many threads.
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <thread>

#include "tests/api/support.hpp"

namespace api_test {
namespace {

Pcg create(const Matrix &a, const sxt_pcg_options *options, sxt_status expected = SXT_OK) {
  return make<Pcg>([&](sxt_pcg **out) { return sxt_pcg_create(a.get(), options, out); }, expected);
}

struct Variant {
  const char *recurrence, *preconditioner, *format;
  friend void PrintTo(const Variant &v, std::ostream *out) {
    for (const char *name : {v.recurrence, v.preconditioner, v.format}) *out << (name ? name : "NULL") << ' ';
  }
};
class PcgVariantTest : public testing::TestWithParam<Variant> {};

TEST_P(PcgVariantTest, MeetsTheToleranceInTheCallersNorm) {
  const Context context = cpu();
  const Csr a = badly_scaled(20);
  std::vector<double> b(static_cast<std::size_t>(a.rows)), x(b.size());
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = std::cos(static_cast<double>(i));
  sxt_pcg_options options = pcg_options();
  options.recurrence = GetParam().recurrence;
  options.preconditioner = GetParam().preconditioner;
  options.format = GetParam().format;
  options.rtol = 1e-9;
  options.max_iterations = 100000;
  const Matrix matrix = a.matrix(context);
  const sxt_pcg_report report = solve(create(matrix, &options), b, x);
  EXPECT_EQ(report.reason, SXT_REASON_CONVERGED);
  EXPECT_LE(relative_residual(a, b, x), 1.0001e-9);
  EXPECT_NEAR(report.true_relative_residual / relative_residual(a, b, x), 1, 0.01);
  EXPECT_GT(report.iterations, 10);
  EXPECT_GT(report.products, report.iterations);
}

INSTANTIATE_TEST_SUITE_P(Variants, PcgVariantTest,
                         testing::Values(Variant{nullptr, nullptr, nullptr}, Variant{"classical", "jacobi", "csr"},
                                         Variant{"chronopoulos-gear", "jacobi", "coo"},
                                         Variant{"predict-recompute", "jacobi", "csr"},
                                         Variant{"auto", "auto", "auto"}));

TEST(PcgTest, EveryEngineCanBeForced) {
  const Context context = cpu();
  const Csr a = laplacian(15);
  const Matrix matrix = a.matrix(context);
  std::vector<double> b(225, 1), x(225);
  for (const char *engine : {"pcg.reference.cpu", "pcg.host-loop.classical.cpu", "pcg.host-loop.chronopoulos-gear.cpu",
                             "pcg.host-loop.predict-recompute.cpu"}) {
    sxt_pcg_options options = pcg_options();
    options.engine = engine;
    const Pcg pcg = create(matrix, &options);
    EXPECT_NE(explain(pcg).find(engine), std::string::npos);
    std::fill(x.begin(), x.end(), 0);
    solve(pcg, b, x);
    EXPECT_LE(relative_residual(a, b, x), 1.0001e-8) << engine;
  }
}

TEST(PcgTest, OtherValueTypes) {
  using Z = std::complex<double>;
  const Context context = cpu();
  const Csr real = laplacian(9, 0.5);
  std::vector<Z> values(real.values.begin(), real.values.end());
  for (std::int64_t i = 0; i < real.rows; ++i)
    for (std::int32_t k = real.ptr[i]; k < real.ptr[i + 1]; ++k)
      if (real.col[k] != i) values[k] = real.col[k] > i ? Z(-0.6, 0.8) : Z(-0.6, -0.8);
  sxt_matrix_options as_complex = matrix_options();
  as_complex.value_type = SXT_C128;
  const Matrix matrix = make<Matrix>([&](sxt_matrix **out) {
    return sxt_matrix_from_csr(context.get(), real.rows, real.cols, real.ptr.data(), real.col.data(), values.data(),
                               &as_complex, out);
  });
  const Pcg pcg = create(matrix, nullptr);
  std::vector<Z> b(81, Z(1, -2)), x(81);
  sxt_pcg_report report = new_report();
  EXPECT_EQ(sxt_pcg_solve_array(pcg.get(), 81, b.data(), x.data(), nullptr, &report), SXT_OK) << last_error(context);
  EXPECT_LE(report.true_relative_residual, 1e-8);

  std::vector<float> singles(real.values.begin(), real.values.end()), bf(81, 1), xf(81);
  sxt_matrix_options as_single = matrix_options();
  as_single.value_type = SXT_F32;
  const Matrix small = make<Matrix>([&](sxt_matrix **out) {
    return sxt_matrix_from_csr(context.get(), real.rows, real.cols, real.ptr.data(), real.col.data(), singles.data(),
                               &as_single, out);
  });
  sxt_pcg_options loose = pcg_options();
  loose.rtol = 1e-5;
  const Pcg single = create(small, &loose);
  EXPECT_EQ(sxt_pcg_solve_array(single.get(), 81, bf.data(), xf.data(), nullptr, &report), SXT_OK)
      << last_error(context);
  EXPECT_LE(report.true_relative_residual, 1e-5);
}

TEST(PcgTest, WarmStartAndExactGuess) {
  const Context context = cpu();
  const Csr a = laplacian(12);
  const Matrix matrix = a.matrix(context);
  const Pcg pcg = create(matrix, nullptr);
  std::vector<double> solution(144);
  for (std::size_t i = 0; i < solution.size(); ++i) solution[i] = std::sin(1.7 * static_cast<double>(i * i % 53));
  std::vector<double> b = a.times(solution), x = solution;
  sxt_solve_options warm = solve_options();
  warm.use_initial_guess = 1;
  EXPECT_EQ(solve(pcg, b, x, SXT_OK, &warm).iterations, 0);
  EXPECT_EQ(x, solution);
  for (double &each : x) each *= 1 + 1e-5;
  const std::int64_t near = solve(pcg, b, x, SXT_OK, &warm).iterations;
  std::fill(x.begin(), x.end(), 0);
  EXPECT_LT(near, solve(pcg, b, x).iterations);
}

// The diagonal's square roots are no round numbers: scaled and scaled back, the guess would have other bits.
TEST(PcgTest, AnExactGuessKeepsItsBitsWhereASystemIsScaled) {
  const Context context = cpu();
  Csr a = laplacian(12);
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int64_t k = a.ptr[static_cast<std::size_t>(i)]; k < a.ptr[static_cast<std::size_t>(i) + 1]; ++k)
      if (a.col[static_cast<std::size_t>(k)] == i)
        a.values[static_cast<std::size_t>(k)] += 0.37 * static_cast<double>(i);
  const Matrix matrix = a.matrix(context);
  sxt_pcg_options options = pcg_options();
  options.preconditioner = "jacobi";
  const Pcg pcg = create(matrix, &options);
  std::vector<double> solution(144);
  for (std::size_t i = 0; i < solution.size(); ++i) solution[i] = std::sin(1.7 * static_cast<double>(i * i % 53));
  std::vector<double> x = solution;
  sxt_solve_options warm = solve_options();
  warm.use_initial_guess = 1;
  EXPECT_EQ(solve(pcg, a.times(solution), x, SXT_OK, &warm).iterations, 0);
  EXPECT_EQ(x, solution);
}

TEST(PcgTest, ZeroRightHandSideEmptyAndOneByOne) {
  const Context context = cpu();
  const Matrix matrix = laplacian(5).matrix(context);
  std::vector<double> b(25, 0), x(25, 9);
  const sxt_pcg_report report = solve(create(matrix, nullptr), b, x);
  EXPECT_EQ(report.reason, SXT_REASON_CONVERGED);
  EXPECT_EQ(report.iterations, 0);
  EXPECT_EQ(x, b);
  std::vector<double> nothing;
  const Matrix empty = Csr{}.matrix(context);
  EXPECT_EQ(solve(create(empty, nullptr), nothing, nothing).reason, SXT_REASON_CONVERGED);
  const Matrix one = diagonal({4}).matrix(context);
  std::vector<double> b1{8}, x1{0};
  solve(create(one, nullptr), b1, x1);
  EXPECT_DOUBLE_EQ(x1[0], 2);
}

TEST(PcgTest, NewValuesReachTheNextSolve) {
  const Context context = cpu();
  const Csr first = laplacian(10), second = badly_scaled(10);
  const Matrix matrix = first.matrix(context);
  const Pcg pcg = create(matrix, nullptr);
  sxt_pcg_options scaled = pcg_options();
  scaled.preconditioner = "jacobi";
  const Pcg with_jacobi = create(matrix, &scaled);
  std::vector<double> b(100, 1), x(100);
  solve(with_jacobi, b, x);
  EXPECT_LE(relative_residual(first, b, x), 1.0001e-8);
  second.update(matrix);
  solve(with_jacobi, b, x);
  EXPECT_LE(relative_residual(second, b, x), 1.0001e-8);
}

TEST(PcgTest, OneSetUpServesManyThreads) {
  const Context context = cpu(1);
  const Csr a = laplacian(16, 0.1);
  const Matrix matrix = a.matrix(context);
  const Pcg pcg = create(matrix, nullptr);
  std::vector<std::vector<double>> b(4), x(4);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    b[t].assign(256, 0);
    for (int i = 0; i < 256; ++i) b[t][i] = std::sin(1.0 + t + i);
    x[t].assign(256, 0);
    threads.emplace_back([&, t] {
      for (int repeat = 0; repeat < 5; ++repeat) {
        std::fill(x[t].begin(), x[t].end(), 0);
        sxt_pcg_report report = new_report();
        EXPECT_EQ(sxt_pcg_solve_array(pcg.get(), 256, b[t].data(), x[t].data(), nullptr, &report), SXT_OK);
      }
    });
  }
  for (std::thread &thread : threads) thread.join();
  for (int t = 0; t < 4; ++t) EXPECT_LE(relative_residual(a, b[t], x[t]), 1.0001e-8);
}

TEST(PcgTest, DeterministicContextsGiveEqualBitsOnAnyThreads) {
  std::vector<std::vector<double>> answers;
  for (const int threads : {1, 2, 4}) {
    sxt_context_options options = context_options();
    options.device = "cpu";
    options.threads = threads;
    options.deterministic = 1;
    const Context context = make<Context>([&](sxt_context **out) { return sxt_context_create(&options, out); });
    const Matrix matrix = badly_scaled(40).matrix(context);
    sxt_pcg_options pcg = pcg_options();
    pcg.recurrence = "classical";  // the choice itself may depend on the number of threads
    std::vector<double> b(1600, 1), x(1600);
    solve(create(matrix, &pcg), b, x);
    answers.push_back(x);
  }
  EXPECT_EQ(std::memcmp(answers[0].data(), answers[1].data(), 1600 * sizeof(double)), 0);
  EXPECT_EQ(std::memcmp(answers[0].data(), answers[2].data(), 1600 * sizeof(double)), 0);
}

TEST(PcgTest, ExplainsInTextAndJson) {
  const Context context = cpu();
  const Matrix matrix = badly_scaled(8).matrix(context);
  const Pcg pcg = create(matrix, nullptr);
  const std::string text = explain(pcg), json = explain(pcg, SXT_JSON);
  for (const char *part : {"preconditioner", "jacobi", "Plan:", "why:", "Candidates for pcg", "spmv.csr.rows.cpu"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  for (const char *key : {"\"candidates\"", "\"predicted_setup_s\"", "\"predicted_run_s\"", "\"rel_error\"",
                          "\"memory_bytes\"", "\"chosen\": true", "\"reason\"", "\"plan\""})
    EXPECT_NE(json.find(key), std::string::npos) << key;
  EXPECT_EQ(sxt_pcg_explain(pcg.get(), 9, nullptr, 0, nullptr), SXT_E_ARGUMENT);
}

}  // namespace
}  // namespace api_test
