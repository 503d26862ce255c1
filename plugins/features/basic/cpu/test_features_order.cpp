// SPDX-License-Identifier: BSD-3-Clause
// The order of row lengths, on patterns with known results, and block fills that samples can miss.
#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "sextant/plugin/kinds/features.h"
#include "sextant/sdk/cases.hpp"
#include "tests/plugins/support.hpp"

namespace plugin_test {
namespace {

using namespace sextant::plugin;
using namespace sextant::plugin::cases;

std::map<std::string, double> features_of(const char *name, const Pattern &pattern) {
  const sxt_kernel &kernel = find_kernel(load_own("features-basic"), name);
  Random random(1, 1);
  Matrix matrix(pattern, SXT_F64, random);
  sxt_matrix_query query = matrix.query(SXT_KIND_FEATURES, sizeof query, SXT_F64);
  Ready ready(kernel, &query.q, ask_candidates(kernel, &query.q, make_machine(1))[0], &matrix.csr().s.h);
  const char *const *names = static_cast<const sxt_features_ops *>(kernel.ops)->names;
  std::uint64_t count = 0;
  while (names[count]) ++count;
  std::vector<double> values(count);
  sxt_features_args args = {head<sxt_features_args>(SXT_KIND_FEATURES), count, names, values.data()};
  EXPECT_EQ(ready.run(&args.h), SXT_OK);
  std::map<std::string, double> found;
  for (std::uint64_t i = 0; i < count; ++i) found[names[i]] = values[i];
  return found;
}

// Rows of given lengths, their columns from 0 on.
Pattern lengths(std::int64_t rows, const std::function<std::int64_t(std::int64_t)> &length) {
  Pattern pattern{rows, 4000, {}};
  for (std::int64_t i = 0; i < rows; ++i) {
    auto &row = pattern.row.emplace_back();
    for (std::int64_t j = 0, n = length(i); j < n; ++j) row.push_back(j);
  }
  return pattern;
}

std::map<std::string, double> order_of(std::int64_t rows, const std::function<std::int64_t(std::int64_t)> &length) {
  return features_of("features.order.cpu", lengths(rows, length));
}

TEST(FeaturesOrder, WhatRepeatsIsForeseen) {
  for (std::int64_t period : {1, 2, 4})
    EXPECT_LE(order_of(3000, [&](auto i) { return 1 + i % period; })["row_nnz_unforeseen"], 4 + period) << period;
  // The last three lengths do not predict when a run ends: that is mispredicted, and so is the continuation of the next
  // run.
  EXPECT_NEAR(order_of(4000, [](auto i) { return i % 16 < 8 ? 2 : 5; })["row_nnz_unforeseen"], 1000, 20);
}

TEST(FeaturesOrder, RandomLengthsAreNot) {
  Random random(4, 0);
  const std::int64_t rows = 4000;
  auto found = order_of(rows, [&](auto) { return 1 + random.below(8); });
  EXPECT_NEAR(found["row_nnz_unforeseen"], rows * 7 / 8, rows / 40);
  EXPECT_LE(found["row_nnz_unforeseen_8"], 4) << "one step of eight each";
  // Halves of one step and of two: in lanes every other guess is wrong.
  found = order_of(rows, [&](auto) { return 1 + random.below(16); });
  EXPECT_NEAR(found["row_nnz_unforeseen_8"], rows / 2, rows / 40);
}

TEST(FeaturesOrder, CountsWhatSellWouldStore) {
  // Every other row has nine entries: sorted, half of the slices are of ones.
  auto found = order_of(1024, [](auto i) { return i % 2 ? 9 : 1; });
  EXPECT_EQ(found["sorted_512"], 1);
  EXPECT_EQ(found["row_nnz_sum_sorted_512"], 512 * 9 + 512);
  EXPECT_EQ(found["row_nnz_sum_mod_8"], 1024);
  // One longer row in a window saves less than 3 % elsewhere.
  found = order_of(512, [](auto i) { return i == 100 ? 7 : 6; });
  EXPECT_EQ(found["sorted_512"], 0);
  EXPECT_EQ(found["row_nnz_sum_sorted_512"], 512 * 6 + 8);
  // Rows beyond the histogram.
  found = order_of(520, [](auto i) { return i % 100 == 3 ? 2000 + i : 1; });
  EXPECT_EQ(found["sorted_512"], 0.5) << "the second window has one slice, sorted already";
  EXPECT_EQ(found["row_nnz_sum_sorted_512"], 8 * 2503 + 512 - 8 + 8);
}

TEST(FeaturesOrder, ASampleStandsForLargeMatrices) {
  Random random(5, 0);
  const std::int64_t rows = 100000;
  auto found = order_of(rows, [&](auto) { return random.below(2) ? 2 : 7; });
  EXPECT_NEAR(found["row_nnz_unforeseen"], rows / 2, rows / 50);
  EXPECT_NEAR(found["row_nnz_sum_mod_8"], 4.5 * rows, rows / 10);
  EXPECT_EQ(found["sorted_512"], 1);
}

// Dense blocks of six in long rows: the sample is a few block rows only.
TEST(FeaturesBlocks, SizesBetweenFourAndEightAreLookedForWhereTheyCanBe) {
  Pattern pattern{2400, 2400, {}};
  for (std::int64_t i = 0; i < pattern.rows; ++i) {
    auto &row = pattern.row.emplace_back();
    for (std::int64_t block = 0; block < 20; ++block)
      for (std::int64_t c = 0; c < 6; ++c) row.push_back((i / 6 % 5 + 19 * block) * 6 + c);
  }
  auto found = features_of("features.sample.cpu", pattern);
  for (int size : {2, 3, 6}) EXPECT_EQ(found["block_fill_" + std::to_string(size)], 1) << size;
  for (int size : {4, 5, 7, 8}) EXPECT_LT(found["block_fill_" + std::to_string(size)], 0.85) << size;
  for (int size : {5, 7}) EXPECT_GT(found["block_fill_" + std::to_string(size)], 0.2) << size;
  // A diagonal fills blocks of two to a half; sparser ones are not considered.
  found = features_of("features.sample.cpu", banded_pattern(1000, 1000, {0}));
  EXPECT_EQ(found["block_fill_5"], 0.2);
  found = features_of("features.sample.cpu", banded_pattern(1000, 1000, {-40, 40}));
  EXPECT_EQ(found["block_fill_5"], 0.2);
  found = features_of("features.sample.cpu", lengths(1000, [](auto i) { return i % 2; }));
  EXPECT_LT(found["block_fill_2"], 0.5);
  EXPECT_EQ(found["block_fill_5"], 0);
}

}  // namespace
}  // namespace plugin_test
