// SPDX-License-Identifier: BSD-3-Clause
// Sparse Cholesky on a GPU through the C interface: answers beside those of a CPU context, with every mapping of tasks;
// rows that fail, new values, equal bits, several threads on one analysis, Schur complements.
#include <cstring>
#include <numeric>
#include <thread>
#include <utility>

#include "cholesky.hpp"

namespace {

using namespace cholesky_gpu;
using testing::HasSubstr;

class CholeskyGpu : public CholeskyOnGpu {
 protected:
  template <class T>
  void every_size() {
    for (const std::int64_t n : {0, 1, 2, 10, 60, 300})
      for (const sxt_factorization factorization : {SXT_LLH, SXT_LDLH}) {
        const auto a = random_sparse<T>(n, 3, 7);
        sxt_analysis_options options = analysis_options();
        options.factorization = factorization;
        const Matrix matrix = a.matrix(gpu_);
        for (const char *scheduler : both) {
          const Cholesky cholesky = factored(analyse_on_gpu(matrix, options, scheduler));
          for (const std::int64_t n_rhs : {1, 3, 20, 70})
            expect_solved(
                a, cholesky, n_rhs,
                scheduler + (", n " + std::to_string(n)) + ", factorization " + std::to_string(factorization));
        }
      }
  }
  // Fronts of all classes, with few and many columns, block columns of each width.
  template <class T>
  void every_level(std::int64_t side, std::int64_t depth) {
    const auto definite = grid<T>(side, depth), indefinite = grid<T>(side, depth, -1);
    for (const sxt_factorization factorization : {SXT_LLH, SXT_LDLH})
      for (const std::int64_t amalgamation : {1, 16, 100})
        for (const CholeskyLaunch launch : {CholeskyLaunch{128, 88}, {256, 88}, {512, 200}}) {
          sxt_analysis_options options = analysis_options();
          options.factorization = factorization;
          options.amalgamation = amalgamation;
          const auto &a = factorization == SXT_LLH ? definite : indefinite;
          const Matrix matrix = a.matrix(gpu_);
          const Cholesky cholesky = factored(analyse_with(matrix, options, launch, levels));
          for (const std::int64_t n_rhs : {1, 11, 40})
            expect_solved(a, cholesky, n_rhs,
                          "factorization " + std::to_string(factorization) + ", joined below " +
                              std::to_string(amalgamation) + ", block " + std::to_string(launch.streams));
        }
  }
  template <class T>
  void every_launch(std::int64_t side, std::int64_t depth) {
    const auto a = grid<T>(side, depth, -1), definite = grid<T>(side, depth);
    for (const sxt_factorization factorization : {SXT_LLH, SXT_LDLH})
      for (const std::int64_t block : {24, 128, 1024})
        for (const CholeskyLaunch launch : {CholeskyLaunch{1, 0}, {4, 0}, {1, 1}, {4, 1}, {8, 1}}) {
          sxt_analysis_options options = analysis_options();
          options.factorization = factorization;
          options.block = block;
          options.amalgamation = block == 24 ? 1 : 64;
          const auto &own = factorization == SXT_LLH ? definite : a;
          const Matrix matrix = own.matrix(gpu_);
          const Analysis analysis = analyse_with(matrix, options, launch);
          const Cholesky cholesky = factored(analysis);
          expect_solved(own, cholesky, 11,
                        "block " + std::to_string(block) + ", streams " + std::to_string(launch.streams) +
                            ", mapping " + std::to_string(launch.mapping) + ", factorization " +
                            std::to_string(factorization));
        }
  }
};

TEST_F(CholeskyGpu, SolvesEverySizeOfF32) { every_size<float>(); }
TEST_F(CholeskyGpu, SolvesEverySizeOfF64) { every_size<double>(); }
TEST_F(CholeskyGpu, SolvesEverySizeOfC64) { every_size<std::complex<float>>(); }
TEST_F(CholeskyGpu, SolvesEverySizeOfC128) { every_size<std::complex<double>>(); }
TEST_F(CholeskyGpu, EveryLaunchOnASquare) { every_launch<double>(70, 1); }
TEST_F(CholeskyGpu, EveryLaunchOnACube) { every_launch<double>(17, 17); }
TEST_F(CholeskyGpu, EveryLaunchOnAComplexCube) { every_launch<std::complex<double>>(12, 12); }

TEST_F(CholeskyGpu, EveryLevelOfASquare) { every_level<double>(90, 1); }
TEST_F(CholeskyGpu, EveryLevelOfACube) { every_level<double>(19, 19); }
TEST_F(CholeskyGpu, EveryLevelOfACubeOfF32) { every_level<float>(13, 13); }
TEST_F(CholeskyGpu, EveryLevelOfAComplexCube) { every_level<std::complex<double>>(12, 12); }
TEST_F(CholeskyGpu, EveryLevelOfAComplexCubeOfC64) { every_level<std::complex<float>>(11, 11); }

TEST_F(CholeskyGpu, TellsWhatACpuTells) {
  const auto a = grid<double>(18, 18);
  const Context host = cpu();
  const Matrix here = a.matrix(host), there = a.matrix(gpu_);
  const Cholesky one = factored(analyse(here));
  for (const char *scheduler : both) {
    const Cholesky two = factored(analyse_on_gpu(there, analysis_options(), scheduler));
    const sxt_cholesky_info want = info_of(one), got = info_of(two);
    EXPECT_NEAR(got.log_determinant, want.log_determinant, 1e-9 * std::abs(want.log_determinant)) << scheduler;
    EXPECT_EQ(got.positive, want.positive);
    std::vector<double> p(static_cast<std::size_t>(a.n())), x = random_vector<double>(a.n(), 5), y(x);
    ASSERT_EQ(sxt_cholesky_diagonal(two.get(), a.n(), p.data()), SXT_OK) << last_error(gpu_);
    for (const double pivot : p) EXPECT_GT(pivot, 0);
    sxt_cholesky_solve_options options;
    sxt_cholesky_solve_options_init(&options, sizeof options);
    for (const sxt_cholesky_step step : {SXT_STEP_FORWARD, SXT_STEP_DIAGONAL, SXT_STEP_BACKWARD}) {
      options.step = step;
      ASSERT_EQ(sxt_cholesky_solve(two.get(), a.n(), 1, y.data(), a.n(), y.data(), a.n(), &options, nullptr), SXT_OK);
    }
    EXPECT_LE(a.backward_error(x.data(), y.data()), 1e-14) << scheduler;
  }
}

TEST_F(CholeskyGpu, NamesTheFirstRowThatFailsAndGoesOn) {
  for (const CholeskyLaunch launch : {CholeskyLaunch{4, 0}, {4, 1}}) {
    auto a = grid<double>(14, 14);
    std::vector<std::int64_t> natural(static_cast<std::size_t>(a.n()));
    for (std::int64_t k = 0; k < a.n(); ++k) natural[static_cast<std::size_t>(k)] = k;
    sxt_analysis_options options = analysis_options();
    options.permutation = natural.data();
    const auto good = a;
    for (const std::int64_t row : {2700, 1300, 2000}) a.set(row, row, -4);
    const Context host = cpu();
    const Matrix here = a.matrix(host), there = a.matrix(gpu_), right = good.matrix(gpu_);
    const Cholesky one = cholesky_of(analyse(here, &options)), two = cholesky_of(analyse_with(there, options, launch));
    EXPECT_EQ(sxt_cholesky_factor(one.get(), nullptr, nullptr), SXT_E_NOT_POSITIVE_DEFINITE);
    EXPECT_EQ(sxt_cholesky_factor(two.get(), nullptr, nullptr), SXT_E_NOT_POSITIVE_DEFINITE);
    EXPECT_EQ(info_of(two).failed_row, info_of(one).failed_row);
    EXPECT_NEAR(info_of(two).failed_pivot, info_of(one).failed_pivot, 1e-10);
    ASSERT_EQ(sxt_cholesky_factor(two.get(), right.get(), nullptr), SXT_OK) << last_error(gpu_);
    expect_solved(good, two, 1, "after a failure");
  }
}

// Rows deep in the tree, with other fronts in flight.
TEST_F(CholeskyGpu, LevelsNameTheFirstRowThatFailsAndGoOn) {
  const auto good = grid<double>(16, 16);
  const Context host = cpu();
  for (const std::int64_t row : {3500, 40, 2048}) {
    auto a = good;
    a.set(row, row, -4);
    const Matrix here = a.matrix(host), there = a.matrix(gpu_), right = good.matrix(gpu_);
    std::vector<std::int64_t> order(static_cast<std::size_t>(a.n()));
    const Analysis first = analyse_on_gpu(there, analysis_options(), levels);
    ASSERT_EQ(sxt_analysis_get_order(first.get(), a.n(), order.data()), SXT_OK);
    sxt_analysis_options options = analysis_options();
    options.permutation = order.data();
    const Cholesky one = cholesky_of(analyse(here, &options)), two = cholesky_of(first);
    EXPECT_EQ(sxt_cholesky_factor(one.get(), nullptr, nullptr), SXT_E_NOT_POSITIVE_DEFINITE);
    EXPECT_EQ(sxt_cholesky_factor(two.get(), nullptr, nullptr), SXT_E_NOT_POSITIVE_DEFINITE);
    EXPECT_EQ(info_of(two).failed_row, info_of(one).failed_row);
    EXPECT_NEAR(info_of(two).failed_pivot, info_of(one).failed_pivot, 1e-9);
    ASSERT_EQ(sxt_cholesky_factor(two.get(), right.get(), nullptr), SXT_OK) << last_error(gpu_);
    expect_solved(good, two, 1, "after a failure");
  }
}

TEST_F(CholeskyGpu, ValuesThatAreNotFinite) {
  auto a = grid<double>(10, 10);
  a.set(500, 501, std::numeric_limits<double>::infinity()), a.set(501, 500, std::numeric_limits<double>::infinity());
  const Matrix matrix = a.matrix(gpu_, [](sxt_matrix_options &options) { options.check_finite = 0; });
  for (const char *scheduler : both) {
    const Cholesky cholesky = cholesky_of(analyse_on_gpu(matrix, analysis_options(), scheduler));
    EXPECT_EQ(sxt_cholesky_factor(cholesky.get(), nullptr, nullptr), SXT_E_NOT_FINITE) << scheduler;
  }
}

// Sweeps wait for numbers; one that is none, of any bits, is there, too.
TEST_F(CholeskyGpu, SolvesWithRightHandSidesThatAreNoNumbers) {
  const auto a = grid<double>(12, 12);
  const Matrix matrix = a.matrix(gpu_);
  const Cholesky cholesky = factored(analyse_on_gpu(matrix, analysis_options(), levels));
  for (const std::int64_t n_rhs : {1, 5, 40}) {
    std::vector<double> b(static_cast<std::size_t>(a.n() * n_rhs), 1);
    const std::int64_t bits = -1;
    for (std::size_t k = 3; k < b.size(); k += 100) std::memcpy(&b[k], &bits, sizeof bits);
    const std::vector<double> x = solve(cholesky, b, a.n(), n_rhs);
    EXPECT_TRUE(std::isnan(x[3])) << n_rhs;
    expect_solved(a, cholesky, n_rhs, "after them");
  }
}

TEST_F(CholeskyGpu, LevelsTellTheInertiaThatACpuTells) {
  const auto a = grid<double>(14, 14, -1);
  sxt_analysis_options options = analysis_options();
  options.factorization = SXT_LDLH;
  const Context host = cpu();
  const Matrix here = a.matrix(host), there = a.matrix(gpu_);
  const Cholesky one = factored(analyse(here, &options)), two = factored(analyse_on_gpu(there, options, levels));
  EXPECT_GT(info_of(two).negative, 0);
  EXPECT_EQ(info_of(two).negative, info_of(one).negative);
  EXPECT_EQ(info_of(two).positive, info_of(one).positive);
  EXPECT_EQ(info_of(two).sign, info_of(one).sign);
}

TEST_F(CholeskyGpu, PivotsThatAreChanged) {
  auto a = grid<double>(12, 1);
  for (const std::int64_t j : {70 - 12, 69, 70, 71, 70 + 12}) a.set(70, j, 0), a.set(j, 70, 0);
  sxt_analysis_options options = analysis_options();
  options.pivot_policy = SXT_PIVOT_REPLACE, options.pivot_value = 2;
  const Matrix matrix = a.matrix(gpu_);
  for (const auto &[scheduler, factorization] :
       {std::pair{streams, SXT_LLH}, {levels, SXT_LLH}, {streams, SXT_LDLH}, {levels, SXT_LDLH}}) {
    options.factorization = factorization;
    const Cholesky cholesky = factored(analyse_on_gpu(matrix, options, scheduler));
    std::int64_t row = -1, count = 0;
    ASSERT_EQ(sxt_cholesky_changed_pivots(cholesky.get(), 1, &row, &count), SXT_OK);
    EXPECT_EQ(count, 1) << scheduler;
    EXPECT_EQ(row, 70) << scheduler;
  }
}

TEST_F(CholeskyGpu, EqualBitsWithAnyNumberOfStreams) {
  const auto a = grid<double>(18, 18);
  const Matrix matrix = a.matrix(gpu_);
  const std::vector<double> b = random_vector<double>(a.n(), 9);
  std::vector<double> first;
  for (const std::int64_t streams : {1, 2, 4, 8, 8}) {
    const Analysis analysis = analyse_with(matrix, analysis_options(), {streams, 1});
    const Cholesky cholesky = factored(analysis);
    for (int round = 0; round < 3; ++round) {
      ASSERT_EQ(sxt_cholesky_factor(cholesky.get(), nullptr, nullptr), SXT_OK) << last_error(gpu_);
      const std::vector<double> x = solve(cholesky, b, a.n(), 1);
      if (first.empty()) first = x;
      EXPECT_EQ(x, first) << streams << " streams";
    }
  }
}

// Equal bits, too: from round to round and with others beside them.
TEST_F(CholeskyGpu, ThreadsWithOneAnalysis) {
  const auto a = grid<double>(15, 15);
  const Matrix matrix = a.matrix(gpu_);
  const std::vector<double> b = random_vector<double>(a.n(), 9);
  for (const char *scheduler : both) {
    const Analysis analysis = analyse_on_gpu(matrix, analysis_options(), scheduler);
    const std::vector<double> want = solve(factored(analysis), b, a.n(), 1);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        const Cholesky cholesky = cholesky_of(analysis);
        for (int round = 0; round < 5; ++round) {
          ASSERT_EQ(sxt_cholesky_factor(cholesky.get(), nullptr, nullptr), SXT_OK);
          EXPECT_EQ(solve(cholesky, b, a.n(), 1), want) << scheduler;
        }
      });
    for (std::thread &each : threads) each.join();
  }
}

