// SPDX-License-Identifier: BSD-3-Clause
// ordering.metis.cpu beyond the kind's suite: what it leaves alone in the process, and that runs at once do not meet.
#include <csignal>
#include <cstdlib>
#include <thread>

#include "tests/plugins/orders.hpp"

namespace {

using namespace plugin_test;

const sxt_kernel &metis() { return find_kernel(load_own("ordering-metis"), "ordering.metis.cpu"); }

class OrderingMetisTest : public testing::Test {
 protected:
  void SetUp() override {
    const sxt_ordering_query query = order_query(box_graph(3, 3, 1, false));
    const std::string reason = refusal(metis(), &query.m.q);
    if (reason.find("libmetis5") != std::string::npos) GTEST_SKIP() << reason;
    ASSERT_EQ(reason, "");
  }
};

TEST_F(OrderingMetisTest, LeavesSignalsAndRandomNumbersAlone) {
  const int signals[] = {SIGABRT, SIGTERM};
  struct sigaction before[2], after[2];
  for (int k = 0; k < 2; ++k) sigaction(signals[k], nullptr, &before[k]);
  std::srand(17);
  const int first = std::rand(), second = std::rand();
  std::srand(17);
  EXPECT_EQ(std::rand(), first);
  const TestGraph g = box_graph(40, 40, 1, false);
  EXPECT_EQ(order_of(metis(), g).status, SXT_OK);
  EXPECT_EQ(std::rand(), second);
  for (int k = 0; k < 2; ++k) {
    sigaction(signals[k], nullptr, &after[k]);
    EXPECT_EQ(before[k].sa_handler, after[k].sa_handler);
  }
}

TEST_F(OrderingMetisTest, RunsAtOnceGiveTheSame) {
  const TestGraph a = box_graph(60, 50, 1, false), b = box_graph(14, 14, 14, false);
  const OrderOf want_a = order_of(metis(), a), want_b = order_of(metis(), b);
  EXPECT_GT(fill_of(a, want_a.perm), 0);
  OrderOf got[4];
  std::vector<std::thread> threads;
  for (int k = 0; k < 4; ++k) threads.emplace_back([&, k] { got[k] = order_of(metis(), k % 2 ? b : a); });
  for (std::thread &each : threads) each.join();
  for (int k = 0; k < 4; ++k) EXPECT_EQ(got[k].perm, (k % 2 ? want_b : want_a).perm);
}

}  // namespace
