// SPDX-License-Identifier: BSD-3-Clause
// launch.tiered: the published table, the tiers of another device, and its choice where the wanted size is missing.
#include <cstdint>

#include "tests/plugins/launch_choice.hpp"

namespace {

using namespace plugin_test;

// 15 multiprocessors of 2048 threads and 16 blocks.
constexpr sxt_launch_limits published = {15, 2048, 16, 65536, 49152, 1024, 49152, 32};

std::int64_t choose(const std::vector<sxt_launch_config> &configs, const sxt_launch_limits &limits) {
  return choose_launch("tiered", limits, configs);
}

// The same threads in all, in blocks of each size.
std::vector<sxt_launch_config> regridded(std::int64_t total) {
  std::vector<sxt_launch_config> configs;
  for (const std::int64_t threads : {512, 96, 128, 192, 256}) configs.push_back({total / threads, threads, 0, 32, 0});
  return configs;
}

TEST(LaunchTieredTest, ThePublishedTable) {
  constexpr std::int64_t s = 15;
  EXPECT_EQ(choose(regridded(1536 * s), published), 1);        // 96
  EXPECT_EQ(choose(regridded(1536 * s + 512), published), 2);  // 128
  EXPECT_EQ(choose(regridded(2048 * s), published), 2);
  EXPECT_EQ(choose(regridded(2048 * s + 512), published), 3);  // 192
  EXPECT_EQ(choose(regridded(3072 * s), published), 3);
  EXPECT_EQ(choose(regridded(3072 * s + 512), published), 4);  // 256
}

TEST(LaunchTieredTest, TiersFollowTheDevice) {
  sxt_launch_limits twice = published;
  twice.blocks_per_unit = 32;
  EXPECT_EQ(choose(regridded(3072 * 15), twice), 1);  // all of them are resident in blocks of 96
}

TEST(LaunchTieredTest, TheNearestSizeAndTheSameNumberOfThreadsInAll) {
  // 96 is wanted; 128 is nearer than 256, and of two grids of 128 the one with as many threads in all.
  EXPECT_EQ(choose({{4, 256, 0, 32, 0}, {2, 128, 0, 32, 0}, {8, 128, 0, 32, 0}}, published), 2);
  // Beyond the limits of a block nothing is left.
  EXPECT_EQ(choose({{4, 2048, 0, 32, 0}}, published), -1);
  EXPECT_EQ(choose({{4, 128, 65536, 32, 0}}, published), -1);
  EXPECT_EQ(choose({}, published), -1);
}

}  // namespace
