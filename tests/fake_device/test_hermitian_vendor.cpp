// SPDX-License-Identifier: BSD-3-Clause
// cuBLAS' LU and the Toeplitz recursion over the fake libraries, through their tables: what they refuse, and that each
// vendor call may fail without a leak.
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "sextant/plugin/kinds/hermitian_toeplitz.h"
#include "tests/fake_device/fixture.hpp"
#include "tests/plugins/support.hpp"

namespace {

using fake_test::FakeDevice;
using fake_test::left_behind;
using plugin_test::ask_candidates;
using plugin_test::make_gpu;
using testing::HasSubstr;

constexpr std::int64_t kOrder = 40, kBatch = 12, kRhs = 2;

sxt_hermitian_query query(const char *kind, std::int64_t n) {
  sxt_hermitian_query q{};
  q.q = {{sizeof q, kind}, 1, 0, SXT_C128};
  q.batch = kBatch, q.n_max = q.n_min = n, q.n_rhs = kRhs;
  const double order = static_cast<double>(n);
  q.sum_n1 = kBatch * order, q.sum_n2 = q.sum_n1 * order, q.sum_n3 = q.sum_n2 * order;
  q.phase = SXT_HERMITIAN_FACTOR_SOLVE, q.definiteness = SXT_HERMITIAN_INDEFINITE;
  q.triangle = SXT_LOWER;
  q.may_spoil = q.solution_only = 1;
  return q;
}

class HermitianVendor : public FakeDevice {
 protected:
  const sxt_kernel &cublas() {
    return plugin_test::find_kernel(plugin_test::load_own("hermitian-cuda-cusolver", "cuda"), "hermitian.cublas.cuda");
  }
  const sxt_kernel &streams() {
    return plugin_test::find_kernel(plugin_test::load_own("hermitian-cuda-cusolver", "cuda"),
                                    "hermitian.cusolver_streams.cuda");
  }
  const sxt_kernel &toeplitz() {
    return plugin_test::find_kernel(plugin_test::load_own("hermitian-toeplitz-cuda", "cuda"),
                                    "hermitian_toeplitz.recursion.cuda");
  }
  static std::string refusal(const sxt_kernel &kernel, const sxt_hermitian_query &q) {
    return plugin_test::refusal(kernel, &q.q, make_gpu());
  }

