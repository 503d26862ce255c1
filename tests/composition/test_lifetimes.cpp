// SPDX-License-Identifier: BSD-3-Clause
// Lifetimes: sessions of concurrent callers, new values without allocation, allocations that fail, failures that only
// the running work detects.
#include <gmock/gmock.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <thread>

#include "abi/handles.hpp"
#include "core/operations/operations.hpp"
#include "mocks/smooth.hpp"
#include "sextant/plugin/kinds/spmv.h"
#include "support.hpp"

namespace composition {
namespace {

using ::testing::HasSubstr;

class Lifetimes : public HardCase {};

TEST_F(Lifetimes, FourThreadsShareAPlanWithASessionEach) {
  const std::int64_t prepares = mock::counted("pooled prepares"), releases = mock::counted("pooled releases");
  const std::int64_t opens = mock::counted("pooled opens"), closes = mock::counted("pooled closes");
  constexpr int callers = 4, rounds = 20;
  constexpr std::int64_t n = 500;
  {
    const Context context = open_context("cpu");
    const SmoothQuery query{{{sizeof query, KIND_SMOOTH}, 1e6, 0, SXT_F64}, n, 2};
    const Selection selection = select(context, query.q);
    ASSERT_STREQ(sxt_selection_kernel(selection.get()), "smooth.pooled.cpu");
    // The conformance test before the first use counts, too: the counts below are only of this test.
    const std::int64_t tested = mock::counted("pooled opens") - opens;
    mock::set_knob("smooth.barrier", callers);  // no thread leaves run before all four are in it
    std::vector<std::thread> threads;
    std::vector<int> failures(callers, 0);
    for (int caller = 0; caller < callers; ++caller)
      threads.emplace_back([&, caller] {
        const std::vector<double> x(n, caller + 1.0);
        for (int round = 0; round < rounds; ++round) {
          std::vector<double> y(n);
          SmoothArgs args{{sizeof args, KIND_SMOOTH}, n, 2, x.data(), y.data()};
          failures[caller] += sxt_kernel_run(selection.get(), &args.h) != SXT_OK || y[n / 2] != caller + 1.0;
        }
      });
    for (std::thread &thread : threads) thread.join();
    for (int caller = 0; caller < callers; ++caller) EXPECT_EQ(failures[caller], 0) << sxt_last_error(context.get());
    EXPECT_EQ(mock::counted("pooled opens") - opens - tested, callers);
    EXPECT_EQ(mock::counted("pooled closes") - closes, tested);  // ours are kept for the next calls
  }
  EXPECT_EQ(mock::counted("pooled closes") - closes, mock::counted("pooled opens") - opens);
  EXPECT_EQ(mock::counted("pooled releases") - releases, mock::counted("pooled prepares") - prepares);
}

TEST_F(Lifetimes, EnginesOfSeveralThreadsDoNotMixTheirGraphs) {
  const Context context = open_context("deferred");
  const Csr a = five_point(20, 20);
  const Matrix matrix = make_matrix(context, a);
  const Selection engine = select(context, pcg_query().m.q, matrix);
  ASSERT_STREQ(sxt_selection_kernel(engine.get()), "pcg.graph.deferred");
  const std::int64_t captures = mock::counted("captures");
  std::vector<double> residuals(4, 1);
  std::vector<std::thread> threads;
  for (std::size_t caller = 0; caller < residuals.size(); ++caller)
    threads.emplace_back([&, caller] {
      std::vector<double> b(a.n);
      for (std::int64_t i = 0; i < a.n; ++i)
        b[i] = std::cos(static_cast<double>(i) * (1.0 + static_cast<double>(caller)));
      for (int round = 0; round < 3; ++round) residuals[caller] = relative_residual(a, solve(engine, a, b).x, b);
    });
  for (std::thread &thread : threads) thread.join();
  for (const double residual : residuals) EXPECT_LT(residual, 1e-9);
  EXPECT_LE(mock::counted("captures") - captures, 4);  // one a session, not one a solve
}

TEST_F(Lifetimes, NewValuesReachStorageAndEngineWithoutAllocation) {
  const Context context = open_context("deferred");
  for (const char *kernel : {"pcg.persistent.deferred", "pcg.graph.deferred"}) {
    Csr a = five_point(10, 10);
    const Matrix matrix = make_matrix(context, a);
    ASSERT_EQ(sxt_context_force(context.get(), SXT_KIND_PCG, kernel), SXT_OK);
    const Selection engine = select(context, pcg_query().m.q, matrix);
    EXPECT_EQ(mock::counted("waiting work"), 0) << "host memory may still be read by prepared work";
    const std::vector<double> b(a.n, 1.0);
    EXPECT_LT(relative_residual(a, solve(engine, a, b).x, b), 1e-9);

    const std::int64_t dia = mock::counted("dia refreshes"), own = mock::counted("persistent refreshes");
    const std::int64_t captures = mock::counted("captures");
    a = five_point(10, 10, 2.5);
    const DeviceArray<double> device_b(b), device_x(b.size());  // allocated before the counting begins
    const std::int64_t allocations = mock::counted("allocations");
    ASSERT_EQ(sxt_matrix_update_values(matrix.get(), a.values.data(), static_cast<std::int64_t>(a.values.size())),
              SXT_OK)
        << sxt_last_error(context.get());
    sxt_spmv_args unused{};
    EXPECT_EQ(sxt_kernel_run(engine.get(), &unused.h), SXT_E_ARGUMENT);  // refused before anything is done
    EXPECT_EQ(mock::counted("allocations"), allocations);
    EXPECT_EQ(mock::counted("dia refreshes") - dia, 1);
    EXPECT_EQ(mock::counted("waiting work"), 0) << "the values may change again, but are still to be read";

    const Solve again = solve(engine, a, b);
    EXPECT_LT(relative_residual(a, again.x, b), 1e-9) << kernel;
    EXPECT_EQ(mock::counted("allocations") - allocations, 2);  // the right-hand side and the solution of solve()
    EXPECT_EQ(mock::counted("captures"), captures);            // the graph reads the new values where the old ones were
    const bool holds_values = std::string(kernel) == "pcg.persistent.deferred";
    EXPECT_EQ(mock::counted("persistent refreshes") - own, holds_values);
  }
}

// Every allocation fails once: the call reports it, nothing leaks, and the next attempt succeeds.
TEST_F(Lifetimes, EveryAllocationMayFail) {
  for (const char *kernel : {"pcg.persistent.deferred", "pcg.graph.deferred"}) {
    int failures = 0;
    for (std::int64_t nth = 1;; ++nth) {
      ASSERT_LT(nth, 50) << "allocations never stop failing";
      const Context context = open_context("deferred");
      mock::set_knob("fused.refuse", 1);  // the pair: one of the two needs scratch
      ASSERT_EQ(sxt_context_force(context.get(), SXT_KIND_PCG, kernel), SXT_OK);
      const Csr a = five_point(5, 5);
      const Matrix matrix = make_matrix(context, a);
      const std::vector<double> b(a.n, 1.0);
      const DeviceArray<double> device_b(b), device_x(b.size());
      mock::fail_allocation(nth);
      sxt_selection *made = nullptr;
      const sxt_pcg_query query = pcg_query();
      sxt_status status = sxt_kernel_select(context.get(), &query.m.q, matrix.get(), &made);
      const Selection engine(made);
      if (status == SXT_OK) {
        sxt_pcg_args args{};
        args.h = {sizeof args, SXT_KIND_PCG};
        args.n = a.n, args.b = device_b.data(), args.x = device_x.data(), args.x_is_zero = 1;
        args.tolerance = 1e-8, args.max_iterations = 100;
        args.observe = [](void *, std::int64_t, std::int64_t, const double *) -> sxt_reason { return SXT_REASON_NONE; };
        args.confirm = [](void *, const void *, std::int64_t, double, double *, sxt_reason *reason) -> std::int32_t {
          return *reason = SXT_REASON_CONVERGED, SXT_CONFIRM_STOP;
        };
        status = sxt_kernel_run(engine.get(), &args.h);
      }
      mock::fail_allocation(0);
      if (status == SXT_OK) break;
      ++failures;
      EXPECT_EQ(status, SXT_E_MEMORY) << sxt_last_error(context.get());
      EXPECT_NE(std::string(sxt_last_error(context.get())), "");
      // The context and the matrix are still usable.
      const Selection retry = select(context, pcg_query().m.q, matrix);
      EXPECT_LT(relative_residual(a, solve(retry, a, b).x, b), 1e-7) << "after failure " << nth;
    }
    EXPECT_GE(failures, 5) << kernel;  // storage, state, vectors, progress, status word
  }
}

TEST_F(Lifetimes, AFailureThatOnlyTheRunningWorkDetectsIsReported) {
  const Context context = open_context("deferred");
  const Csr a = five_point(4, 4);
  const Matrix matrix = make_matrix(context, a);
  sxt_spmv_query query{};
  query.m.q = {{sizeof query, SXT_KIND_SPMV}, 1, SXT_QUERY_MATRIX, SXT_F64};
  query.n_rhs = 1;
  const Selection product = select(context, query.m.q, matrix);
  const DeviceArray<double> x(std::vector<double>(16, 1.0)), y(16);
  sxt_spmv_args args{};
  args.h = {sizeof args, SXT_KIND_SPMV};
  args.n_rhs = 1;
  args.x = x.data();
  args.y = y.data();
  EXPECT_EQ(sxt_kernel_run(product.get(), &args.h), SXT_OK) << sxt_last_error(context.get());
  EXPECT_EQ(y.host(), a * std::vector<double>(16, 1.0));  // the call has waited for the device
  x[0] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(sxt_kernel_run(product.get(), &args.h), SXT_E_NOT_FINITE);
  EXPECT_THAT(sxt_last_error(context.get()), HasSubstr("spmv.dia.deferred"));
  x[0] = 1;
  EXPECT_EQ(sxt_kernel_run(product.get(), &args.h), SXT_OK) << "the failure sticks to the session";
}

TEST_F(Lifetimes, APositiveStatusIsAnAnswerNotAnError) {
  const Context context = open_context("cpu");
  const SmoothQuery query{{{sizeof query, KIND_SMOOTH}, 1e6, 0, SXT_F64}, 2, 1};
  const Selection selection = select(context, query.q);
  ASSERT_STREQ(sxt_selection_kernel(selection.get()), "smooth.pooled.cpu");
  const double x[] = {1, 1};
  double y[2];
  SmoothArgs args{{sizeof args, KIND_SMOOTH}, 2, 1, x, y};
  mock::set_knob("smooth.answer", SXT_NOT_CONVERGED);
  EXPECT_EQ(sxt_kernel_run(selection.get(), &args.h), SXT_NOT_CONVERGED);
  EXPECT_STREQ(sxt_last_error(context.get()), "");
  mock::set_knob("smooth.answer", SXT_E_STATE);
  EXPECT_EQ(sxt_kernel_run(selection.get(), &args.h), SXT_E_STATE);
  EXPECT_THAT(sxt_last_error(context.get()), HasSubstr("smooth.pooled.cpu"));
}

// The kind's results lie on the device; core's callers need them on the host.
TEST_F(Lifetimes, CoresOwnInnerProductsComeBackFromTheDevice) {
  const Context context = open_context("deferred");
  const DeviceArray<double> u(std::vector<double>{1, 2, 3}), v(std::vector<double>{4, 5, 6});
  const void *const left[] = {u.data(), u.data()}, *const right[] = {v.data(), u.data()};
  double results[] = {0, 0};
  sextant::Operations::of(*context->context).multidot(SXT_F64, 3, 2, left, right, results);
  EXPECT_THAT(results, ::testing::ElementsAre(32, 14));
}

}  // namespace
}  // namespace composition
