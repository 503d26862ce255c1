// SPDX-License-Identifier: BSD-3-Clause
// What cholesky.levels.cuda derives from a structure, without a device: each front is of one level and one launch,
// products reach each entry once for each column, contribution blocks do not overlap, tasks wait for earlier ones
// alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "plan.cpp"
#include "plugins/cholesky/shared/structure.hpp"

namespace {

using namespace sextant_cholesky_levels;
using sextant_cholesky::LowerPattern, sextant_cholesky::Structure;

Structure cube(std::int32_t side, std::int64_t amalgamation, std::int64_t n_schur = 0) {
  return sextant_cholesky::cube_of_planes(side, {amalgamation, 1024, n_schur});
}

// Widths for which this small matrix has large fronts of several block columns.
Widths small_widths() {
  Widths widths;
  widths.block = 64, widths.most_small = 4;
  return widths;
}

// Blocks of a group are numbered without gaps.
void expect_numbered(const Plan &plan, const Group &group) {
  std::int64_t blocks = 0;
  for (std::int64_t k = group.first; k < group.first + group.count; ++k) {
    EXPECT_EQ(plan.jobs[k].first_block, blocks);
    EXPECT_GT(plan.jobs[k].blocks, 0);
    blocks += plan.jobs[k].blocks;
  }
  EXPECT_EQ(group.blocks, blocks);
}

// For each large front: columns by which each column was made less, in the order of launches.
using Taken = std::map<std::int32_t, std::vector<std::vector<int>>>;

void note_products(const Plan &plan, const Group &group, Taken &taken) {
  expect_numbered(plan, group);
  for (std::int64_t k = group.first; k < group.first + group.count; ++k) {
    const Job &job = plan.jobs[k];
    EXPECT_TRUE(job.c1 <= plan.fronts[job.front].width || job.c0 >= plan.fronts[job.front].width);
    for (std::int32_t c = job.c0; c < job.c1; ++c)
      for (std::int32_t from = job.k0; from < job.k1; ++from) taken[job.front][c].push_back(from);
  }
}

// Every column loses what each column before it gives, once, and panels come after that.
void check_level(const Plan &plan, const Level &level) {
  expect_numbered(plan, level.assemble);
  Taken taken;
  for (std::int64_t k = level.assemble.first; k < level.assemble.first + level.assemble.count; ++k)
    taken[plan.jobs[k].front].resize(static_cast<std::size_t>(plan.fronts[plan.jobs[k].front].rows));
  for (const BlockColumn &column : level.columns) {
    for (const Step &step : column.steps) {
      expect_numbered(plan, step.panels);
      for (std::int64_t k = step.panels.first; k < step.panels.first + step.panels.count; ++k) {
        const Job &job = plan.jobs[k];
        EXPECT_LE(job.k1 - job.k0, panel_columns);
        for (std::int32_t c = job.k0; c < job.k1; ++c) EXPECT_EQ(taken[job.front][c].size(), job.k0);
      }
      note_products(plan, step.inner, taken);
    }
    note_products(plan, column.near, taken), note_products(plan, column.far, taken);
  }
  for (auto &[front, columns] : taken) {
    const Front &f = plan.fronts[front];
    for (std::int32_t c = f.factored ? f.width : f.rows; c < f.rows; ++c) {
      std::sort(columns[c].begin(), columns[c].end());
      std::vector<int> all(static_cast<std::size_t>(f.width));
      std::iota(all.begin(), all.end(), 0);
      EXPECT_EQ(columns[c], all);
    }
  }
}

void check_factor(const Structure &structure, const Widths &widths) {
  const Plan plan(structure.view(), widths, false);
  std::vector<int> level_of(plan.fronts.size(), -1);
  for (std::size_t l = 0; l < plan.levels.size(); ++l) {
    const Level &level = plan.levels[l];
    for (const Group &group : level.small)
      for (std::int64_t k = group.first; k < group.first + group.count; ++k)
        EXPECT_EQ(std::exchange(level_of[plan.small[k]], static_cast<int>(l)), -1);
    for (std::int64_t k = level.assemble.first; k < level.assemble.first + level.assemble.count; ++k)
      EXPECT_EQ(std::exchange(level_of[plan.jobs[k].front], static_cast<int>(l)), -1);
    check_level(plan, level);
  }
  std::map<std::pair<int, std::int64_t>, std::int64_t> blocks;  // of a level: begin, numbers
  for (std::size_t p = 0; p < plan.fronts.size(); ++p) {
    const Front &f = plan.fronts[p];
    ASSERT_GE(level_of[p], 0) << "front " << p << " is of no launch";
    if (f.parent >= 0) {
      EXPECT_EQ(level_of[p] + 1, level_of[f.parent]);
    }
    EXPECT_EQ(f.buffer, level_of[p] % 2);
    const std::int64_t below = f.rows - f.width;
    EXPECT_LE(f.update_at + below * below, plan.update_values[f.buffer]);
    if (below > 0) blocks[{level_of[p], f.update_at}] = below * below;
  }
  std::pair<int, std::int64_t> end{-1, 0};
  for (const auto &[at, size] : blocks) {
    EXPECT_TRUE(at >= end) << "contribution blocks overlap";
    end = {at.first, at.second + size};
  }
}

// Calls f(front, begin, end, whole) for the fronts of a task; whole: a narrow front, which has one.
template <class F>
void for_fronts(const Plan &plan, const Task &t, F &&f) {
  if (t.front >= 0) return f(t.front, t.begin, t.end, false);
  EXPECT_LE(t.end - t.begin, narrow_fronts);
  for (std::int32_t k = t.begin; k < t.end; ++k) {
    EXPECT_TRUE(is_narrow(plan.fronts[plan.narrow[k]]));
    f(plan.narrow[k], 0, plan.fronts[plan.narrow[k]].rows, true);
  }
}

void check_forward(const Plan &plan) {
  std::vector<int> rows(plan.fronts.size(), 0);
  for (const Task &task : plan.forward.list) {
    for_fronts(plan, task, [&](std::int32_t p, std::int32_t begin, std::int32_t, bool) {
      EXPECT_EQ(begin, rows[p]);
      for (std::int32_t k = plan.fronts[p].child_begin; k < plan.fronts[p].child_end; ++k)
        EXPECT_EQ(rows[plan.children.list[k]], plan.fronts[plan.children.list[k]].rows) << "a child comes later";
    });
    for_fronts(plan, task, [&](std::int32_t p, std::int32_t begin, std::int32_t end, bool) {
      EXPECT_LE(end - begin, solve_columns + solve_rows);
      rows[p] = end;
    });
  }
  for (std::size_t p = 0; p < plan.fronts.size(); ++p) EXPECT_EQ(rows[p], plan.fronts[p].rows);
}

void check_backward(const Plan &plan) {
  std::vector<int> left(plan.fronts.size(), 0);
  for (std::size_t p = 0; p < plan.fronts.size(); ++p) left[p] = plan.fronts[p].width;
  for (const Task &task : plan.backward.list) {
    for_fronts(plan, task, [&](std::int32_t p, std::int32_t, std::int32_t end, bool whole) {
      EXPECT_EQ(left[p], whole ? plan.fronts[p].width : end);
      if (plan.fronts[p].parent >= 0) {
        EXPECT_EQ(left[plan.fronts[p].parent], 0) << "the parent comes later";
      }
    });
    for_fronts(plan, task, [&](std::int32_t p, std::int32_t begin, std::int32_t, bool) { left[p] = begin; });
  }
  for (const int each : left) EXPECT_EQ(each, 0);
}

// Triangles on the diagonal are inverted once each, those of fronts that solves cut into tasks, and each has a place.
void check_inverses(const Plan &plan) {
  std::vector<int> columns(plan.fronts.size(), 0);
  for (std::size_t k = 0; k < plan.triangles.size(); ++k) {
    const Task &t = plan.triangles[k];
    EXPECT_EQ(t.begin, columns[t.front]);
    EXPECT_LE(t.end - t.begin, solve_columns);
    EXPECT_EQ(plan.fronts[t.front].inverse_at + t.begin / solve_columns * inverse_values,
              static_cast<std::int64_t>(k) * inverse_values);
    columns[t.front] = t.end;
  }
  for (std::size_t p = 0; p < plan.fronts.size(); ++p) {
    const Front &f = plan.fronts[p];
    EXPECT_EQ(columns[p], f.factored && !is_narrow(f) ? f.width : 0);
  }
}

// With several right-hand sides a task is at most 64 rows, and its narrow fronts have a warp for each of their groups.
void check_sizes(const Plan &plan) {
  const std::int64_t columns = plan.widths.columns, groups = (columns + narrow_group - 1) / narrow_group;
  for (const Tasks *tasks : {&plan.forward, &plan.backward})
    for (const Task &t : tasks->list)
      if (t.front < 0 || columns > 1) {
        EXPECT_LE(t.end - t.begin, t.front < 0 ? narrow_fronts / groups : solve_columns);
      }
}

void check_solve(const Structure &structure, std::int64_t columns = 1) {
  Widths widths;
  widths.columns = columns;
  const Plan plan(structure.view(), widths, true);
  check_forward(plan), check_backward(plan), check_inverses(plan), check_sizes(plan);
  for (std::int64_t k = 0; k < plan.forward.split; ++k) EXPECT_LT(plan.forward.list[k].front, 0);
  for (std::size_t k = static_cast<std::size_t>(plan.backward.split); k < plan.backward.list.size(); ++k)
    EXPECT_LT(plan.backward.list[k].front, 0);
}

// 64 columns over 3000 rows, which they fill.
Structure with_a_wide_front() {
  LowerPattern a;
  a.n = 3064;
  for (std::int32_t i = 0; i < a.n; ++i) {
    for (std::int32_t j = 0; j <= std::min(i, 63); ++j)
      a.col.push_back(j), a.from.push_back(static_cast<std::int64_t>(a.from.size()));
    if (i > 63) a.col.push_back(i), a.from.push_back(static_cast<std::int64_t>(a.from.size()));
    a.row_ptr.push_back(static_cast<std::int64_t>(a.col.size()));
  }
  std::vector<std::int32_t> order(static_cast<std::size_t>(a.n));
  std::iota(order.begin(), order.end(), 0);
  return Structure(a, order, {});
}

// Kernels without tensor cores have one size of tiles: what was counted in larger ones they would not reach.
TEST(CholeskyLevelsPlan, WideTilesAreForThoseThatTakeThem) {
  const Structure structure = with_a_wide_front();
  for (const bool wide : {false, true}) {
    Widths widths;
    widths.wide_tiles = wide;
    const Plan plan(structure.view(), widths, false);
    std::int64_t of_wide = 0, of_narrow = 0;
    const auto count = [&](const Group &group) {
      if (group.count > 0) ++(group.tile == wide_tile ? of_wide : of_narrow);
    };
    for (const Level &level : plan.levels)
      for (const BlockColumn &column : level.columns) {
        for (const Step &step : column.steps) count(step.inner);
        count(column.near), count(column.far);
      }
    EXPECT_EQ(of_wide > 0, wide);
    EXPECT_GT(of_narrow, 0);
  }
}

TEST(CholeskyLevelsPlan, EachFrontHasOneLevelAndEachProductIsTakenOnce) {
  for (const std::int64_t amalgamation : {0, 8, 64}) {
    check_factor(cube(8, amalgamation), {});
    check_factor(cube(8, amalgamation), small_widths());
  }
  check_factor(cube(7, 8, 20), small_widths());
  check_factor(cube(1, 0), {});
}

TEST(CholeskyLevelsPlan, TasksOfSolvesWaitForEarlierOnes) {
  for (const std::int64_t columns : {1, 3, 5, 16}) {
    for (const std::int64_t amalgamation : {0, 8, 64}) check_solve(cube(8, amalgamation), columns);
    check_solve(cube(7, 8, 100), columns);
  }
}

// So many leaves below one front of 70 columns.
Structure leaves(std::int32_t count) {
  LowerPattern a;
  a.n = count + 70;
  for (std::int32_t i = 0; i < a.n; ++i) {
    for (std::int32_t j = std::max(0, i - count); i >= count && j < count; j += 70) a.col.push_back(j);
    for (std::int32_t j = count; j < i; ++j) a.col.push_back(j);
    a.col.push_back(i);
    a.row_ptr.push_back(static_cast<std::int64_t>(a.col.size()));
  }
  a.from.resize(a.col.size());
  std::iota(a.from.begin(), a.from.end(), 0);
  std::vector<std::int32_t> order(static_cast<std::size_t>(a.n));
  std::iota(order.begin(), order.end(), 0);
  return Structure(a, order, {0, 1024, 0});
}

TEST(CholeskyLevelsPlan, ManyNarrowFrontsComeFirstForwardsAndLastBackwards) {
  const Structure many = leaves(many_narrow), few = leaves(many_narrow - 1);
  const Plan large(many.view(), {}, true), small(few.view(), {}, true);
  EXPECT_EQ(large.forward.split, many_narrow / narrow_fronts);
  EXPECT_EQ(large.backward.split, 2);  // the columns of the front above them
  EXPECT_EQ(small.forward.split, 0);
  EXPECT_EQ(small.backward.split, static_cast<std::int64_t>(small.backward.list.size()));
  check_solve(many), check_solve(few);
}

TEST(CholeskyLevelsPlan, SmallFrontsFitTheirSharedMemory) {
  for (const std::int64_t number : {4, 8, 16})
    for (const std::int64_t most : {88, 200}) {
      Widths widths;
      widths.number = number, widths.most_small = most;
      const Structure structure = cube(9, 64);
      const Plan plan(structure.view(), widths, false);
      const auto bytes = small_bytes(widths);
      for (const Level &level : plan.levels)
        for (int c = 0; c < small_classes; ++c)
          for (std::int64_t k = level.small[c].first; k < level.small[c].first + level.small[c].count; ++k) {
            const std::int64_t rows = plan.fronts[plan.small[k]].rows;
            EXPECT_LE(rows * small_ld(rows) * number, bytes[c]);
          }
    }
}

// Full matrices of these sizes on the diagonal: a front each, all at one level.
Structure full_blocks(const std::vector<std::int32_t> &sizes) {
  LowerPattern a;
  for (const std::int32_t size : sizes) {
    const auto first = static_cast<std::int32_t>(a.n);
    for (std::int32_t i = 0; i < size; ++i) {
      for (std::int32_t j = 0; j <= i; ++j) a.col.push_back(first + j);
      a.row_ptr.push_back(static_cast<std::int64_t>(a.col.size()));
    }
    a.n += size;
  }
  a.from.resize(a.col.size());
  std::iota(a.from.begin(), a.from.end(), 0);
  std::vector<std::int32_t> order(static_cast<std::size_t>(a.n));
  std::iota(order.begin(), order.end(), 0);
  return Structure(a, order, {0, 1024, 0});
}

TEST(CholeskyLevelsPlan, FewSmallFrontsOfALevelAreOneLaunch) {
  std::vector<std::int32_t> sizes = {3, 12, 3, 7};
  Widths widths;
  widths.number = 512;  // so large that these are of three classes
  const Structure few = full_blocks(sizes);
  const Plan one(few.view(), widths, false);
  ASSERT_EQ(one.levels.size(), 1u);
  const auto counts = [](const Plan &plan) {
    std::vector<int> out;
    for (const Group &group : plan.levels[0].small) out.push_back(group.count);
    return out;
  };
  EXPECT_EQ(counts(one), (std::vector<int>{0, 0, 4, 0}));
  EXPECT_EQ(one.small_fronts.front().rows, 12);
  sizes.insert(sizes.end(), 254, 12);
  const Structure many = full_blocks(sizes);
  EXPECT_EQ(counts(Plan(many.view(), widths, false)), (std::vector<int>{2, 0, 256, 0})) << "no room for two more";
}

}  // namespace