  // Prepare, open, run and all of it undone, each vendor call failing once.
  void every_call_may_fail(const sxt_kernel &kernel, const sxt_hermitian_query &q, int at_least) {
    const sxt_machine machine = make_gpu();
    const sxt_candidate candidate = ask_candidates(kernel, &q.q, machine).front();
    std::vector<char> scratch(candidate.scratch_bytes + 1), a(16 * kOrder * kOrder * kBatch),
        b(16 * kOrder * kBatch * kRhs);
    std::vector<std::int32_t> info(kBatch), pivots(kOrder * kBatch);
    sxt_hermitian_args args{};
    args.h = {sizeof args, q.q.h.kind};
    args.phase = q.phase, args.definiteness = q.definiteness, args.value_type = SXT_C128, args.triangle = SXT_LOWER;
    args.batch = kBatch, args.n_max = kOrder, args.n_rhs = kRhs;
    args.a = a.data(), args.lda = kOrder, args.stride_a = kOrder * kOrder;
    args.b = b.data(), args.ldb = kOrder, args.stride_b = kOrder * kRhs;
    args.info = info.data(), args.pivots = pivots.data(), args.stride_pivots = kOrder;
    sxt_exec exec = plugin_test::make_exec();
    exec.scratch = scratch.data(), exec.scratch_bytes = candidate.scratch_bytes;
    const sxt_problem problem{sizeof problem, &q.q, nullptr, nullptr};
    const auto attempt = [&]() -> sxt_status {
      void *state = nullptr, *session = nullptr;
      sxt_status status = kernel.prepare(&problem, &candidate, nullptr, &exec, &state);
      if (status == SXT_OK && kernel.open) status = kernel.open(state, nullptr, &exec, &session);
      if (status == SXT_OK) status = kernel.run(state, session, &args.h, &exec);
      if (session) kernel.close(session);
      if (state) kernel.release(state);
      return status;
    };
    ASSERT_EQ(attempt(), SXT_OK) << plugin_test::Host::sentence;
    int failed = 0;
    for (std::int64_t n = 1, failures = 1; failures > 0; ++n) {
      ASSERT_LT(n, 1000);
      plugin_test::Host::sentence.clear();
      fake_fail(n, FAKE_NO_MEMORY);
      const sxt_status status = attempt();
      failures = fake_failures();
      fake_fail(0, 0);
      if (status != SXT_OK) {
        EXPECT_NE(plugin_test::Host::sentence, "") << "a failure of " << fake_failed_call() << " without a sentence";
      }
      failed += status != SXT_OK;
      EXPECT_EQ(left_behind(), "") << "after " << fake_failed_call();
    }
    EXPECT_GE(failed, at_least);
    exec.scratch_bytes = 0;
    EXPECT_EQ(attempt(), SXT_E_STATE) << "scratch is too small";
  }
};

TEST_F(HermitianVendor, RefuseWhatTheyCannotDo) {
  sxt_hermitian_query q = query(SXT_KIND_HERMITIAN, kOrder);
  EXPECT_EQ(refusal(cublas(), q), "");
  q.definiteness = SXT_HERMITIAN_DEFINITE;
  EXPECT_THAT(refusal(cublas(), q), HasSubstr("does not give a leading minor"));
  q = query(SXT_KIND_HERMITIAN, kOrder);
  q.solution_only = 0;
  EXPECT_THAT(refusal(cublas(), q), HasSubstr("not the Hermitian factor requested"));
  q = query(SXT_KIND_HERMITIAN, kOrder);
  q.may_spoil = 0;
  EXPECT_THAT(refusal(cublas(), q), HasSubstr("the other triangle"));
  EXPECT_EQ(refusal(toeplitz(), query(SXT_KIND_HERMITIAN_TOEPLITZ, 1700)), "");
  EXPECT_THAT(refusal(toeplitz(), query(SXT_KIND_HERMITIAN_TOEPLITZ, 3000)), HasSubstr("bytes of shared memory"));
}

TEST_F(HermitianVendor, EveryCallOfCuBlasMayFail) {
  every_call_may_fail(cublas(), query(SXT_KIND_HERMITIAN, kOrder), 6);
}

// Two calls a system, two events and a wait a stream, and what a session is made of.
TEST_F(HermitianVendor, EveryCallOnStreamsMayFail) {
  sxt_hermitian_query q = query(SXT_KIND_HERMITIAN, kOrder);
  q.definiteness = SXT_HERMITIAN_DEFINITE;
  EXPECT_THAT(refusal(streams(), q), HasSubstr("only factors"));
  q.phase = SXT_HERMITIAN_FACTOR;
  every_call_may_fail(streams(), q, 100);
  q.pointer_array = 1;
  EXPECT_THAT(refusal(streams(), q), HasSubstr("addresses of the systems"));
  q.pointer_array = 0, q.solution_only = 0;
  EXPECT_THAT(refusal(streams(), q), HasSubstr("only in measurements"));
}

TEST_F(HermitianVendor, EveryCallOfTheToeplitzKernelMayFail) {
  every_call_may_fail(toeplitz(), query(SXT_KIND_HERMITIAN_TOEPLITZ, kOrder), 3);
}

// Detection and recursion are O(n^2): four times as much at twice the order, at most.
TEST_F(HermitianVendor, TheToeplitzModelGrowsWithTheSquareOfTheOrder) {
  const sxt_machine machine = make_gpu();
  const sxt_hermitian_query small = query(SXT_KIND_HERMITIAN_TOEPLITZ, 300),
                            large = query(SXT_KIND_HERMITIAN_TOEPLITZ, 600);
  const auto of_small = ask_candidates(toeplitz(), &small.q, machine),
             of_large = ask_candidates(toeplitz(), &large.q, machine);
  ASSERT_EQ(of_small.size(), of_large.size());
  for (std::size_t c = 0; c < of_small.size(); ++c)
    for (std::uint32_t t = 0; t < of_small[c].n_terms; ++t) {
      EXPECT_GE(of_large[c].terms[t], of_small[c].terms[t]) << t;
      EXPECT_LE(of_large[c].terms[t], 4.1 * of_small[c].terms[t]) << t;
    }
}

}  // namespace