TEST_F(CholeskyGpu, SchurComplements) {
  const auto a = grid<double>(13, 13);
  for (const std::int64_t n_schur : {5, 150}) {
    std::vector<std::int64_t> rows;
    for (std::int64_t k = 0; k < n_schur; ++k) rows.push_back(7 * k + 3);
    sxt_analysis_options options = analysis_options();
    options.schur_rows = rows.data(), options.n_schur = n_schur;
    const Context host = cpu();
    const Matrix here = a.matrix(host), there = a.matrix(gpu_);
    std::vector<double> want(static_cast<std::size_t>(n_schur * n_schur)), got(want);
    const Cholesky one = factored(analyse(here, &options));
    ASSERT_EQ(sxt_cholesky_schur(one.get(), n_schur, want.data(), n_schur), SXT_OK);
    for (const char *scheduler : both) {
      const Cholesky two = factored(analyse_on_gpu(there, options, scheduler));
      ASSERT_EQ(sxt_cholesky_schur(two.get(), n_schur, got.data(), n_schur), SXT_OK) << last_error(gpu_);
      for (std::size_t k = 0; k < want.size(); ++k) EXPECT_NEAR(got[k], want[k], 1e-12) << scheduler << ", " << k;
    }
  }
}

TEST_F(CholeskyGpu, IsCancelled) {
  const auto a = grid<double>(15, 15);
  const Matrix matrix = a.matrix(gpu_);
  for (const char *scheduler : both) {
    const Cholesky cholesky = cholesky_of(analyse_on_gpu(matrix, analysis_options(), scheduler));
    const volatile std::int32_t now = 1;
    sxt_factor_options options;
    sxt_factor_options_init(&options, sizeof options);
    options.cancel = &now;
    EXPECT_EQ(sxt_cholesky_factor(cholesky.get(), nullptr, &options), SXT_NOT_CONVERGED);
    ASSERT_EQ(sxt_cholesky_factor(cholesky.get(), nullptr, nullptr), SXT_OK) << last_error(gpu_);
    expect_solved(a, cholesky, 1, "after it was cancelled");
  }
}

