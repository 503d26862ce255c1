// SPDX-License-Identifier: BSD-3-Clause
// On a GPU: factors in single precision with solutions in the working one, products by TF32, fronts of many tiles in
// every type; the caller's stream, captures, and factorisations that are cancelled while they run.
#include <atomic>
#include <chrono>
#include <thread>

#include "cholesky.hpp"

namespace {

using namespace cholesky_gpu;
using testing::HasSubstr;

class CholeskySingleGpu : public CholeskyOnGpu {
 protected:
  // Solutions to the working precision by a factor of half of it. products: TF32 products for one of f32.
  template <class T>
  void refined(const Sparse<T> &a, sxt_factor_precision precision, sxt_factorization factorization,
               const CholeskyLaunch &launch) {
    sxt_analysis_options options = analysis_options();
    options.factor_precision = precision, options.factorization = factorization;
    const Matrix matrix = a.matrix(gpu_);
    const Cholesky cholesky = factored(analyse_with(matrix, options, launch, levels));
    const std::string where = std::to_string(factorization) + ", products " + std::to_string(launch.products);
    EXPECT_EQ(info_of(cholesky).factor_type, code<T>() == SXT_F64 ? SXT_F32 : SXT_C64) << where;
    for (const std::int64_t n_rhs : {1, 11, 70}) expect_solved(a, cholesky, n_rhs, where);
    EXPECT_EQ(info_of(cholesky).repeated, 0) << where;
  }
  // Dense, so that one front has some 250 tiles of 128.
  template <class T>
  void many_tiles(std::int64_t products = 0) {
    constexpr std::int64_t n = 2900;
    Sparse<T> a;
    a.pattern.rows = a.pattern.cols = n;
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        a.pattern.entry(static_cast<std::int32_t>(j), 0);
        const auto value = static_cast<Real<T>>(i == j ? n : 1.0 / static_cast<double>(1 + (i + j) % 7));
        if constexpr (complex_v<T>)
          a.values.push_back(T(value, static_cast<Real<T>>(i == j ? 0 : i < j ? 0.5 : -0.5)));
        else
          a.values.push_back(value);
      }
      a.pattern.end_row();
    }
    const Matrix matrix = a.matrix(gpu_);
    for (const sxt_factorization factorization : {SXT_LLH, SXT_LDLH}) {
      sxt_analysis_options options = analysis_options();
      options.factorization = factorization;
      const Cholesky cholesky = factored(analyse_with(matrix, options, {256, 88, products}, levels));
      expect_solved(a, cholesky, 3, "products " + std::to_string(products));
    }
  }
};

TEST_F(CholeskySingleGpu, RefinesToF64) {
  for (const std::int64_t products : {0, 3}) {
    refined(grid<double>(19, 19), SXT_PRECISION_SINGLE, SXT_LLH, {256, 88, products});
    refined(grid<double>(17, 17, -1), SXT_PRECISION_SINGLE, SXT_LDLH, {128, 88, products});
  }
}
TEST_F(CholeskySingleGpu, RefinesProductsOfRoundedNumbersToF64) {
  refined(grid<double>(19, 19), SXT_PRECISION_ROUNDED, SXT_LLH, {256, 88, 1});
  refined(grid<double>(17, 17, -1), SXT_PRECISION_ROUNDED, SXT_LDLH, {256, 88, 1});
}
TEST_F(CholeskySingleGpu, RefinesToC128) {
  refined(grid<std::complex<double>>(12, 12), SXT_PRECISION_SINGLE, SXT_LLH, {256, 88});
  refined(grid<std::complex<double>>(12, 12, -1), SXT_PRECISION_SINGLE, SXT_LDLH, {256, 88});
}

// Of f32 itself: three products keep its accuracy.
TEST_F(CholeskySingleGpu, ThreeProductsHaveTheAccuracyOfF32) {
  const auto a = grid<float>(18, 18), indefinite = grid<float>(15, 15, -1);
  for (const CholeskyLaunch launch : {CholeskyLaunch{128, 88, 3}, {256, 88, 3}, {512, 200, 3}}) {
    const Matrix matrix = a.matrix(gpu_), other = indefinite.matrix(gpu_);
    expect_solved(a, factored(analyse_with(matrix, analysis_options(), launch, levels)), 5, "L L^H");
    sxt_analysis_options options = analysis_options();
    options.factorization = SXT_LDLH;
    expect_solved(indefinite, factored(analyse_with(other, options, launch, levels)), 5, "L D L^H");
  }
}

