// SPDX-License-Identifier: BSD-3-Clause
// hermitian.panel.cuda over the fake libraries, through its table: what it refuses, which numbers of blocks a system it
// offers, what its model predicts, and that each vendor call may fail without a leak.
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "sextant/plugin/kinds/hermitian.h"
#include "tests/fake_device/fixture.hpp"
#include "tests/plugins/support.hpp"

namespace {

using fake_test::FakeDevice;
using plugin_test::ask_candidates;
using plugin_test::make_gpu;
using testing::HasSubstr;

sxt_hermitian_query query(std::int64_t n, std::int64_t batch, sxt_value_type type = SXT_C128) {
  sxt_hermitian_query q{};
  q.q = {{sizeof q, SXT_KIND_HERMITIAN}, 1, 0, type};
  q.batch = batch, q.n_max = q.n_min = n, q.n_rhs = 1;
  const double order = static_cast<double>(n), systems = static_cast<double>(batch);
  q.sum_n1 = systems * order, q.sum_n2 = q.sum_n1 * order, q.sum_n3 = q.sum_n2 * order;
  q.phase = SXT_HERMITIAN_FACTOR_SOLVE, q.definiteness = SXT_HERMITIAN_DEFINITE;
  q.triangle = SXT_LOWER;
  return q;
}

class HermitianPanelCuda : public FakeDevice {
 protected:
  const sxt_kernel &kernel() {
    return plugin_test::find_kernel(plugin_test::load_own("hermitian-panel-cuda", "cuda"), "hermitian.panel.cuda");
  }
  std::string refusal(const sxt_hermitian_query &q, const sxt_machine &machine = make_gpu()) {
    return plugin_test::refusal(kernel(), &q.q, machine);
  }
  std::vector<sxt_candidate> offered(const sxt_hermitian_query &q) {
    return ask_candidates(kernel(), &q.q, make_gpu());
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
  const auto small = offered(query(600, 1000)), many = offered(query(600, 9000)), large = offered(query(700, 1000));
  ASSERT_EQ(small.size(), 4u);
  for (std::size_t c = 0; c < small.size(); ++c)
    for (std::uint32_t t = 0; t < small[c].n_terms; ++t) {
      EXPECT_TRUE(std::isfinite(small[c].terms[t]) && small[c].terms[t] >= 0) << t;
      EXPECT_LE(small[c].terms[t], many[c].terms[t]) << t;
      EXPECT_LE(small[c].terms[t], large[c].terms[t]) << t;
    }
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

// Prepare and run with each vendor call failing once, for uniform orders and for orders that vary.
TEST_F(HermitianPanelCuda, EveryCallMayFail) {
  for (const bool vary : {false, true}) {
    sxt_hermitian_query q = query(130, 20);
    q.orders_vary = vary;
    const sxt_candidate candidate = offered(q).back();
    std::vector<char> scratch(candidate.scratch_bytes + 1), a(16 * 130 * 130 * 20), b(16 * 130 * 20);
    std::vector<std::int32_t> info(20), orders(20, 100);
    sxt_hermitian_args args{};
    args.h = {sizeof args, SXT_KIND_HERMITIAN};
    args.phase = q.phase, args.definiteness = q.definiteness, args.value_type = SXT_C128, args.triangle = SXT_LOWER;
    args.batch = 20, args.n_max = 130, args.n_rhs = 1;
    if (vary) args.orders = args.orders_device = orders.data();
    args.a = a.data(), args.lda = 130, args.stride_a = 130 * 130, args.b = b.data(), args.ldb = args.stride_b = 130;
    args.info = info.data();
    sxt_exec exec = plugin_test::make_exec();
    exec.scratch = scratch.data(), exec.scratch_bytes = candidate.scratch_bytes;
    const sxt_problem problem{sizeof problem, &q.q, nullptr, nullptr};
    const sxt_kernel &k = kernel();
    const auto attempt = [&]() -> sxt_status {
      void *state = nullptr;
      sxt_status status = k.prepare(&problem, &candidate, nullptr, &exec, &state);
      if (status != SXT_OK) return status;
      status = k.run(state, nullptr, &args.h, &exec);
      return k.release(state), status;
    };
    const std::int64_t launches = fake_count("launches");
    ASSERT_EQ(attempt(), SXT_OK);
    EXPECT_EQ(fake_count("launches"), launches + (vary ? 2 : 1));
    int failed = 0;
    for (std::int64_t n = 1, failures = 1; failures > 0; ++n) {
      ASSERT_LT(n, 100);
      plugin_test::Host::sentence.clear();
      fake_fail(n, FAKE_NO_MEMORY);
      const sxt_status status = attempt();
      failures = fake_failures();
      fake_fail(0, 0);
      if (status != SXT_OK) {
        EXPECT_NE(plugin_test::Host::sentence, "") << "a failure of " << fake_failed_call();
      }
      failed += status != SXT_OK;
      EXPECT_EQ(fake_test::left_behind(), "");
    }
    EXPECT_GE(failed, vary ? 4 : 3);  // loading code, reserving shared memory, launching
  }
}

}  // namespace
