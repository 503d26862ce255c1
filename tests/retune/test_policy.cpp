// SPDX-License-Identifier: BSD-3-Clause
// Shapes, policies, trials, the allow list and the cache.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "hook/trials.hpp"
#include "policy/allow.hpp"
#include "policy/cache.hpp"
#include "policy/policy.hpp"

namespace {

using namespace sextant::retune;

// 15 multiprocessors of 2048 threads and 16 blocks.
constexpr sxt_launch_limits device = {15, 2048, 16, 65536, 49152, 1024, 49152, 32};
constexpr Facts free_facts = {32, 1024, 0};

std::string file(const std::string &content) {
  char path[] = "/tmp/sextant-retune-XXXXXX";
  const int opened = mkstemp(path);
  if (opened >= 0) close(opened);
  std::ofstream(path) << content;
  return path;
}

TEST(RetunePolicy, PublishedConstants) {
  const auto chosen = [](std::int64_t threads, std::uint32_t block) {
    return choose(Policy::published, {static_cast<std::uint32_t>(threads / block), block, 0}, free_facts, device).block;
  };
  EXPECT_EQ(chosen(1536 * 15, 32), 96u);
  EXPECT_EQ(chosen(2048 * 15, 32), 128u);
  EXPECT_EQ(chosen(3072 * 15, 32), 192u);
  EXPECT_EQ(chosen(3072 * 16, 32), 256u);
  // On a device with more blocks the constants stay; where the size does not divide the launch, the launch stays.
  sxt_launch_limits more = device;
  more.blocks_per_unit = 32;
  EXPECT_EQ(choose(Policy::published, {2048 * 15 / 32, 32, 0}, free_facts, more).block, 128u);
  EXPECT_EQ(choose(Policy::tiered, {2048 * 15 / 32, 32, 0}, free_facts, more).block, 96u);
  EXPECT_EQ(chosen(160, 32), 32u);
}

TEST(RetunePolicy, ThreadsAndSharedMemoryAreKept) {
  const Shape original = {1200, 96, 400};
  const std::vector<Shape> shapes = candidates(original, free_facts, device);
  EXPECT_EQ(shapes.size(), 4u);
  EXPECT_EQ(shapes[0], original);
  for (const Shape &shape : shapes) {
    EXPECT_EQ(shape.threads(), original.threads());
    EXPECT_EQ(std::int64_t{shape.shared} * shape.grid, std::int64_t{original.shared} * original.grid);
  }
  EXPECT_FALSE(reshaped({4, 32, 0}, 96, free_facts, device));
  EXPECT_FALSE(reshaped({64, 32, 0}, 1024, {32, 512, 0}, device));
  EXPECT_FALSE(reshaped({64, 32, 4096}, 1024, free_facts, device));  // 128 KiB a block
  EXPECT_FALSE(reshaped({63, 32, 1}, 96, {32, 64, 0}, device));
  EXPECT_FALSE(reshaped({64, 32, 1}, 0, free_facts, device));
}

TEST(RetunePolicy, OccupancyLeavesSmallBlocks) {
  EXPECT_GE(choose(Policy::occupancy, {96000, 32, 0}, free_facts, device).block, 128u);
  EXPECT_EQ(choose(Policy::measured, {96000, 32, 0}, free_facts, device).block, 32u);
  for (const char *name : {"published", "tiered", "occupancy", "measured"})
    EXPECT_STREQ(name_of(*policy_of(name)), name);
  EXPECT_FALSE(policy_of("best"));
}

// seconds(block) over threads, until it is decided.
template <typename Seconds>
Trials run_trials(const Shape &original, const Seconds &seconds, int &launches) {
  Trials trials;
  trials.begin(candidates(original, free_facts, device));
  for (launches = 0; !trials.decided() && launches < 1000; ++launches) {
    const auto shape = trials.next(original, free_facts, device);
    if (!shape) break;
    trials.note(shape->block, seconds(shape->block), original.threads());
  }
  return trials;
}

TEST(RetuneTrials, TheFastestWinsAndTheOriginalStaysWhereNothingIsGained) {
  const Shape original = {98304, 32, 0};
  int launches = 0;
  const Trials faster = run_trials(
      original, [](std::uint32_t block) { return block == 256 ? 1e-12 : 4e-12; }, launches);
  EXPECT_TRUE(faster.decided());
  EXPECT_EQ(faster.chosen(), 256u);
  EXPECT_LT(launches, 60);
  const Trials same = run_trials(
      original, [](std::uint32_t block) { return block == 256 ? 0.98e-12 : 1e-12; }, launches);
  EXPECT_TRUE(same.decided());
  EXPECT_EQ(same.chosen(), 32u);
  // A gain below what events resolve is none.
  const Shape tiny = {8, 32, 0};
  const Trials small = run_trials(
      tiny, [](std::uint32_t block) { return (block == 256 ? 1.9e-6 : 2e-6) / 256; }, launches);
  EXPECT_EQ(small.chosen(), 32u);
}

TEST(RetuneTrials, TrialsWithoutATimeEnd) {
  Trials trials;
  const Shape original = {98304, 32, 0};
  trials.begin(candidates(original, free_facts, device));
  for (int i = 0; i < 1000 && !trials.decided(); ++i)
    if (const auto shape = trials.next(original, free_facts, device))
      trials.note(shape->block, std::nullopt, original.threads());
  EXPECT_TRUE(trials.decided());
  EXPECT_EQ(trials.chosen(), 32u);
}

TEST(RetuneTrials, TheBudgetIsAShareOfTheTime) {
  Budget budget(0);
  EXPECT_GT(budget.wait_for(1e-3, 1'000'000), 0);
  EXPECT_EQ(budget.wait_for(1e-3, 1'000'000'000), 0);
  budget.spend(2.5e-3);
  EXPECT_GT(budget.wait_for(1e-6, 1'000'000'000), 0);
  EXPECT_EQ(budget.wait_for(1e-6, 1'100'000'000), 0);
}

TEST(RetuneAllow, PatternsAndErrors) {
  EXPECT_TRUE(matches("a*c", "abbc"));
  EXPECT_TRUE(matches("*", ""));
  EXPECT_TRUE(matches("_Z4axpy*", "_Z4axpyifPKfPf"));
  EXPECT_FALSE(matches("a*c", "abbd"));
  EXPECT_FALSE(matches("abc", "abcd"));
  const AllowList list(file("[[kernel]]\nname = \"mine*\"\nreason = \"tiles\"\n[[kernel]]\nname = \"yours\"\n"));
  EXPECT_EQ(list.size(), 2u);
  ASSERT_NE(list.find("mine_2"), nullptr);
  EXPECT_EQ(list.find("mine_2")->reason, "tiles");
  EXPECT_EQ(list.find("theirs"), nullptr);
  const std::pair<const char *, const char *> damaged[] = {{"[[kernel]]\nnames = \"a\"\n", ":2: 'names' is not known"},
                                                           {"[[kernel]]\n", "needs its name"},
                                                           {"kernel = 3\n", ":1: kernels are a list"},
                                                           {"[[kernel]]\nname = 3\n", ":2: name must be a string"},
                                                           {"[[kernel]\n", ":1: "},
                                                           {"[other]\n", "'other' is not known"}};
  for (const auto &[content, says] : damaged) {
    try {
      AllowList{file(content)};
      ADD_FAILURE() << content;
    } catch (const FileError &error) {
      EXPECT_NE(std::string(error.what()).find(says), std::string::npos) << error.what();
    }
  }
  EXPECT_THROW(AllowList{"/nowhere/allow.toml"}, FileError);
}

TEST(RetuneCache, RoundTripAndDamage) {
  const std::string path = file("");
  std::filesystem::remove(path);
  const CacheKey key = {"Device \"A\"", "kernel", 0xfedcba9876543210u, 20, 32};
  Cache first;
  first.load(path);
  first.add(key, {256, 2e-12, 1e-12});
  first.save();
  Cache second;
  second.load(path);
  ASSERT_NE(second.find(key), nullptr);
  EXPECT_EQ(second.find(key)->block, 256u);
  EXPECT_EQ(second.find(key)->block_s, 1e-12);
  // What another process has written meanwhile stays.
  second.add({"Device \"A\"", "other", 1, 20, 32}, {128, 2e-12, 1e-12});
  second.save();
  Cache third;
  third.load(path);
  EXPECT_NE(third.find(key), nullptr);

  for (const char *content : {"version = 2\n", "not toml", "version = 1\n[[choice]]\ndevice = \"a\"\n",
                              "version = 1\n[[choice]]\ndevice = \"a\"\nkernel = \"k\"\nmodule = \"zz\"\nclass = 1\n"
                              "original = 32\nblock = 64\noriginal_s = 1.0\nblock_s = 1.0\n",
                              "version = 1\n[[choice]]\ndevice = \"a\"\nkernel = \"k\"\nmodule = \"1\"\nclass = 1\n"
                              "original = 32\nblock = 4096\noriginal_s = 1.0\nblock_s = 1.0\n"}) {
    const std::string damaged = file(content);
    Cache cache;
    EXPECT_THROW(cache.load(damaged), FileError) << content;
    cache.add(key, {256, 2e-12, 1e-12});
    cache.save();  // it keeps nothing, and the file stays
    std::ifstream stream(damaged);
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(stream), {}), content);
  }
}

}  // namespace
