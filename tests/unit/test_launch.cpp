// SPDX-License-Identifier: BSD-3-Clause
// Launch policies asked about a mock kernel's candidates, and a policy that is forced.
#include <gtest/gtest.h>

#include <cstdint>

#include "core/choose/launch.hpp"
#include "core/context/context.hpp"
#include "sextant/plugin/kinds/launch.h"

namespace {

using namespace sextant;

// 4096 threads in all; launch[0] = threads a block.
sxt_status config_of(const sxt_query *, const sxt_candidate *candidate, const sxt_machine *, sxt_launch_config *out) {
  if (candidate->launch[0] <= 0) return SXT_E_ARGUMENT;
  *out = {4096 / candidate->launch[0], candidate->launch[0], 0, 32, 0};
  return SXT_OK;
}

class LaunchTest : public testing::Test {
 protected:
  LaunchTest() {
    ContextSettings settings;
    settings.device = "cpu";
    context_ = std::make_shared<Context>(settings);
    // A device of 2 multiprocessors, 16 blocks each.
    sxt_machine &m = context_->device().machine();
    m.units = 2, m.threads_per_unit = 2048, m.blocks_per_unit = 16, m.registers_per_unit = 65536;
    m.shared_per_unit = m.shared_per_block = 49152, m.threads_per_block = 1024, m.warp = 32;
    kernel_.table = sxt_kernel{};
    kernel_.table.launch_config = config_of;
    for (const std::int64_t threads : {512, 64, 128, 256}) {
      candidates_.emplace_back();
      candidates_.back().launch[0] = threads;
    }
  }
  std::vector<LaunchProposal> proposals() {
    return launch_proposals(*context_, kernel_, nullptr, candidates_, {4e-6, 1e-6, 3e-6, 2e-6});
  }
  std::shared_ptr<Context> context_;
  registry::Kernel kernel_{};
  std::vector<sxt_candidate> candidates_;
};

TEST_F(LaunchTest, EveryPolicyMakesAProposal) {
  const auto all = proposals();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].policy, "launch.measured");
  EXPECT_EQ(all[0].candidate, 1);  // least predicted time
  EXPECT_EQ(all[1].policy, "launch.occupancy");
  EXPECT_EQ(all[1].candidate, 0);  // 64 warps, as 128 and 256 have; all fill exactly one wave
  EXPECT_EQ(all[2].policy, "launch.tiered");
  EXPECT_EQ(all[2].candidate, 2);  // 4096 threads on two multiprocessors: 128 a block
  EXPECT_EQ(proposed_by(all, 2), "launch.tiered");
  EXPECT_EQ(proposed_by(all, 3), "");
}

TEST_F(LaunchTest, AForcedPolicyDecidesAndItsEndLetsTheModelDecide) {
  EXPECT_EQ(forced_proposal(*context_, proposals()), nullptr);
  context_->force(SXT_KIND_LAUNCH, "launch.tiered");
  const auto all = proposals();
  ASSERT_NE(forced_proposal(*context_, all), nullptr);
  EXPECT_EQ(forced_proposal(*context_, all)->candidate, 2);
  context_->force(SXT_KIND_LAUNCH, "");
  EXPECT_EQ(forced_proposal(*context_, all), nullptr);
}

TEST_F(LaunchTest, AForcedPolicyThatDeclinesRulesTheKernelOut) {
  context_->force(SXT_KIND_LAUNCH, "launch.tiered");
  for (sxt_candidate &candidate : candidates_) candidate.launch[0] = 2048;  // more than a block may have
  const auto all = proposals();
  EXPECT_THROW(forced_proposal(*context_, all), Error);
}

TEST_F(LaunchTest, KernelsWithoutConfigurationsAreLeftAlone) {
  context_->force(SXT_KIND_LAUNCH, "launch.tiered");
  kernel_.table.launch_config = nullptr;
  EXPECT_TRUE(proposals().empty());
  EXPECT_EQ(forced_proposal(*context_, proposals()), nullptr);
  kernel_.table.launch_config = config_of;
  candidates_[2].launch[0] = 0;  // one that the kernel cannot describe
  EXPECT_TRUE(proposals().empty());
}

}  // namespace