TEST_F(CholeskySingleGpu, FrontsOfManyTilesOfF32) { many_tiles<float>(0), many_tiles<float>(3); }
TEST_F(CholeskySingleGpu, FrontsOfManyTilesOfF64) { many_tiles<double>(); }
TEST_F(CholeskySingleGpu, FrontsOfManyTilesOfC64) { many_tiles<std::complex<float>>(); }
TEST_F(CholeskySingleGpu, FrontsOfManyTilesOfC128) { many_tiles<std::complex<double>>(); }

TEST_F(CholeskySingleGpu, EqualBitsFromRoundToRound) {
  const auto a = grid<double>(17, 17);
  const Matrix matrix = a.matrix(gpu_);
  sxt_analysis_options options = analysis_options();
  options.factor_precision = SXT_PRECISION_SINGLE;
  const Cholesky cholesky = cholesky_of(analyse_on_gpu(matrix, options, levels));
  const std::vector<double> b = random_vector<double>(3 * a.n(), 9);
  std::vector<double> first;
  for (int round = 0; round < 5; ++round) {
    ASSERT_EQ(sxt_cholesky_factor(cholesky.get(), nullptr, nullptr), SXT_OK) << last_error(gpu_);
    const std::vector<double> x = solve(cholesky, b, a.n(), 3);
    if (first.empty()) first = x;
    EXPECT_EQ(x, first) << round;
  }
}

// Badly conditioned: the factor is made again on the GPU, once, whichever thread meets it.
TEST_F(CholeskySingleGpu, IsMadeAgainWhileOtherThreadsSolve) {
  auto a = grid<double>(8, 8);
  for (std::int64_t i = 0; i < a.n(); ++i) {  // a Laplacian: rows sum to 1e-11
    double sum = 0;
    for (std::int32_t k = a.pattern.ptr[i]; k < a.pattern.ptr[i + 1]; ++k)
      if (a.pattern.col[k] != i) sum += a.values[k];
    a.set(i, i, 1e-11 - sum);
  }
  const Matrix matrix = a.matrix(gpu_);
  sxt_analysis_options options = analysis_options();
  options.factor_precision = SXT_PRECISION_SINGLE;
  const Cholesky cholesky = factored(analyse_on_gpu(matrix, options, levels));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int round = 0; round < 3; ++round) expect_solved(a, cholesky, 2, "made again");
    });
  for (std::thread &each : threads) each.join();
  EXPECT_EQ(info_of(cholesky).repeated, 1);
  EXPECT_EQ(info_of(cholesky).factor_type, SXT_F64);
}

// The context has a stream of ours, and x lies in device memory.
class CholeskyStreamsGpu : public gpu_test::Gpu {
 protected:
  void SetUp() override {
    Gpu::SetUp();
    if (!context_) return;
    ASSERT_EQ(ops().stream_create(handle(), &stream_), SXT_OK);
    matrix_ = make<Matrix>([&](sxt_matrix **out) {
      sxt_matrix_options options = matrix_options();
      return sxt_matrix_from_csr(context_.get(), a_.n(), a_.n(), a_.pattern.ptr.data(), a_.pattern.col.data(),
                                 a_.values.data(), &options, out);
    });
    ASSERT_EQ(sxt_context_set_stream(context_.get(), stream_), SXT_OK);
  }
  void TearDown() override {
    if (!stream_) return;
    EXPECT_EQ(sxt_context_set_stream(context_.get(), nullptr), SXT_OK);
    ops().stream_destroy(handle(), stream_);
  }
  Cholesky made(sxt_factor_precision precision = SXT_PRECISION_WORKING) {
    sxt_analysis_options options = analysis_options();
    options.scheduler = "cholesky.levels.cuda";
    options.factor_precision = precision;
    return factored(analyse(matrix_, &options));
  }
  // x and what it becomes when it is solved for so many times.
  std::vector<double> solved(int times) const {
    const api_test::Context host = cpu();
    const Matrix here = a_.matrix(host);
    const Cholesky cholesky = factored(analyse(here));
    std::vector<double> x = random_vector<double>(a_.n(), 5);
    for (int k = 0; k < times; ++k)
      EXPECT_EQ(sxt_cholesky_solve(cholesky.get(), a_.n(), 1, x.data(), a_.n(), x.data(), a_.n(), nullptr, nullptr),
                SXT_OK);
    return x;
  }
  void expect_near(const std::vector<double> &got, const std::vector<double> &want, double error) const {
    ASSERT_EQ(got.size(), want.size());
    double worst = 0, size = 0;
    for (std::size_t k = 0; k < got.size(); ++k)
      worst = std::max(worst, std::abs(got[k] - want[k])), size = std::max(size, std::abs(want[k]));
    EXPECT_LE(worst, error * size);
  }
  const Sparse<double> a_ = grid<double>(14, 14);
  Matrix matrix_;
  void *stream_ = nullptr;
};

