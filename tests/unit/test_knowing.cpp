// SPDX-License-Identifier: BSD-3-Clause
// What a choice between set-up and speed gains by knowing how often it will run.
#include "core/pcg/knowing.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace sextant {
namespace {

Considered line(double setup_s, double run_s, bool chosen = false) {
  Considered out;
  out.setup_s = setup_s;
  out.run_s = run_s;
  out.applicable = true;
  out.chosen = chosen;
  return out;
}

TEST(ValueOfKnowing, OneAloneLosesNothing) {
  EXPECT_EQ(value_of_knowing(std::vector{line(1, 1, true)}, 100, 100, 1, 3), 0);
  // Nor one that is better at every number.
  EXPECT_EQ(value_of_knowing(std::vector{line(1, 1, true), line(2, 3)}, 100, 100, 1, 3), 0);
}

// At 1/8, 1/4, 1/2 of the number the other takes 1, 2, 4 where this one takes 6 + 1/4, 6 + 1/2, 7; at once the number
// and beyond it is worse.
TEST(ValueOfKnowing, IsTheMeanLossOfTheChoice) {
  EXPECT_DOUBLE_EQ(value_of_knowing(std::vector{line(0, 8), line(6, 2, true)}, 100, 100, 1, 3), (5.25 + 4.5 + 3) / 7);
}

TEST(ValueOfKnowing, GrowsWithTheSolves) {
  const std::vector all{line(0, 8), line(100, 2), line(6, 4, true)};
  EXPECT_GT(value_of_knowing(all, 100, 100, 50, 3), value_of_knowing(all, 100, 100, 20, 3));
}

// Of 1/2, 1 and 2 times the number only the first loses: 4 where 7 are taken.
TEST(ValueOfKnowing, LooksNoFurtherThanSaid) {
  EXPECT_DOUBLE_EQ(value_of_knowing(std::vector{line(0, 8), line(6, 2, true)}, 100, 100, 1, 1), 1.0);
  EXPECT_EQ(value_of_knowing(std::vector{line(0, 8), line(6, 2, true)}, 100, 100, 1, 0), 0);
}

// Priced for 200 iterations and expected to be 100: of 50, 100 and 200 the first two lose 4.5 and 3.
TEST(ValueOfKnowing, LooksAroundWhatIsExpected) {
  EXPECT_DOUBLE_EQ(value_of_knowing(std::vector{line(0, 8), line(6, 2, true)}, 200, 100, 1, 1), 2.5);
}

TEST(ValueOfKnowing, NoNumberOfRunsIsBelowOne) {
  // 1/8, 1/4, 1/2 and 1 of one iteration are one.
  EXPECT_DOUBLE_EQ(value_of_knowing(std::vector{line(0, 1), line(2, 0.5, true)}, 1, 1, 1, 3), (4 * 1.5 + 1) / 7);
}

TEST(ValueOfKnowing, KernelsThatDoNotApplyAreIgnored) {
  std::vector all{line(1, 1, true), line(0, 0.1)};
  all[1].applicable = false;
  EXPECT_EQ(value_of_knowing(all, 100, 100, 1, 3), 0);
  all[1].applicable = true;
  EXPECT_GT(value_of_knowing(all, 100, 100, 1, 3), 0);
  all[0].chosen = false;
  EXPECT_EQ(value_of_knowing(all, 100, 100, 1, 3), HUGE_VAL);
}

}  // namespace
}  // namespace sextant
