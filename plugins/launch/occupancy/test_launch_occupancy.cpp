// SPDX-License-Identifier: BSD-3-Clause
// launch.occupancy: every limit in turn, by hand, and the ties.
#include <cstdint>

#include "tests/plugins/launch_choice.hpp"

namespace {

using namespace plugin_test;

constexpr sxt_launch_limits device = {10, 2048, 16, 65536, 49152, 1024, 49152, 32};

std::int64_t choose(const std::vector<sxt_launch_config> &configs) {
  return choose_launch("occupancy", device, configs);
}

TEST(LaunchOccupancyTest, EachLimitDecidesInTurn) {
  // Blocks: 16 blocks of 64 are 32 warps, of 128 all 64.
  EXPECT_EQ(choose({{1600, 64, 0, 16, 0}, {1600, 128, 0, 16, 0}}), 1);
  // Registers: 64 a thread leave 1024 threads, 32 warps; 32 leave 64 warps.
  EXPECT_EQ(choose({{1600, 256, 0, 64, 0}, {1600, 256, 0, 32, 0}}), 1);
  // Shared memory: two blocks of 24 KiB with 256 threads are 16 warps, with 1024 threads 64.
  EXPECT_EQ(choose({{1600, 256, 24576, 32, 0}, {1600, 1024, 24576, 32, 0}}), 1);
  // Threads: two blocks of 768 are 48 warps, two of 1024 are 64.
  EXPECT_EQ(choose({{1600, 768, 0, 32, 0}, {1600, 1024, 0, 32, 0}}), 1);
}

TEST(LaunchOccupancyTest, TiesGoToTheFullestLastWaveThenTheFewestWavesThenTheFirst) {
  // 80 blocks of 256 fill a wave of 10 multiprocessors: 160 are two full waves, 170 leave most of a third empty.
  EXPECT_EQ(choose({{170, 256, 0, 32, 0}, {160, 256, 0, 32, 0}}), 1);
  EXPECT_EQ(choose({{160, 256, 0, 32, 0}, {80, 256, 0, 32, 0}}), 1);
  EXPECT_EQ(choose({{80, 256, 0, 32, 0}, {80, 256, 0, 32, 0}}), 0);
}

TEST(LaunchOccupancyTest, WhatCannotRunIsNotProposed) {
  EXPECT_EQ(choose({{1, 2048, 0, 32, 0}, {1, 32, 0, 32, 0}}), 1);
  EXPECT_EQ(choose({{1, 1024, 0, 128, 0}}), -1);
  EXPECT_EQ(choose({}), -1);
}

}  // namespace
