// SPDX-License-Identifier: BSD-3-Clause
// What cholesky.streams.cuda derives from a structure, without a device: each supernode is some task's, parents come
// after their children, contributions and places are those of the row lists.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "plan.cpp"
#include "plugins/cholesky/shared/structure.hpp"

namespace {

using namespace sextant_cholesky_streams;
using sextant_cholesky::Structure;

Structure cube(std::int32_t side, std::int64_t amalgamation, std::int64_t block, std::int64_t n_schur = 0) {
  return sextant_cholesky::cube_of_planes(side, {amalgamation, block, n_schur});
}

void check(const Structure &structure, Mapping mapping) {
  const sxt_symbolic &s = structure.view();
  Limits limits;
  limits.rows = 60;
  const Plan plan(s, limits, mapping, false), sweeps(s, limits, Mapping::joined, true);
  std::vector<int> turn(static_cast<std::size_t>(s.n_super), -1);
  std::int64_t values = 0;
  for (const Subtree &t : plan.subtrees) {
    for (std::int32_t p = t.first; p <= t.last; ++p) {
      EXPECT_EQ(turn[p], -1);
      turn[p] = 0;
    }
    EXPECT_EQ(t.update_at, values);
    values += std::int64_t{t.below} * t.below;
  }
  EXPECT_EQ(plan.update_values, values);
  for (std::size_t k = 0; k < plan.fifo.size(); ++k) {
    EXPECT_EQ(turn[plan.fifo[k]], -1);
    turn[plan.fifo[k]] = static_cast<int>(k) + 1;
  }
  for (std::int64_t p = 0; p < s.n_super; ++p) {
    ASSERT_GE(turn[p], 0) << "supernode " << p << " has no task";
    if (s.parent[p] >= 0 && turn[s.parent[p]] > 0) {
      EXPECT_LT(turn[p], turn[s.parent[p]]);
    }
    std::vector<Target> list;
    plan.targets(p, list);
    std::int64_t at = plan.width(p);
    for (const Target &t : list) {
      EXPECT_EQ(t.begin, at);
      for (at = t.begin; at < t.end; ++at) EXPECT_EQ(plan.block_of[s.rows[s.row_ptr[p] + at]], t.block);
    }
    EXPECT_EQ(at, plan.rows(p));
    for (std::int64_t i = plan.width(p); i < plan.rows(p) && s.parent[p] >= 0; ++i)
      EXPECT_EQ(s.rows[s.row_ptr[s.parent[p]] + sweeps.place_in_parent[s.row_ptr[p] + i]], s.rows[s.row_ptr[p] + i]);
  }
  for (std::size_t k = 0; k < plan.columns.size(); ++k)
    for (std::int64_t e = plan.column_at[k]; e < plan.column_at[k + 1]; ++e) {
      const std::int32_t root = plan.subtrees[plan.from_tree[e]].last;
      EXPECT_EQ(s.rows[s.row_ptr[root] + plan.width(root) + plan.from_row[e]], plan.columns[k]);
      EXPECT_FALSE(plan.in_subtree(plan.super_of[plan.columns[k]]));
    }
  std::size_t jobs = 0;
  for (const Level &level : sweeps.levels) jobs += level.narrow.size() / 2 + level.wide.size();
  EXPECT_EQ(jobs, sweeps.subtrees.size() + sweeps.fifo.size());
}

TEST(CholeskyStreamsPlan, EachSupernodeIsSomeonesAndParentsComeLast) {
  for (const Mapping mapping : {Mapping::published, Mapping::joined})
    for (const std::int64_t amalgamation : {0, 8, 64})
      for (const std::int64_t block : {8, 1024}) check(cube(8, amalgamation, block), mapping);
  check(cube(7, 8, 16, 20), Mapping::joined);
  check(cube(1, 0, 1), Mapping::joined);
}

TEST(CholeskyStreamsPlan, AsPublishedHasNoSubtrees) {
  const Structure structure = cube(6, 8, 64);
  const Plan plan(structure.view(), {}, Mapping::published, false);
  EXPECT_TRUE(plan.subtrees.empty());
  EXPECT_EQ(static_cast<std::int64_t>(plan.fifo.size()), structure.view().n_super);
}

}  // namespace