// On the host, from a factor that a scheduler of the GPU made: also where that one was named.
TEST_F(CholeskyGpu, InvertsOnTheHost) {
  const Context beside = cpu();
  const auto a = grid<double>(9, 7);
  const Matrix matrix = a.matrix(gpu_), on_cpu = a.matrix(beside);
  const std::int64_t n = a.n();
  std::vector<std::int64_t> rows(static_cast<std::size_t>(n));
  std::iota(rows.begin(), rows.end(), 0);
  std::vector<double> want(rows.size()), got(rows.size());
  const Cholesky one = factored(analyse(on_cpu));
  ASSERT_EQ(sxt_cholesky_inverse(one.get(), n, rows.data(), rows.data(), want.data()), SXT_OK);
  for (const char *scheduler : both) {
    const Cholesky two = cholesky_of(analyse_on_gpu(matrix, analysis_options(), scheduler));
    ASSERT_EQ(sxt_cholesky_factor(two.get(), nullptr, nullptr), SXT_OK) << last_error(gpu_);
    ASSERT_EQ(sxt_cholesky_inverse(two.get(), n, rows.data(), rows.data(), got.data()), SXT_OK) << last_error(gpu_);
    for (std::size_t k = 0; k < want.size(); ++k) EXPECT_NEAR(got[k], want[k], 1e-12) << scheduler << ", " << k;
  }
}

}  // namespace
