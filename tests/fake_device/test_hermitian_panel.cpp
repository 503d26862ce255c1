// SPDX-License-Identifier: BSD-3-Clause
// hermitian.panel.cuda over the fake libraries, through its table: what it refuses, which numbers of blocks a system it
// offers, what its model predicts, and that each vendor call may fail without a leak.
#include <cstdint>
#include <vector>

#include "tests/fake_device/hermitian_kernels.hpp"

namespace {

using namespace fake_test;

constexpr auto query = [](std::int64_t n, std::int64_t batch, sxt_value_type type = SXT_C128) {
  return hermitian_query(n, batch, SXT_HERMITIAN_DEFINITE, type);
};

class HermitianPanelCuda : public HermitianKernels {
 protected:
  static const sxt_kernel &kernel() { return find("hermitian-panel-cuda", "hermitian.panel.cuda"); }
  static std::string refusal(const sxt_hermitian_query &q, const sxt_machine &machine = make_gpu()) {
    return HermitianKernels::refusal(kernel(), q, machine);
  }
  static std::vector<sxt_candidate> offered(const sxt_hermitian_query &q) {
    return HermitianKernels::offered(kernel(), q);
  }
};

TEST_F(HermitianPanelCuda, RefusesWhatItCannotDo) {
  EXPECT_EQ(refusal(query(1, 1)), "");
  EXPECT_EQ(refusal(query(1700, 1000)), "");
  EXPECT_EQ(refusal(query(20000, 1, SXT_F32)), "");
  sxt_hermitian_query indefinite = query(64, 10);
  indefinite.definiteness = SXT_HERMITIAN_INDEFINITE;
  EXPECT_THAT(refusal(indefinite), HasSubstr("only positive definite"));
  EXPECT_THAT(refusal(query(64, std::int64_t{1} << 32)), HasSubstr("more than a launch has blocks"));
  EXPECT_THAT(refusal(query(std::int64_t{1} << 25, 1)), HasSubstr("order 33554432 is above"));
  sxt_machine small = make_gpu();
  small.shared_per_block = 65536;
  EXPECT_THAT(refusal(query(64, 10), small), HasSubstr("a block has 65536 bytes of shared memory"));
  EXPECT_EQ(refusal(query(64, 10, SXT_F32), small), "");
  EXPECT_EQ(kernel().min_level, 90);
}

// Every block needs at least one tile.
TEST_F(HermitianPanelCuda, OffersAsManyBlocksASystemAsItHasTiles) {
  EXPECT_EQ(offered(query(64, 1000)).size(), 1u);
  EXPECT_EQ(offered(query(130, 1000)).size(), 2u);
  EXPECT_EQ(offered(query(256, 1000)).size(), 3u);
  const std::vector<sxt_candidate> all = offered(query(1700, 1000));
  ASSERT_EQ(all.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(all[i].launch[2], 1 << i);
    EXPECT_EQ(all[i].launch[0], 1000 << i);
    EXPECT_EQ(all[i].scratch_bytes, 0u);
  }
  sxt_hermitian_query vary = query(1700, 1000);
  vary.orders_vary = 1;
  for (const sxt_candidate &c : offered(vary)) EXPECT_EQ(c.scratch_bytes, 4000u);
}

// Terms are finite, and more systems or a larger order never cost less. Of few large systems, more blocks each leave a
// shorter way through the diagonal tiles than of many: the size of the batch decides.
TEST_F(HermitianPanelCuda, ModelGrowsWithTheWork) {
  const auto small = offered(query(600, 1000));
  ASSERT_EQ(small.size(), 4u);
  expect_growth(kernel(), query(600, 1000), query(600, 9000));
  expect_growth(kernel(), query(600, 1000), query(700, 1000));
  // f64 products are counted as such, those of f32 as three of tf32.
  EXPECT_GT(small[0].terms[2], 0);
  EXPECT_EQ(small[0].terms[3], 0);
  const auto single = offered(query(600, 1000, SXT_C64));
  EXPECT_EQ(single[0].terms[2], 0);
  EXPECT_GT(single[0].terms[3], 0);
}

// Of 264 places on 132 multiprocessors: no more systems than multiprocessors cost the same, one more costs more, and
// one more than there are places the most. Clusters of four fill fewer places: 66 of them take two rounds, pairs take
// one.
TEST_F(HermitianPanelCuda, SetsThatFillADeviceInPartAreCountedByTheirRounds) {
  constexpr int products = 2;
  const auto cost = [&](std::int64_t batch, std::size_t doublings) {
    return offered(query(1024, batch)).at(doublings).terms[products];
  };
  EXPECT_EQ(cost(10, 0), cost(132, 0));
  EXPECT_LT(cost(132, 0), cost(133, 0));
  EXPECT_EQ(cost(133, 0), cost(264, 0));
  EXPECT_LT(1.4 * cost(264, 0), cost(265, 0));
  EXPECT_EQ(cost(67, 1), cost(132, 1));
  EXPECT_LT(1.4 * cost(60, 2), cost(66, 2));
  // Two blocks halve the work of a system. Four blocks do not make it a quarter where one of them factors the diagonal.
  EXPECT_GT(cost(10, 2), cost(10, 0) / 4);
  EXPECT_LT(cost(10, 2), cost(10, 1));
}

// Where columns of panels are copied in bulk, four more warps do the copies, and a block that is alone on a
// multiprocessor uses its tensor cores better.
TEST_F(HermitianPanelCuda, BlocksThatCopyColumnsHaveTwiceTheThreads) {
  const auto threads = [&](const sxt_hermitian_query &q) { return offered(q)[0].launch[1]; };
  EXPECT_EQ(threads(query(350, 1000)), 256);
  EXPECT_EQ(threads(query(350, 1000, SXT_C64)), 256);
  EXPECT_EQ(threads(query(351, 1000)), 256);
  EXPECT_EQ(threads(query(351, 1000, SXT_C64)), 128);  // columns do not all begin at 16 bytes
  EXPECT_EQ(threads(query(350, 1000, SXT_F64)), 128);
  sxt_hermitian_query upper = query(350, 1000), rows = upper, solve = upper;
  upper.triangle = SXT_UPPER;
  rows.n_rhs = 2;
  solve.phase = SXT_HERMITIAN_SOLVE;
  for (const sxt_hermitian_query &q : {upper, rows, solve}) EXPECT_EQ(threads(q), 128);
  // Products of blocks that are alone, of those of two on each multiprocessor.
  const auto alone = [&](sxt_triangle triangle) {
    sxt_hermitian_query few = query(1024, 132), full = query(1024, 264);
    few.triangle = full.triangle = triangle;
    return offered(few)[0].terms[2] / offered(full)[0].terms[2];
  };
  EXPECT_GE(alone(SXT_LOWER), 0.5);
  EXPECT_LT(alone(SXT_LOWER), 0.7);
  EXPECT_GT(alone(SXT_UPPER), 0.75);
}

// Loading code, reserving shared memory and launching, for uniform orders and for orders that vary.
TEST_F(HermitianPanelCuda, EveryCallMayFail) {
  for (const bool vary : {false, true}) {
    sxt_hermitian_query q = query(130, 20);
    q.orders_vary = vary;
    every_call_may_fail(kernel(), q, offered(q).back(), vary ? 2 : 1, vary ? 4 : 3, false);  // it goes on in any order
  }
}

}  // namespace
