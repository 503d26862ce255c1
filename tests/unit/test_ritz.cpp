// SPDX-License-Identifier: BSD-3-Clause
// Results from the coefficients of a few iterations: Ritz values against known spectra, estimates against known rates.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "core/pcg/ritz.hpp"

namespace sextant {
namespace {

// Conjugate gradients on a diagonal matrix, b = ones.
Ritz after(const std::vector<double> &eigenvalues, std::int64_t steps) {
  Ritz ritz;
  std::vector<double> r(eigenvalues.size(), 1), p = r;
  const double first = static_cast<double>(r.size());
  double squared = first;
  for (std::int64_t k = 0; k < steps; ++k) {
    double curvature = 0, next = 0;
    for (std::size_t i = 0; i < p.size(); ++i) curvature += eigenvalues[i] * p[i] * p[i];
    const double alpha = squared / curvature;
    for (std::size_t i = 0; i < p.size(); ++i) r[i] -= alpha * eigenvalues[i] * p[i], next += r[i] * r[i];
    const double beta = next / squared;
    for (std::size_t i = 0; i < p.size(); ++i) p[i] = r[i] + beta * p[i];
    squared = next;
    ritz.add(alpha, beta, std::sqrt(squared / first));
  }
  return ritz;
}

// The eigenvalues of the one-dimensional Laplacian of this order.
std::vector<double> chain(int order) {
  std::vector<double> values;
  for (int k = 1; k <= order; ++k) values.push_back(2 - 2 * std::cos(M_PI * k / (order + 1)));
  return values;
}

// 400 of them, spread evenly over [1, 100].
std::vector<double> even() {
  std::vector<double> values;
  for (int i = 0; i < 400; ++i) values.push_back(1 + 99.0 * i / 399);
  return values;
}

TEST(RitzTest, AsManyStepsAsEigenvaluesGiveTheExtremeOnes) {
  const Ritz ritz = after({0.25, 1, 3, 7, 40}, 5);
  EXPECT_NEAR(ritz.least(), 0.25, 1e-7);
  EXPECT_NEAR(ritz.greatest(), 40, 1e-6);
}

TEST(RitzTest, ValuesLieWithinTheSpectrumAndSettle) {
  const std::vector<double> spectrum = chain(50);
  double before = HUGE_VAL;
  for (const std::int64_t steps : {4, 8, 16, 32}) {
    const Ritz ritz = after(spectrum, steps);
    EXPECT_GE(ritz.least(), spectrum.front() * (1 - 1e-9));
    EXPECT_LE(ritz.greatest(), spectrum.back() * (1 + 1e-9));
    EXPECT_LT(ritz.least(), before) << "the least one falls";
    before = ritz.least();
  }
  EXPECT_FALSE(after(spectrum, 12).settled());
  EXPECT_TRUE(after(even(), 60).settled());
  EXPECT_FALSE(after(spectrum, 3).settled()) << "too few to tell";
}

TEST(RitzTest, CountsWhatWasReached) {
  const Ritz ritz = after({1, 1.5, 2}, 3);
  ASSERT_LE(ritz.residual(), 1e-12);
  EXPECT_EQ(ritz.iterations(1e-8, 500), 3);
}

// The residual falls at one rate after the first iterations.
TEST(RitzTest, ExtrapolatesARate) {
  const std::vector<double> spectrum = even();
  std::int64_t needed = 1;
  while (after(spectrum, needed).residual() > 1e-8) ++needed;
  for (const std::int64_t steps : {20, 40}) {
    const double estimate = after(spectrum, steps).iterations(1e-8, 500);
    EXPECT_NEAR(estimate / static_cast<double>(needed), 1, 0.35) << "from " << steps << " of " << needed;
  }
}

TEST(RitzTest, AResidualThatDoesNotFallIsOneOfAHarderProblem) {
  Ritz ritz;
  for (int k = 0; k < 20; ++k) ritz.add(1, 1, 1);
  EXPECT_GE(ritz.iterations(1e-8, 700), 4 * 700);
  EXPECT_EQ(Ritz().iterations(1e-8, 700), 700);
}

// A residual that has not begun to fall gives no estimate, although the formula would give a number.
TEST(RitzTest, ReportsWhetherTheEstimateIsUsable) {
  EXPECT_TRUE(after(even(), 30).tells(1e-8));
  EXPECT_TRUE(after({0.25, 1, 3, 7, 40}, 5).tells(1e-8)) << "it has converged";
  std::vector<double> stiff;  // a thousand eigenvalues over ten decades
  for (int i = 0; i < 1000; ++i) stiff.push_back(std::pow(10, -10.0 * i / 999));
  const Ritz stalled = after(stiff, 40);
  EXPECT_FALSE(stalled.tells(1e-8)) << stalled.residual();
  EXPECT_FALSE(after(even(), 3).tells(1e-8)) << "too few";
}

}  // namespace
}  // namespace sextant
