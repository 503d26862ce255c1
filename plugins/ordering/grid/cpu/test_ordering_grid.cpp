// SPDX-License-Identifier: BSD-3-Clause
// ordering.grid.cpu beyond the kind's suite: which patterns it takes for grids, and that planes leave little fill.
#include "tests/plugins/orders.hpp"

namespace {

using namespace plugin_test;

const sxt_kernel &grid() { return find_kernel(load_own("ordering-grid"), "ordering.grid.cpu"); }
const sxt_kernel &dissection() { return find_kernel(load_own("ordering-dissection"), "ordering.dissection.cpu"); }

struct Shape {
  std::int64_t a, b, c;
  bool corners;
  std::int64_t unknowns = 1;
};

TEST(OrderingGridTest, GridsOfAllKindsAreRecognised) {
  for (const Shape &s : {Shape{40, 37, 1, false},
                         {37, 40, 1, true},
                         {9, 90, 1, false},
                         {13, 14, 15, false},
                         {12, 11, 13, true},
                         {30, 25, 1, false, 2},
                         {8, 9, 7, true, 3},
                         {7, 11, 6, false, 4},
                         {3, 5, 9, false},
                         {50, 3, 4, true}}) {
    const TestGraph g = box_graph(s.a, s.b, s.c, s.corners, s.unknowns);
    SCOPED_TRACE(testing::Message() << s.a << " x " << s.b << " x " << s.c << " of " << s.unknowns);
    const OrderOf order = order_of(grid(), g, 2, g.n());
    ASSERT_EQ(order.status, SXT_OK) << Host::sentence;
    EXPECT_GE(order.tree_nodes, 1);
    EXPECT_EQ(order.perm, order_of(grid(), g, 1).perm);
    const std::int64_t fill = fill_of(g, order.perm), other = fill_of(g, order_of(dissection(), g).perm);
    EXPECT_GT(fill, 0);
    EXPECT_LE(static_cast<double>(fill), 1.1 * static_cast<double>(other));
  }
}

TEST(OrderingGridTest, EveryNumberOfThreadsGivesOneOrder) {
  for (const TestGraph &g :
       {box_graph(150, 160, 1, false), box_graph(30, 31, 32, false), box_graph(20, 21, 22, true)}) {
    const OrderOf one = order_of(grid(), g, 1, g.n());
    for (const int threads : {2, 3, 8}) {
      const OrderOf more = order_of(grid(), g, threads, g.n());
      EXPECT_EQ(one.perm, more.perm);
      EXPECT_EQ(one.tree_first, more.tree_first);
      EXPECT_EQ(one.tree_parent, more.tree_parent);
    }
  }
}

// Planes askew, where edges lie along the axes: what straight ones leave is half as much again and more.
TEST(OrderingGridTest, PlanesAskewLeaveLittleFill) {
  const TestGraph cube = box_graph(24, 24, 24, false), square = box_graph(100, 100, 1, false);
  for (const TestGraph *g : {&cube, &square}) {
    const std::int64_t fill = fill_of(*g, order_of(grid(), *g).perm),
                       other = fill_of(*g, order_of(dissection(), *g).perm);
    EXPECT_LT(static_cast<double>(fill), 0.9 * static_cast<double>(other));
  }
}

TEST(OrderingGridTest, MissingEntriesDoNotMatter) {
  TestGraph g = box_graph(12, 12, 12, false);
  for (std::int64_t i = 0; i + 1 < g.n(); i += 5) {
    auto &row = g.rows[static_cast<std::size_t>(i)], &next = g.rows[static_cast<std::size_t>(i) + 1];
    std::erase(row, static_cast<std::int32_t>(i + 1)), std::erase(next, static_cast<std::int32_t>(i));
  }
  g.finish();
  EXPECT_EQ(order_of(grid(), g).status, SXT_OK) << Host::sentence;
}

TEST(OrderingGridTest, OtherPatternsAreDeclinedWithTheReason) {
  const auto declined = [](TestGraph g) {
    Host::sentence.clear();
    const bool is = order_of(grid(), g.finish()).status == SXT_NOT_APPLICABLE;
    EXPECT_NE(Host::sentence.find("not the pattern of a grid"), std::string::npos);
    return is;
  };
  TestGraph wrapped = box_graph(20, 20, 1, false);
  for (std::int64_t y = 0; y < 20; ++y) wrapped.edge(20 * y, 20 * y + 19);
  EXPECT_TRUE(declined(wrapped));
  TestGraph path(500);
  for (std::int64_t i = 1; i < 500; ++i) path.edge(i, i - 1);
  EXPECT_TRUE(declined(path));
  TestGraph one_more = box_graph(20, 20, 1, false);
  one_more.edge(3, 397);
  EXPECT_TRUE(declined(one_more));
  TestGraph full(100);
  for (std::int64_t i = 0; i < 100; ++i)
    for (std::int64_t j = 0; j < i; ++j) full.edge(i, j);
  EXPECT_TRUE(declined(full));
  EXPECT_TRUE(declined(TestGraph(1000)));
  TestGraph shifted(20 * 20 - 1);  // a grid without its first node
  const TestGraph whole = box_graph(20, 20, 1, false);
  for (std::size_t i = 1; i < whole.rows.size(); ++i)
    for (const std::int32_t j : whole.rows[i])
      if (j > 0 && static_cast<std::size_t>(j) < i) shifted.edge(static_cast<std::int64_t>(i) - 1, j - 1);
  EXPECT_TRUE(declined(shifted));
}

}  // namespace