TEST_F(CholeskyStreamsGpu, FactorsAndSolvesGoToTheCallersStream) {
  for (const sxt_factor_precision precision : {SXT_PRECISION_WORKING, SXT_PRECISION_SINGLE}) {
    const Cholesky cholesky = made(precision);
    const gpu_test::Vector x = make_vector(solved(0));
    auto *const at = static_cast<double *>(sxt_vector_data(x.get()));
    for (int round = 0; round < 3; ++round) {
      ASSERT_EQ(sxt_cholesky_factor(cholesky.get(), nullptr, nullptr), SXT_OK) << sxt_last_error(context_.get());
      ASSERT_EQ(sxt_cholesky_solve(cholesky.get(), a_.n(), 1, at, a_.n(), at, a_.n(), nullptr, nullptr), SXT_OK)
          << sxt_last_error(context_.get());
    }
    ASSERT_EQ(sxt_context_synchronize(context_.get()), SXT_OK);
    expect_near(values_of(x), solved(3), 1e-12);
  }
}

// A plain solve in place is captured and replayed. What the host has to judge is refused, and does no harm.
TEST_F(CholeskyStreamsGpu, SolvesAreCapturedAndFactorsAreNot) {
  const Cholesky cholesky = made(), single = made(SXT_PRECISION_SINGLE);
  const gpu_test::Vector x = make_vector(solved(0));
  auto *const at = static_cast<double *>(sxt_vector_data(x.get()));
  const auto solve = [&](const Cholesky &with) {
    return sxt_cholesky_solve(with.get(), a_.n(), 1, at, a_.n(), at, a_.n(), nullptr, nullptr);
  };
  ASSERT_EQ(solve(cholesky), SXT_OK);  // sets it up
  ASSERT_EQ(sxt_context_synchronize(context_.get()), SXT_OK);
  void *graph = nullptr;
  ASSERT_EQ(ops().capture_begin(handle(), stream_), SXT_OK);
  EXPECT_EQ(solve(cholesky), SXT_OK) << sxt_last_error(context_.get());
  EXPECT_EQ(sxt_cholesky_factor(cholesky.get(), nullptr, nullptr), SXT_E_STATE);
  EXPECT_THAT(sxt_last_error(context_.get()), HasSubstr("captured"));
  EXPECT_EQ(solve(single), SXT_E_STATE);
  ASSERT_EQ(ops().capture_end(handle(), stream_, &graph), SXT_OK);
  for (int replay = 0; replay < 3; ++replay) ASSERT_EQ(ops().graph_launch(handle(), stream_, graph), SXT_OK);
  ASSERT_EQ(sxt_context_synchronize(context_.get()), SXT_OK);
  expect_near(values_of(x), solved(4), 1e-12);
  ASSERT_EQ(solve(cholesky), SXT_OK) << "the factor that was there is there still";
  ASSERT_EQ(sxt_context_synchronize(context_.get()), SXT_OK);
  expect_near(values_of(x), solved(5), 1e-12);
  ops().graph_destroy(handle(), graph);
}

// Cancelled at different times while the device works: the call ends soon, and the next one is as if nothing had been.
TEST_F(CholeskySingleGpu, IsCancelledWhileItRuns) {
  const auto a = grid<double>(44, 44);
  const Matrix matrix = a.matrix(gpu_);
  const Cholesky cholesky = factored(analyse_on_gpu(matrix, analysis_options(), levels));
  const std::vector<double> b = random_vector<double>(a.n(), 3), want = solve(cholesky, b, a.n(), 1);
  int cancelled = 0;
  for (int turn = 0; turn < 40; ++turn) {
    std::int32_t cancel = 0;
    sxt_factor_options options;
    sxt_factor_options_init(&options, sizeof options);
    options.cancel = &cancel;
    std::thread other([&] {
      std::this_thread::sleep_for(std::chrono::microseconds(500 * turn));
      __atomic_store_n(&cancel, 1, __ATOMIC_RELEASE);
    });
    const sxt_status status = sxt_cholesky_factor(cholesky.get(), nullptr, &options);
    other.join();
    EXPECT_TRUE(status == SXT_OK || status == SXT_NOT_CONVERGED) << last_error(gpu_);
    cancelled += status == SXT_NOT_CONVERGED;
    EXPECT_EQ(info_of(cholesky).factored, status == SXT_OK);
    ASSERT_EQ(sxt_cholesky_factor(cholesky.get(), nullptr, nullptr), SXT_OK) << last_error(gpu_);
    EXPECT_EQ(solve(cholesky, b, a.n(), 1), want) << "after turn " << turn;
  }
  EXPECT_GE(cancelled, 3);
}

}  // namespace
