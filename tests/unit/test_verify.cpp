// SPDX-License-Identifier: BSD-3-Clause
// Results from predicted and measured times, on numbers that can be checked by hand.
#include <gtest/gtest.h>

#include <cmath>

#include "core/calibrate/verify.hpp"
#include "core/choose/race_field.hpp"
#include "core/model/quantile.hpp"

namespace {

using sextant::quantile;
using sextant::summarise;
using sextant::VerifyLine;
using sextant::VerifySummary;

VerifyLine line(std::int64_t matrix, double predicted, double measured, double setup, bool chosen) {
  VerifyLine line;
  line.matrix = matrix;
  line.predicted_run_s = predicted;
  line.measured_run_s = measured;
  line.measured_setup_s = setup;
  line.chosen = chosen;
  return line;
}

TEST(Verify, QuantilesInterpolate) {
  EXPECT_EQ(quantile({}, 0.5), 0);
  EXPECT_EQ(quantile({3}, 0.9), 3);
  EXPECT_DOUBLE_EQ(quantile({4, 1, 3, 2}, 0.5), 2.5);
  EXPECT_DOUBLE_EQ(quantile({0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100}, 0.9), 90);
  EXPECT_DOUBLE_EQ(quantile({1, 2}, 1), 2);
}

TEST(Verify, ErrorsAndRegretByHand) {
  // Matrix 0, 10 products: the chosen one costs 0 + 10 x 2 = 20, the other 2 + 10 x 1 = 12.
  // Matrix 1: the chosen one costs 10, the other 5 + 10 x 1 = 15.
  const std::vector<VerifyLine> lines = {line(0, 1, 2, 0, true), line(0, 1.5, 1, 2, false), line(1, 1.1, 1, 0, true),
                                         line(1, 1, 1, 5, false)};
  const VerifySummary summary = summarise(lines, 10);
  EXPECT_EQ(summary.matrices, 2);
  EXPECT_EQ(summary.candidates, 4);
  // Errors 0.5, 0.5, 0.1, 0: in order 0, 0.1, 0.5, 0.5.
  EXPECT_NEAR(summary.median_relative_error, 0.3, 1e-12);
  EXPECT_NEAR(summary.p90_relative_error, 0.5, 1e-12);
  EXPECT_DOUBLE_EQ(summary.top1_accuracy, 0.5);
  EXPECT_NEAR(summary.regret_geomean, std::sqrt(20.0 / 12), 1e-12);
  EXPECT_NEAR(summary.regret_max, 20.0 / 12, 1e-12);
  EXPECT_NEAR(summary.regret_p95, 1 + 0.95 * (20.0 / 12 - 1), 1e-12);
}

TEST(Verify, TiesAreRight) {
  EXPECT_EQ(summarise({line(0, 1, 1.029, 0, true), line(0, 1, 1, 0, false)}, 1).top1_accuracy, 1);
  EXPECT_EQ(summarise({line(0, 1, 1.031, 0, true), line(0, 1, 1, 0, false)}, 1).top1_accuracy, 0);
}

TEST(Verify, ChoosingCostsToo) {
  VerifyLine chosen = line(0, 1, 1, 0, true);
  chosen.select_s = 1;
  EXPECT_DOUBLE_EQ(summarise({chosen, line(0, 1, 1, 0, false)}, 1).regret_geomean, 2);
}

TEST(Verify, KernelsWithoutAModelHaveNoError) {
  VerifyLine silent = line(0, 100, 1, 0, false);
  silent.estimated = false;
  const VerifySummary summary = summarise({line(0, 2, 2, 0, true), silent}, 1);
  EXPECT_EQ(summary.median_relative_error, 0);
  EXPECT_DOUBLE_EQ(summary.regret_geomean, 2) << "but it might have been the better choice";
}

TEST(Verify, RacesTakeWhatTheClockPrefersAmongTheFirstFew) {
  // Predicted 1, 1.1, 1.2 with error bars of 20 %, measured 2, 1.5, 1: a race of two takes the second, of three the
  // third.
  std::vector<VerifyLine> lines = {line(0, 1, 2, 0, true), line(0, 1.1, 1.5, 0, false), line(0, 1.2, 1, 0, false)};
  for (VerifyLine &each : lines) each.rel_error = 0.2;
  VerifySummary summary = summarise(lines, 1);
  EXPECT_EQ(summary.top1_accuracy, 0);
  EXPECT_DOUBLE_EQ(summary.races[0].regret_geomean, 1.5);
  EXPECT_EQ(summary.races[0].top1_accuracy, 0);
  EXPECT_DOUBLE_EQ(summary.races[1].regret_geomean, 1);
  EXPECT_EQ(summary.races[1].top1_accuracy, 1);
  EXPECT_NEAR(summary.races[1].price, 12 * (2 + 1.5 + 1), 1e-12) << "twelve runs of each, over one of the winner's";
  // The set-ups of losers are lost time, beyond what every candidate needs.
  lines[0].measured_setup_s = 3, lines[1].measured_setup_s = 4, lines[2].measured_setup_s = 5;
  EXPECT_NEAR(summarise(lines, 1).races[1].price, 1 + 12 * (2 + 1.5 + 1), 1e-12);
  // A candidate whose error bar does not reach that of the first one does not race.
  lines[1].rel_error = lines[2].rel_error = 0.01, lines[0].rel_error = 0.01;
  summary = summarise(lines, 1);
  EXPECT_EQ(summary.races[1].regret_geomean, summary.regret_geomean);
  EXPECT_EQ(summary.races[1].price, 0);
}

TEST(Race, IsRunOnlyWhereItMayPay) {
  using sextant::race_budget;
  using sextant::race_field;
  EXPECT_EQ(sextant::race_trial_price(1e-6), sextant::race_trial_s);
  EXPECT_EQ(sextant::race_trial_price(1), sextant::race_runs);
  const std::vector<sextant::Entrant> three = {{0, 1, 0.1, 0.01}, {0, 1.05, 0.1, 0.02}, {0, 1.1, 0.1, 0.005}};
  EXPECT_EQ(race_budget(three[0], 1), 0.01);
  EXPECT_EQ(race_budget(three[0], 0.001), 0.001);
  using Field = std::vector<std::size_t>;
  EXPECT_EQ(race_field(three, 3, 1), (Field{0, 1, 2}));
  EXPECT_EQ(race_field(three, 2, 1), (Field{0, 1}));
  EXPECT_EQ(race_field(three, 3, 0.02), (Field{0, 2})) << "the second cannot be set up within the budget";
  EXPECT_EQ(race_field(three, 3, 0.012), Field{}) << "one is no race";
  EXPECT_EQ(race_field(three, 3, 0.009), Field{});
  EXPECT_EQ(race_field(three, 1, 1), Field{});
  EXPECT_EQ(race_field({}, 3, 1), Field{});
}

TEST(Verify, NothingMeasuredIsNoDivisionByZero) {
  const VerifySummary summary = summarise({}, 1);
  EXPECT_EQ(summary.matrices, 0);
  EXPECT_EQ(summary.regret_geomean, 1);
  EXPECT_EQ(summarise({line(0, 1, 0, 0, true)}, 1).candidates, 0);
}

}  // namespace
