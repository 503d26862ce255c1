// SPDX-License-Identifier: BSD-3-Clause
// ordering.amd.cpu beyond the kind's suite: graphs that can be eliminated without fill, and ones with rows that see
// all.
#include "tests/plugins/orders.hpp"

namespace {

using namespace plugin_test;

const sxt_kernel &amd() { return find_kernel(load_own("ordering-amd"), "ordering.amd.cpu"); }

TEST(OrderingAmdTest, TreesAndArrowsAreEliminatedWithoutFill) {
  std::mt19937 random(3);
  TestGraph tree(5000);
  for (std::int64_t i = 1; i < 5000; ++i) tree.edge(i, static_cast<std::int64_t>(random() % static_cast<unsigned>(i)));
  tree.finish();
  EXPECT_EQ(fill_of(tree, order_of(amd(), tree).perm), 2 * 5000 - 1);
  TestGraph star(100000);
  for (std::int64_t i = 1; i < 100000; ++i) star.edge(0, i);
  star.finish();
  EXPECT_EQ(fill_of(star, order_of(amd(), star).perm), 2 * 100000 - 1);
}

TEST(OrderingAmdTest, UnknownsOfANodeStayTogether) {
  const TestGraph g = box_graph(8, 8, 8, true, 3), nodes = box_graph(8, 8, 8, true);
  const OrderOf order = order_of(amd(), g), of_nodes = order_of(amd(), nodes);
  // Weights make ties fall alike, so the order of unknowns is that of nodes.
  for (std::size_t k = 0; k < of_nodes.perm.size(); ++k)
    for (std::size_t u = 0; u < 3; ++u) EXPECT_EQ(order.perm[3 * k + u] / 3, order.perm[3 * k] / 3);
}

TEST(OrderingAmdTest, RowsThatSeeAllComeLast) {
  TestGraph g = box_graph(60, 60, 1, false);
  for (std::int64_t i = 1; i < g.n(); ++i) g.edge(0, i);
  g.finish();
  EXPECT_EQ(order_of(amd(), g).perm.back(), 0);
}

TEST(OrderingAmdTest, AMillionRowsWithoutNeighbours) {
  TestGraph g(1000000);
  g.finish();
  EXPECT_EQ(fill_of(g, order_of(amd(), g).perm), 1000000);
}

}  // namespace
