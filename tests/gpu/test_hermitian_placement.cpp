// SPDX-License-Identifier: BSD-3-Clause
// Sets of Hermitian systems in host memory, in an automatic context on a machine with a GPU: computed on the faster
// device, and correct on either.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "hermitian_batches.hpp"

namespace gpu_test {
namespace {

class HermitianPlacementOnGpu : public HermitianGpu {
 protected:
  void SetUp() override {
    HermitianGpu::SetUp();
    if (IsSkipped()) return;
    automatic_ = open_context("auto");
    host_ = open_context("cpu");
    ASSERT_TRUE(automatic_ && host_) << sxt_last_error(nullptr);
  }
  static Batch make_in(const Context &context, const sxt_hermitian_options &options) {
    sxt_hermitian *made = nullptr;
    EXPECT_EQ(sxt_hermitian_create(context.get(), &options, &made), SXT_OK) << sxt_last_error(context.get());
    return Batch(made);
  }
  // The least of several, in seconds, of factoring and solving systems of order n in host memory.
  static double seconds(const Context &context, std::int64_t batch, std::int64_t n, int times) {
    const std::size_t in_a = static_cast<std::size_t>(batch * n * n), in_b = static_cast<std::size_t>(batch * n);
    sxt_hermitian_options options = hermitian_options(SXT_F64, batch, n);
    options.space = SXT_SPACE_HOST;
    const Batch handle = make_in(context, options);
    std::vector<double> a(in_a), b(in_b);
    std::vector<std::int32_t> info(static_cast<std::size_t>(batch));
    sxt_hermitian_set set = hermitian_set();
    set.a = a.data(), set.b = b.data(), set.info = info.data();
    double least = 1e9;
    for (int i = 0; i < times; ++i) {
      std::fill(a.begin(), a.end(), 1.0);
      for (std::size_t s = 0; s < in_b; ++s) a[s * static_cast<std::size_t>(n) + s % static_cast<std::size_t>(n)] = 5;
      std::fill(b.begin(), b.end(), static_cast<double>(n + 4));
      const auto start = std::chrono::steady_clock::now();
      EXPECT_EQ(sxt_hermitian_factor_solve(handle.get(), &set), SXT_OK) << sxt_last_error(context.get());
      least = std::min(least, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
      const auto wrong = [](double x) { return !(std::abs(x - 1) < 1e-10); };
      EXPECT_EQ(std::count_if(b.begin(), b.end(), wrong), 0) << batch << " of order " << n;
    }
    return least;
  }

  Context automatic_{nullptr, sxt_context_destroy}, host_{nullptr, sxt_context_destroy};
};

TEST_F(HermitianPlacementOnGpu, FewSmallSystemsDoNotWaitForTheDevice) {
  const double there = seconds(context_, 10, 4, 20), chosen = seconds(automatic_, 10, 4, 20);
  std::printf("[ runs     ] 10 systems of order 4: %.2f us on the device, %.2f us as chosen\n", 1e6 * there,
              1e6 * chosen);
  EXPECT_LT(chosen, there / 3);
}

TEST_F(HermitianPlacementOnGpu, ChosenIsNoSlowerThanEitherDevice) {
  const struct {
    std::int64_t batch, n;
  } sets[] = {{100, 16}, {20000, 16}, {200000, 40}, {100, 100}, {2000, 100}, {300, 350}};
  for (const auto &[batch, n] : sets) {
    const double there = seconds(context_, batch, n, 5), here = seconds(host_, batch, n, 5),
                 chosen = seconds(automatic_, batch, n, 5);
    std::printf("[ runs     ] %d systems of order %d: %.1f us on the device, %.1f us on the CPU, %.1f us as chosen\n",
                int(batch), int(n), 1e6 * there, 1e6 * here, 1e6 * chosen);
    EXPECT_LT(chosen, 2 * std::min(there, here)) << batch << " of order " << n;
  }
}

// A million of order 40 are 12.8 GB: only the models' predictions are tested here; the device runs smaller sets above.
TEST_F(HermitianPlacementOnGpu, BothTimesAreReported) {
  sxt_hermitian_options options = hermitian_options(SXT_F64, 1000000, 40);
  options.space = SXT_SPACE_HOST;
  const Batch handle = make_in(automatic_, options);
  std::string words(1 << 16, '\0');
  std::int64_t length = 0;
  ASSERT_EQ(sxt_hermitian_explain(handle.get(), SXT_TEXT, words.data(), std::int64_t{1} << 16, &length), SXT_OK);
  EXPECT_THAT(words, testing::HasSubstr("factor-solve: sets in host memory are computed on the "));
  EXPECT_THAT(words, testing::HasSubstr(" predicted on the CPU, "));
}

TEST_F(HermitianPlacementOnGpu, ArraysOnTheDeviceAreSolvedForThere) {
  api_test::Systems<double> systems(10, 4, 1, SXT_LOWER, 10, false, 7);
  OnDevice<double> there(automatic_->context->device(), systems);
  const Batch handle = make_in(automatic_, systems.options());
  const sxt_hermitian_set set = there.set();
  ASSERT_EQ(sxt_hermitian_factor_solve(handle.get(), &set), SXT_OK) << sxt_last_error(automatic_.get());
  ASSERT_EQ(sxt_context_synchronize(automatic_.get()), SXT_OK);
  there.bring();
  expect_solved(systems);
}

}  // namespace
}  // namespace gpu_test
