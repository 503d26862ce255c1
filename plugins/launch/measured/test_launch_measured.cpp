// SPDX-License-Identifier: BSD-3-Clause
// launch.measured: the least prediction among what can run; and what the kind's suite rejects.
#include <cmath>
#include <cstdint>

#include "tests/plugins/conformance.hpp"
#include "tests/plugins/launch_choice.hpp"

namespace {

using namespace plugin_test;

std::int64_t choose(const std::vector<sxt_launch_config> &configs) {
  return choose_launch("measured", {10, 2048, 16, 65536, 49152, 1024, 49152, 32}, configs);
}

TEST(LaunchMeasuredTest, TakesTheLeastPredictedTimeThatCanRun) {
  EXPECT_EQ(choose({{1, 128, 0, 32, 3e-6}, {1, 256, 0, 32, 2e-6}, {1, 512, 0, 32, 2e-6}}), 1);
  EXPECT_EQ(choose({{1, 2048, 0, 32, 1e-6}, {1, 256, 0, 32, 2e-6}}), 1);
  EXPECT_EQ(choose({{1, 128, 0, 32, NAN}, {1, 256, 0, 32, INFINITY}, {1, 512, 0, 32, -1.0}}), -1);
  EXPECT_EQ(choose({}), -1);
}

// The suite itself: a policy that proposes a configuration that cannot run, or none where one could, is detected.
TEST(LaunchKindTest, TheSuiteRejectsWrongProposals) {
  const Plugins plugins;
  const sxt_kind *kind = plugins.kind(SXT_KIND_LAUNCH);
  ASSERT_NE(kind, nullptr);
  Case c(*kind, 19), want(*kind, 19);
  auto &args = *reinterpret_cast<sxt_launch_args *>(c.value.args);
  char text[256] = "";
  sxt_message message{text, sizeof text};
  for (const std::int64_t wrong : {std::int64_t{-2}, std::int64_t{-1}, args.count}) {
    args.chosen = wrong;
    double error = 0;
    EXPECT_EQ(kind->compare(&c.value, &want.value, &error, &message), SXT_OK);
    EXPECT_GT(error, 1) << wrong;
  }
}

}  // namespace
