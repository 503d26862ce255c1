// SPDX-License-Identifier: BSD-3-Clause
// Composed kernels are not asked where the others are good enough. The explanation says so, and a forced part of such a
// kernel is still used.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>

#include "core/calibrate/families.hpp"
#include "core/choose/selector.hpp"
#include "core/context/context.hpp"
#include "core/matrix/matrix.hpp"
#include "sextant/plugin/kinds/pcg.h"
#include "sextant/plugin/kinds/spmv.h"

namespace sextant {
namespace {

class Spare : public testing::Test {
 protected:
  Spare() {
    ContextSettings settings;
    settings.device = "cpu";
    settings.threads = 1;
    context_ = std::make_shared<Context>(settings);
    int number = 0;
    while (!family_symmetric(number)) ++number;
    matrix_ = std::make_unique<Matrix>(context_, make_family_matrix(number, 20000, SXT_F64, context_->allocator()),
                                       SXT_SYMMETRIC);
  }
  ChoicePtr select(const std::string &answer) {
    sxt_pcg_query query{};
    query.m = matrix_->query_part(SXT_KIND_PCG, sizeof query, 1);
    query.iterations = 100;
    const auto why_not = [&, answer](double least_total_s) { return told_ = least_total_s, answer; };
    Selector selector(*context_, matrix_.get(), {.why_not_composed = why_not});
    return selector.select({Query(&query.m.q), "pcg"});
  }
  static int refused(const Choice &choice, const std::string &reason) {
    int count = 0;
    for (const Considered &line : choice.considered) count += line.reason == reason;
    return count;
  }

  std::shared_ptr<Context> context_;
  std::unique_ptr<Matrix> matrix_;
  double told_ = -1;
};

TEST_F(Spare, TheReasonStandsInTheExplanation) {
  const ChoicePtr choice = select("good enough without");
  EXPECT_TRUE(choice->slots.empty()) << choice->kernel->name();
  EXPECT_GE(refused(*choice, "good enough without"), 3) << "three recurrences of pcg.host-loop";
  EXPECT_GT(told_, 0);
  EXPECT_TRUE(std::isfinite(told_));
  EXPECT_LE(told_, choice->setup_s + choice->storage_s + choice->run_s + 1e-12);
}

TEST_F(Spare, TheyAreAskedWhereNothingIsSaidAgainstIt) {
  const ChoicePtr choice = select("");
  bool seen = false;
  for (const Considered &line : choice->considered)
    seen |= line.applicable && line.kernel.find("host-loop") != std::string::npos;
  EXPECT_TRUE(seen);
}

TEST_F(Spare, AForcedPartIsNotPassedOver) {
  context_->force(SXT_KIND_SPMV, "spmv.csr.rows.cpu");
  const ChoicePtr choice = select("good enough without");
  EXPECT_FALSE(choice->slots.empty()) << choice->kernel->name();
  EXPECT_EQ(refused(*choice, "good enough without"), 0);
}

}  // namespace
}  // namespace sextant
