// SPDX-License-Identifier: BSD-3-Clause
// Which measured runs say that a model misses grossly: interruptions and what a call takes beside its kernel do not.
#include <gtest/gtest.h>

#include <cstdint>

#include "core/context/feedback.hpp"
#include "sextant/plugin/kinds/spmv.h"

namespace {

using namespace sextant;

class FeedbackTest : public testing::Test {
 protected:
  explicit FeedbackTest(const char *device = "cpu") {
    kernel_.table.name = "spmv.some";
    kernel_.table.device = device;
    sxt_spmv_query asked{};
    asked.m.q.h = {sizeof asked, SXT_KIND_SPMV};
    asked.m.q.flags = SXT_QUERY_MATRIX;
    asked.m.q.value_type = asked.m.matrix_type = SXT_F64;
    query_ = Query(&asked.m.q);
  }
  // So many runs, and whether one of them made the model a gross miss.
  bool run(int count, double predicted_s, double seconds) {
    bool found = false;
    for (int i = 0; i < count; ++i)
      found |= feedback_.observe({kernel_, query_, candidate_}, predicted_s, head_, seconds);
    return found;
  }
  double factor() const { return feedback_.factor({kernel_, query_, candidate_}); }

  registry::Kernel kernel_{};
  Query query_;
  sxt_candidate candidate_{};
  sxt_head head_{sizeof(sxt_head), SXT_KIND_SPMV};
  Feedback feedback_{false};
};

class FeedbackOfADevice : public FeedbackTest {
 protected:
  FeedbackOfADevice() : FeedbackTest("cuda") {}
};

TEST_F(FeedbackTest, AModelThatMissesEveryRunIsCorrected) {
  EXPECT_FALSE(run(5, 1e-4, 5e-3));  // the first is cold
  EXPECT_TRUE(run(1, 1e-4, 4e-3));
  EXPECT_DOUBLE_EQ(factor(), 40);
  EXPECT_FALSE(run(3, 1e-4, 5e-3)) << "it was known";
  run(1, 1e-4, 2e-4);
  EXPECT_EQ(factor(), 1) << "one run that ends about as predicted clears it";
}

TEST_F(FeedbackTest, InterruptionsOfShortRunsAreNotHeldAgainstAModel) {
  run(2, 4e-6, 5e-6);
  EXPECT_FALSE(run(12, 4e-6, 1e-2));
  EXPECT_EQ(factor(), 1);
}

TEST_F(FeedbackTest, WhereMostRunsAreTooShortToTellNothingIsTold) {
  EXPECT_FALSE(run(8, 1e-8, 1e-6));  // a hundred times as long, by a clock that is read in that time
  EXPECT_FALSE(run(7, 1e-8, 1e-2));
  EXPECT_EQ(factor(), 1);
}

TEST_F(FeedbackOfADevice, WhatACallTakesBesideItsKernelIsNotHeldAgainstIt) {
  EXPECT_FALSE(run(20, 1e-6, 3e-5));  // launched and waited for
  EXPECT_EQ(factor(), 1);
  run(25, 1e-4, 5e-3);
  EXPECT_DOUBLE_EQ(factor(), 50);
}

}  // namespace
