// SPDX-License-Identifier: BSD-3-Clause
// What is chosen again after a kernel's model was found to be grossly wrong: choices that kernels of its kind may
// serve, and no others.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>

#include "core/context/context.hpp"
#include "core/operations/operations.hpp"
#include "sextant/plugin/kinds/multidot.h"
#include "sextant/plugin/kinds/pcg.h"
#include "sextant/plugin/kinds/reduction.h"
#include "sextant/plugin/kinds/residual.h"
#include "sextant/plugin/kinds/spmv.h"
#include "sextant/plugin/kinds/vector.h"

namespace {

using namespace sextant;

class ReconsiderTest : public testing::Test {
 protected:
  ReconsiderTest() {
    ContextSettings settings;
    settings.device = "cpu";
    context_ = std::make_shared<Context>(settings);
  }
  const PlannedOperation *norm() {
    return &Operations::of(*context_).planned({SXT_KIND_REDUCTION, SXT_REDUCTION_NRM2});
  }
  std::shared_ptr<Context> context_;
};

TEST_F(ReconsiderTest, AnEngineOrAResidualLeavesOperationsAndProductsAlone) {
  const PlannedOperation *const before = norm();
  const std::uint64_t choices = context_->choices(), epoch = context_->epoch();
  for (const char *kind : {SXT_KIND_PCG, SXT_KIND_RESIDUAL}) context_->reconsider(kind);
  EXPECT_EQ(norm(), before);
  EXPECT_EQ(context_->choices(), choices);
  EXPECT_EQ(context_->epoch(), epoch);
}

TEST_F(ReconsiderTest, AProductLeavesOperationsAlone) {
  const PlannedOperation *const before = norm();
  const std::uint64_t epoch = context_->epoch();
  context_->reconsider(SXT_KIND_SPMV);
  EXPECT_EQ(norm(), before);
  EXPECT_GT(context_->epoch(), epoch);
}

TEST_F(ReconsiderTest, OperationsAreChosenAgainEachTime) {
  for (const char *kind : {SXT_KIND_VECTOR, SXT_KIND_REDUCTION, SXT_KIND_MULTIDOT, SXT_KIND_VECTOR}) {
    const PlannedOperation *const before = norm();
    context_->reconsider(kind);
    EXPECT_NE(norm(), before) << kind;
  }
}

}  // namespace
