// SPDX-License-Identifier: BSD-3-Clause
// Fits of synthetic measurements whose law is known.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <limits>

#include "core/model/fit.hpp"
#include "core/model/timing.hpp"

namespace sextant {
namespace {

// SplitMix64: the same noise in every run of the test.
class Noise {
 public:
  double uniform() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
  }
  // 1 +- about `sigma`.
  double factor(double sigma) {
    double sum = 0;
    for (int i = 0; i < 12; ++i) sum += uniform();
    return 1 + sigma * (sum - 6);
  }

 private:
  std::uint64_t state_ = 42;
};

using Law = std::function<double(const Sample &)>;

// Launches, streamed bytes and flops over five decades; 12 families, in each of them bytes and flops in another ratio.
FitProblem problem(const Law &law, double sigma, int per_family = 9) {
  FitProblem made{{"launches", "stream_bytes", "flops"}, {2e-6, 2e-10, 2e-10}, {}};
  Noise noise;
  for (int family = 0; family < 12; ++family)
    for (int i = 0; i < per_family; ++i) {
      Sample sample;
      const double bytes = 1e3 * std::pow(10.0, 5.0 * (i + noise.uniform()) / per_family);
      sample.terms = {1, bytes, bytes * std::pow(2.0, family % 7 - 3)};
      sample.working_set = bytes;
      sample.family = family;
      sample.seconds = law(sample) * noise.factor(sigma);
      made.samples.push_back(sample);
    }
  return made;
}

double sum_law(const Sample &s) { return 1e-6 * s.terms[0] + 1e-10 * s.terms[1] + 5e-11 * s.terms[2]; }
double maximum_law(const Sample &s) { return 1e-6 * s.terms[0] + std::max(1e-10 * s.terms[1], 1e-10 * s.terms[2]); }
double soft_law(const Sample &s) {
  return 1e-6 * s.terms[0] + std::sqrt(std::pow(1e-10 * s.terms[1], 2) + std::pow(1e-10 * s.terms[2], 2));
}
// The same bytes cost five times as much once they come from memory.
double cache_law(const Sample &s) { return 1e-6 + s.terms[1] * (s.working_set < 3e6 ? 1e-10 : 5e-10); }

TEST(Fit, FindsKnownCoefficients) {
  const FittedModel model = fit(problem(sum_law, 0));
  EXPECT_EQ(model.power, 1);
  EXPECT_TRUE(model.breakpoints.empty());
  ASSERT_EQ(model.coefficients.size(), 1u);
  EXPECT_NEAR(model.coefficients[0][0], 1e-6, 1e-9);
  EXPECT_NEAR(model.coefficients[0][1], 1e-10, 1e-13);
  EXPECT_NEAR(model.coefficients[0][2], 5e-11, 1e-13);
  EXPECT_LT(model.p90_error, 1e-3);
  EXPECT_EQ(model.samples, 108);
}

TEST(Fit, ReportsTheNoiseItCannotExplain) {
  const FittedModel model = fit(problem(sum_law, 0.05));
  EXPECT_NEAR(model.coefficients[0][1], 1e-10, 0.1e-10);
  EXPECT_NEAR(model.scatter, 0.05, 0.02);
  EXPECT_LT(model.median_error, 0.06);
  EXPECT_GT(model.p90_error, model.median_error);
}

TEST(Fit, IsNotMovedByOutliers) {
  FitProblem noisy = problem(sum_law, 0.02);
  for (std::size_t i = 0; i < noisy.samples.size(); i += 10) noisy.samples[i].seconds *= 8;  // another program ran
  const FittedModel model = fit(noisy);
  for (const Sample &sample : problem(sum_law, 0).samples)
    EXPECT_NEAR(model.evaluate(sample.terms.data(), sample.working_set) / sample.seconds, 1, 0.1);
}

TEST(Fit, ChoosesTheForm) {
  EXPECT_EQ(fit(problem(sum_law, 0.02)).power, 1);
  EXPECT_GE(fit(problem(maximum_law, 0.02)).power, 8);
  EXPECT_EQ(fit(problem(soft_law, 0.005)).power, 2);
}

TEST(Fit, PredictsAMaximumOfBoth) {
  const FittedModel model = fit(problem(maximum_law, 0));
  for (const Sample &sample : problem(maximum_law, 0).samples)
    EXPECT_NEAR(model.evaluate(sample.terms.data(), sample.working_set) / sample.seconds, 1, 0.03);
}

TEST(Fit, FindsTheBreakpoint) {
  const FittedModel model = fit(problem(cache_law, 0.02, 16));
  ASSERT_FALSE(model.breakpoints.empty());
  const bool near =
      std::any_of(model.breakpoints.begin(), model.breakpoints.end(), [](double b) { return b > 1e6 && b < 9e6; });
  EXPECT_TRUE(near) << model.breakpoints.front();
  EXPECT_NEAR(model.coefficients.back()[1], 5e-10, 1e-10);
  // No jump: a little more work never costs much more.
  double last = 0;
  for (double bytes = 1e3; bytes < 1e8; bytes *= 1.02) {
    const double terms[] = {1, bytes, bytes};
    const double seconds = model.evaluate(terms, bytes);
    if (last > 0) {
      EXPECT_LT(seconds / last, 1.25) << bytes;
    }
    last = seconds;
  }
}

TEST(Fit, SplitsWhatAlwaysGrowsTogetherWithoutBlowingUp) {
  FitProblem collinear = problem([](const Sample &s) { return 1e-6 + 2e-10 * s.terms[1]; }, 0.01);
  for (Sample &sample : collinear.samples) sample.terms[2] = sample.terms[1];
  const FittedModel model = fit(collinear);
  for (const auto &regime : model.coefficients)
    for (double c : regime) EXPECT_TRUE(std::isfinite(c) && c >= 0 && c < 1e-5);
  const double terms[] = {1, 1e7, 1e7};
  EXPECT_NEAR(model.evaluate(terms, 1e7), 1e-6 + 2e-3, 1e-4);
}

TEST(Fit, OneSampleGivesTheMachinesNumbersAFactor) {
  FitProblem single{{"launches", "stream_bytes"}, {1e-6, 1e-10}, {}};
  Sample sample;
  sample.terms = {1, 1e6};
  sample.seconds = 3 * (1e-6 + 1e-4);
  single.samples = {sample};
  const FittedModel model = fit(single);
  EXPECT_EQ(model.samples, 1);
  const double larger[] = {1, 2e6};
  EXPECT_NEAR(model.evaluate(larger, 0), 3 * (1e-6 + 2e-4), 1e-8);
  EXPECT_GE(model.scatter, 0.25) << "one sample proves little";
}

// Six samples do not determine three costs; with those of the kernel's other classes, which cost a little more, they
// do.
TEST(Fit, OtherClassesHelpAClassWithFewSamples) {
  FitProblem few = problem(sum_law, 0.01);
  const std::vector<Sample> all = std::move(few.samples);
  few.samples = {all[0], all[13], all[28], all[43], all[59], all[80]};
  few.prior = {2e-6, 1e-9, 1e-11};  // a machine that is wrong about its bytes and flops
  const auto worst = [&](const FittedModel &model) {
    double most = 0;
    for (const Sample &s : all)
      most = std::max(most, std::abs(model.evaluate(s.terms.data(), s.working_set) / s.seconds - 1));
    return most;
  };
  const double alone = worst(fit(few));
  few.kin = all;
  for (Sample &each : few.kin) each.seconds *= 1.1;
  const FittedModel model = fit(few);
  EXPECT_EQ(model.samples, 6) << "its own";
  EXPECT_GT(alone, 0.5);
  EXPECT_LT(worst(model), 0.2);
}

TEST(Fit, AnEstimateGetsOneMultiplier) {
  FitProblem estimates{{"run_s"}, {1}, {}};
  for (int i = 1; i <= 10; ++i) {
    Sample sample;
    sample.terms = {1e-3 * i};
    sample.seconds = 1.7e-3 * i * (i % 2 ? 1.01 : 0.99);
    sample.family = i;
    estimates.samples.push_back(sample);
  }
  const FittedModel model = fit(estimates);
  ASSERT_EQ(model.coefficients.size(), 1u);
  EXPECT_NEAR(model.coefficients[0][0], 1.7, 0.03);
  EXPECT_LT(model.scatter, 0.05);
}

TEST(Fit, SamplesOfNoWorkingSetAreLeftOut) {
  FitProblem made = problem(sum_law, 0);
  for (const double unknown : {std::nan(""), HUGE_VAL}) {
    made.samples.push_back(made.samples.front());
    made.samples.back().working_set = unknown;
  }
  const FittedModel model = fit(made);
  EXPECT_EQ(model.samples, static_cast<std::int64_t>(made.samples.size()) - 2);
  EXPECT_TRUE(model.finite());
}

TEST(Fit, NothingMeasuredIsNoModel) {
  EXPECT_EQ(fit({{"launches"}, {1e-6}, {}}).samples, 0);
  FitProblem useless{{"launches", "flops"}, {1e-6, 1e-9}, std::vector<Sample>(5)};
  EXPECT_EQ(fit(useless).samples, 0) << "no time";
  for (Sample &sample : useless.samples) sample.seconds = 1;
  EXPECT_EQ(fit(useless).samples, 0) << "no term";
  useless.samples[0].terms[0] = std::nan("");
  EXPECT_EQ(fit(useless).samples, 0) << "a term that is not a number";
}

TEST(Fit, WhatNoSampleHasKeepsTheMachinesNumber) {
  FitProblem partly = problem([](const Sample &s) { return 1e-6 + 1e-10 * s.terms[1]; }, 0.01);
  for (Sample &sample : partly.samples) sample.terms[2] = 0;
  const FittedModel model = fit(partly);
  EXPECT_GT(model.coefficients[0][2], 1e-11);
  EXPECT_LT(model.coefficients[0][2], 1e-9);
}

// The busiest worker's time beside that of the memory: whichever is longer counts.
TEST(Fit, TheTailOverlapsWithTheRest) {
  FitProblem uneven{{"launches", "stream_bytes", "tail.chain"}, {1e-6, 1e-10, 1e-6}, {}};
  for (int i = 0; i < 60; ++i) {
    Sample sample;
    sample.terms = {1, 1e4 * std::pow(1.2, i % 20 * 2), 1.0 + i * 7 % 40};
    sample.working_set = sample.terms[1];
    sample.seconds = 2e-6 + std::max(2e-10 * sample.terms[1], 3e-7 * sample.terms[2]);
    sample.family = i % 10;
    uneven.samples.push_back(sample);
  }
  const FittedModel model = fit(uneven);
  EXPECT_GT(model.power, 1);
  EXPECT_LT(model.median_error, 0.05);
  const double long_row[] = {1, 1e4, 400}, many_bytes[] = {1, 4e6, 1};
  EXPECT_NEAR(model.evaluate(long_row, 1e4) / (2e-6 + 1.2e-4), 1, 0.1);
  EXPECT_NEAR(model.evaluate(many_bytes, 4e6) / (2e-6 + 8e-4), 1, 0.1);
}

TEST(Fit, GroupsFollowNames) {
  EXPECT_EQ(group_of("launches"), Group::latency);
  EXPECT_EQ(group_of("cached_gathers"), Group::memory);
  EXPECT_EQ(group_of("steps"), Group::compute);
  EXPECT_EQ(group_of("latency.waves"), Group::latency);
  EXPECT_EQ(group_of("compute.mma"), Group::compute);
  EXPECT_EQ(group_of("memory.tiles"), Group::memory);
  EXPECT_EQ(group_of("tail.chain"), Group::tail);
  EXPECT_EQ(group_of("anything"), Group::memory);
}

TEST(LeastSquares, NeverGoesBelowZero) {
  // c0 + c1 = 1 and c0 - c1 = 1.5: without the bound c1 would be -0.25.
  const std::vector<double> c = nonnegative_least_squares({{1, 1}, {1 / 1.5, -1 / 1.5}}, {1, 1.5 * 1.5});
  EXPECT_EQ(c[1], 0);
  EXPECT_NEAR(c[0], 1.25, 1e-6);
}

TEST(Timing, CountsRunsAndTakesTheMedian) {
  int runs = 0;
  const Timing slow = time_runs(
      [&] {
        ++runs;
        const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(200);
        while (std::chrono::steady_clock::now() < until) continue;
      },
      0, 5);
  EXPECT_EQ(slow.repeats, 5);
  EXPECT_EQ(runs, 7) << "one to warm up, one to find the batch, five samples";
  EXPECT_GE(slow.seconds, 190e-6);
  std::int64_t quick_runs = 0;
  volatile std::int64_t *counter = &quick_runs;
  const Timing quick = time_runs([&] { *counter = *counter + 1; }, 1e-3, 5);
  EXPECT_GT(quick_runs, 20 * quick.repeats) << "short runs are timed in batches";
  EXPECT_LT(quick.seconds, 1e-6);
}

}  // namespace
}  // namespace sextant
