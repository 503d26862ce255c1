// SPDX-License-Identifier: BSD-3-Clause
// ordering.dissection.cpu beyond the kind's suite: one order for every number of threads, little fill, and graphs that
// have no good separator or need none.
#include "tests/plugins/orders.hpp"

namespace {

using namespace plugin_test;

const sxt_kernel &dissection() { return find_kernel(load_own("ordering-dissection"), "ordering.dissection.cpu"); }
const sxt_kernel &amd() { return find_kernel(load_own("ordering-amd"), "ordering.amd.cpu"); }

// Points at random in a cube, each beside those that are near.
TestGraph scattered(std::int64_t n, double radius) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> anywhere(0, 1);
  std::vector<std::array<double, 3>> at(static_cast<std::size_t>(n));
  for (auto &point : at)
    for (double &x : point) x = anywhere(random);
  TestGraph g(n);
  std::sort(at.begin(), at.end());
  for (std::size_t i = 0; i < at.size(); ++i)
    for (std::size_t j = i + 1; j < at.size() && at[j][0] - at[i][0] < radius; ++j)
      if (std::hypot(at[i][0] - at[j][0], at[i][1] - at[j][1], at[i][2] - at[j][2]) < radius)
        g.edge(static_cast<std::int64_t>(i), static_cast<std::int64_t>(j));
  return std::move(g.finish());
}

TEST(OrderingDissectionTest, EveryNumberOfThreadsGivesOneOrder) {
  const TestGraph graphs[] = {box_graph(150, 140, 1, false), box_graph(24, 24, 24, false), scattered(12000, 0.06)};
  for (const TestGraph &g : graphs) {
    const OrderOf one = order_of(dissection(), g, 1, g.n());
    EXPECT_EQ(one.status, SXT_OK);
    for (const int threads : {2, 3, 8}) {
      const OrderOf more = order_of(dissection(), g, threads, g.n());
      EXPECT_EQ(one.perm, more.perm) << threads << " threads";
      EXPECT_EQ(one.tree_first, more.tree_first);
      EXPECT_EQ(one.tree_parent, more.tree_parent);
    }
  }
}

TEST(OrderingDissectionTest, LessFillThanMinimumDegreeInThreeDimensions) {
  for (const TestGraph &g : {box_graph(30, 30, 30, false), box_graph(16, 16, 16, true), scattered(9000, 0.07)}) {
    const std::int64_t fill = fill_of(g, order_of(dissection(), g).perm), other = fill_of(g, order_of(amd(), g).perm);
    EXPECT_LT(static_cast<double>(fill), 0.85 * static_cast<double>(other)) << g.n();
  }
}

TEST(OrderingDissectionTest, WhatHasNoSeparatorIsOrderedAllTheSame) {
  TestGraph full(700);
  for (std::int64_t i = 0; i < 700; ++i)
    for (std::int64_t j = 0; j < i; ++j) full.edge(i, j);
  full.finish();
  EXPECT_EQ(fill_of(full, order_of(dissection(), full).perm), 700 * 701 / 2);
  TestGraph star(50000);
  for (std::int64_t i = 1; i < 50000; ++i) star.edge(0, i);
  star.finish();
  EXPECT_EQ(fill_of(star, order_of(dissection(), star, 2).perm), 2 * 50000 - 1);
  TestGraph apart(1000000);
  apart.finish();
  EXPECT_EQ(fill_of(apart, order_of(dissection(), apart, 2).perm), 1000000);
  TestGraph path(30000);
  for (std::int64_t i = 1; i < 30000; ++i) path.edge(i, i - 1);
  path.finish();
  EXPECT_LT(fill_of(path, order_of(dissection(), path).perm), 3 * 30000);
}

TEST(OrderingDissectionTest, ACoarserTreeWhereFewNodesFit) {
  const TestGraph g = box_graph(60, 60, 1, false);
  const OrderOf all = order_of(dissection(), g, 1, g.n()), few = order_of(dissection(), g, 1, 7);
  EXPECT_EQ(all.perm, few.perm);
  EXPECT_GT(all.tree_nodes, 7);
  EXPECT_GE(few.tree_nodes, 3);
  EXPECT_LE(few.tree_nodes, 7);
  EXPECT_EQ(few.tree_first[static_cast<std::size_t>(few.tree_nodes)], g.n());
}

}  // namespace
