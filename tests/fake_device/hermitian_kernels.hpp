// SPDX-License-Identifier: BSD-3-Clause
// For tests that call CUDA kernels for sets of Hermitian systems over the fake libraries, through their tables:
// queries, and a call in which every vendor call fails once.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "sextant/plugin/kinds/hermitian_toeplitz.h"
#include "tests/fake_device/fixture.hpp"
#include "tests/plugins/support.hpp"

namespace fake_test {

using plugin_test::ask_candidates;
using plugin_test::make_gpu;
using testing::HasSubstr;

inline sxt_hermitian_query hermitian_query(std::int64_t n, std::int64_t batch,
                                           std::int32_t definiteness = SXT_HERMITIAN_DEFINITE,
                                           sxt_value_type type = SXT_C128, const char *kind = SXT_KIND_HERMITIAN) {
  sxt_hermitian_query q{};
  q.q = {{sizeof q, kind}, 1, 0, type};
  q.batch = batch, q.n_max = q.n_min = n, q.n_rhs = 1;
  const double order = static_cast<double>(n), systems = static_cast<double>(batch);
  q.sum_n1 = systems * order, q.sum_n2 = q.sum_n1 * order, q.sum_n3 = q.sum_n2 * order;
  q.phase = SXT_HERMITIAN_FACTOR_SOLVE, q.definiteness = definiteness;
  q.triangle = SXT_LOWER;
  return q;
}

class HermitianKernels : public FakeDevice {
 protected:
  static const sxt_kernel &find(const char *plugin, const std::string &kernel) {
    return plugin_test::find_kernel(plugin_test::load_own(plugin, "cuda"), kernel);
  }
  static std::string refusal(const sxt_kernel &kernel, const sxt_hermitian_query &q,
                             const sxt_machine &machine = make_gpu()) {
    return plugin_test::refusal(kernel, &q.q, machine);
  }
  static std::vector<sxt_candidate> offered(const sxt_kernel &kernel, const sxt_hermitian_query &q) {
    return ask_candidates(kernel, &q.q, make_gpu());
  }

  // Every term is a number that is not negative, and `larger` has no smaller one.
  static void expect_growth(const sxt_kernel &kernel, const sxt_hermitian_query &q, const sxt_hermitian_query &larger) {
    const auto before = offered(kernel, q), after = offered(kernel, larger);
    ASSERT_FALSE(before.empty()) << kernel.name;
    for (std::size_t c = 0; c < before.size() && c < after.size(); ++c)
      for (std::uint32_t t = 0; t < before[c].n_terms; ++t) {
        EXPECT_TRUE(std::isfinite(before[c].terms[t]) && before[c].terms[t] >= 0) << kernel.name << " " << t;
        EXPECT_LE(before[c].terms[t], after[c].terms[t]) << kernel.name << " " << t;
      }
  }

  // Prepare, open, run and all of it undone, each vendor call failing once; `launches`: of one call (negative: of
  // the vendor's library), `at_least`: failures that the kernel reports, `needs_scratch`: it refuses to run without.
  void every_call_may_fail(const sxt_kernel &kernel, const sxt_hermitian_query &q, const sxt_candidate &candidate,
                           std::int64_t launches, int at_least, bool needs_scratch = true) {
    const std::int64_t n = q.n_max, batch = q.batch;
    std::vector<char> scratch(candidate.scratch_bytes + 1), a(16 * n * n * batch), b(16 * n * batch * q.n_rhs);
    std::vector<std::int32_t> info(batch), pivots(n * batch), orders(batch, static_cast<std::int32_t>(n - n / 4));
    sxt_hermitian_args args{};
    args.h = {sizeof args, q.q.h.kind};
    args.phase = q.phase, args.definiteness = q.definiteness, args.value_type = q.q.value_type;
    args.triangle = q.triangle, args.batch = batch, args.n_max = n, args.n_rhs = q.n_rhs;
    if (q.orders_vary) args.orders = args.orders_device = orders.data();
    args.a = a.data(), args.lda = n, args.stride_a = n * n;
    args.b = b.data(), args.ldb = n, args.stride_b = n * q.n_rhs;
    args.info = info.data(), args.pivots = pivots.data(), args.stride_pivots = n;
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
    const std::int64_t launched = fake_count("launches");
    ASSERT_EQ(attempt(), SXT_OK) << kernel.name << ": " << plugin_test::Host::sentence;
    if (launches >= 0) {
      EXPECT_EQ(fake_count("launches"), launched + launches) << kernel.name;
    }
    int failed = 0;
    for (std::int64_t call = 1, failures = 1; failures > 0; ++call) {
      ASSERT_LT(call, 1000);
      plugin_test::Host::sentence.clear();
      fake_fail(call, FAKE_NO_MEMORY);
      const sxt_status status = attempt();
      failures = fake_failures();
      fake_fail(0, 0);
      EXPECT_TRUE(status == SXT_OK || !plugin_test::Host::sentence.empty())
          << kernel.name << ": a failure of " << fake_failed_call() << " without a sentence";
      failed += status != SXT_OK;
      EXPECT_EQ(left_behind(), "") << kernel.name << " after " << fake_failed_call();
    }
    EXPECT_GE(failed, at_least) << kernel.name;
    if (candidate.scratch_bytes == 0 || !needs_scratch) return;
    exec.scratch_bytes = 0;
    EXPECT_EQ(attempt(), SXT_E_STATE) << kernel.name << ": scratch is too small";
  }
};

}  // namespace fake_test
