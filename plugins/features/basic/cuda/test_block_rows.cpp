// SPDX-License-Identifier: BSD-3-Clause
// Groups of rows cover a matrix: the counts of the device's blocks of threads add up to the fills and fullest block
// rows by definition.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "plugins/features/basic/cuda/block_rows.hpp"
#include "sextant/sdk/cases.hpp"

namespace {

using namespace sextant::features_cuda;
using sextant::plugin::cases::Pattern;
using sextant::plugin::cases::Random;

using Fills = std::vector<double>;  // of each size, then the blocks of the fullest block row of each

// All groups as look_at_group does it, an entry a thread.
Fills counted_by_groups(const Pattern &pattern) {
  const auto rows = static_cast<std::int64_t>(pattern.row.size());
  std::uint64_t entries[fill_sizes] = {}, blocks[fill_sizes] = {}, most[fill_sizes] = {}, nnz = 0;
  for (std::int64_t first = 0; first < rows; first += group_rows) {
    std::vector<std::int32_t> col;
    std::vector<int> begin{0};
    for (std::int64_t i = first; i < first + seen_rows; ++i) {
      if (i < rows)
        col.insert(col.end(), pattern.row[static_cast<std::size_t>(i)].begin(),
                   pattern.row[static_cast<std::size_t>(i)].end());
      begin.push_back(static_cast<int>(col.size()));
      if (i < std::min(rows, first + group_rows)) nnz += static_cast<std::uint64_t>(begin.end()[-1] - begin.end()[-2]);
    }
    const Group group{col.data(), begin.data(), group_rows, first};
    const int last = begin.back();
    std::uint64_t blocks_of[fill_sizes][group_rows] = {};
    for (int task = 0; task < (last + 31) / 32 * fill_sizes; ++task)
      for (int lane = 0; lane < 32; ++lane) {
        const GroupTask own = group_task(task, fill_sizes, lane);
        if (own.entry >= last) continue;
        const auto row = std::upper_bound(begin.begin(), begin.end(), own.entry) - begin.begin() - 1;
        EntryOfBlocks entry;
        with_size(own.kind, [&](auto size) { entry = look_at_entry<size>(group, static_cast<int>(row), own.entry); });
        entries[own.kind] += entry.first >= 0, blocks[own.kind] += entry.begins;
        if (entry.begins) ++blocks_of[own.kind][entry.first];
      }
    for (int s = 0; s < fill_sizes; ++s)
      most[s] = std::max(most[s], *std::max_element(std::begin(blocks_of[s]), std::end(blocks_of[s])));
  }
  for (const std::uint64_t of_size : entries) EXPECT_EQ(of_size, nnz) << "each entry once";
  Fills fills(fill_sizes);
  tell_fills(entries, blocks, fills.data());
  fills.insert(fills.end(), std::begin(most), std::end(most));
  return fills;
}

Fills by_definition(const Pattern &pattern) {
  Fills fills, most;
  for (std::int64_t b = least_fill; b < least_fill + fill_sizes; ++b) {
    std::set<std::pair<std::int64_t, std::int64_t>> blocks;
    double nnz = 0;
    for (std::size_t i = 0; i < pattern.row.size(); ++i)
      for (const std::int64_t j : pattern.row[i]) blocks.emplace(static_cast<std::int64_t>(i) / b, j / b), ++nnz;
    const bool looked_for = b == 2 || fills[0] >= (b <= 4 || b == 8 ? 0.3 : 0.5);
    fills.push_back(!looked_for ? 0
                    : nnz > 0   ? nnz / (static_cast<double>(blocks.size()) * static_cast<double>(b * b))
                                : 1);
    std::map<std::int64_t, double> of_row;
    for (const auto &block : blocks) ++of_row[block.first];
    most.push_back(0);
    for (const auto &[row, count] : of_row) most.back() = std::max(most.back(), count);
  }
  fills.insert(fills.end(), most.begin(), most.end());
  return fills;
}

// Blocks of a size at `nodes` places, a few entries missing.
Pattern block_pattern(std::int64_t size, std::int64_t nodes, std::int64_t missing, Random &random) {
  const Pattern places =
      sextant::plugin::cases::random_pattern(nodes, nodes, random, [&](auto) { return 1 + random.below(5); });
  Pattern pattern{nodes * size, nodes * size, {}};
  for (const auto &place : places.row)
    for (std::int64_t r = 0; r < size; ++r) {
      pattern.row.emplace_back();
      for (const std::int64_t j : place)
        for (std::int64_t c = 0; c < size; ++c)
          if (random.below(20) >= missing) pattern.row.back().push_back(size * j + c);
    }
  return pattern;
}

TEST(FeaturesBlockRows, GroupsOfRandomPatternsCountWhatTheDefinitionSays) {
  Random random(11, 0);
  for (int i = 0; i < 300; ++i) {
    const std::int64_t rows = 1 + random.below(150), cols = 1 + random.below(150), most = 1 + random.below(40);
    const Pattern pattern = sextant::plugin::cases::random_pattern(
        rows, cols, random, [&](auto) { return random.below(std::min(most, cols) + 1); });
    EXPECT_EQ(counted_by_groups(pattern), by_definition(pattern)) << rows << " x " << cols;
  }
}

TEST(FeaturesBlockRows, BlocksAreFoundWhereverGroupsBegin) {
  Random random(12, 0);
  for (std::int64_t size = 2; size <= 8; ++size)
    for (const std::int64_t nodes : {1, 3, 5, 17, 40})
      for (const std::int64_t missing : {0, 2}) {
        const Pattern pattern = block_pattern(size, nodes, missing, random);
        const Fills fills = counted_by_groups(pattern);
        EXPECT_EQ(fills, by_definition(pattern)) << size << " x " << nodes;
        if (missing == 0) {
          EXPECT_EQ(fills[static_cast<std::size_t>(size - least_fill)], 1);
        }
      }
}

}  // namespace
