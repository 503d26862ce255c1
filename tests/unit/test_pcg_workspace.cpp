// SPDX-License-Identifier: BSD-3-Clause
// Work vectors that were given back serve only solves that want the same ones.
#include <gtest/gtest.h>

#include <memory>

#include "core/context/context.hpp"
#include "core/pcg/workspace.hpp"

namespace {

using namespace sextant;

class PcgWorkspaces : public testing::Test {
 protected:
  PcgWorkspaces() {
    ContextSettings settings;
    settings.device = "cpu";
    settings.threads = 1;
    context_ = std::make_shared<Context>(settings);
  }
  std::unique_ptr<PcgWorkspace> take(const WorkspaceShape &shape) { return pool_.take(context_->device(), shape); }

  std::shared_ptr<Context> context_;
  WorkspacePool pool_;
  const WorkspaceShape few_{.bytes = 80}, more_{.bytes = 80, .rhs = true, .candidate = true, .own_order = true};
};

TEST_F(PcgWorkspaces, AreKeptForTheNextSolve) {
  auto first = take(few_);
  const PcgWorkspace *const where = first.get();
  pool_.give_back(std::move(first));
  EXPECT_EQ(take(few_).get(), where);
}

TEST_F(PcgWorkspaces, HoldWhatAnotherEngineWants) {
  pool_.give_back(take(few_));
  const auto work = take(more_);
  for (const DeviceBuffer *each : {&work->rhs, &work->candidate, &work->own_x, &work->own_residual})
    EXPECT_NE(each->data(), nullptr);
}

TEST_F(PcgWorkspaces, OfAnotherEngineAreNotThereForACapture) {
  pool_.give_back(take(few_));
  EXPECT_EQ(pool_.take_idle(more_), nullptr);
  EXPECT_NE(pool_.take_idle(few_), nullptr);
}

}  // namespace
