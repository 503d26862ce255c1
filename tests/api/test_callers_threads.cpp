// SPDX-License-Identifier: BSD-3-Clause
// What callers' threads and callbacks may do around a call: be cancelled, and call the library from a log callback; and
// arguments at the ends of their ranges.
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "tests/api/support.hpp"

namespace api_test {
namespace {

struct Work {
  sxt_pcg *pcg;
  std::vector<double> b, x;
  std::atomic<int> begun{0};
  sxt_status status = SXT_E_STATE;
};

// The callback sleeps, where a thread may be cancelled: the solve ends all the same, and the thread after it.
TEST(CallersThreadsTest, ACancelledThreadEndsBetweenCalls) {
  const Context context = cpu(2);
  const Csr a = laplacian(20);
  const Matrix matrix = a.matrix(context);
  const Pcg pcg = make<Pcg>([&](sxt_pcg **out) { return sxt_pcg_create(matrix.get(), nullptr, out); });
  ASSERT_NE(pcg, nullptr);
  const auto n = static_cast<std::size_t>(a.rows);
  Work work{pcg.get(), std::vector<double>(n, 1), std::vector<double>(n)};
  pthread_t thread;
  const auto solve = [](void *of) -> void * {
    auto &all = *static_cast<Work *>(of);
    sxt_solve_options options = solve_options();
    options.progress_user = of;
    options.progress = [](void *user, std::int64_t, double) -> std::int32_t {
      ++static_cast<Work *>(user)->begun;
      usleep(1000);
      return 0;
    };
    for (;;) {
      all.status = sxt_pcg_solve_array(all.pcg, static_cast<std::int64_t>(all.b.size()), all.b.data(), all.x.data(),
                                       &options, nullptr);
      pthread_testcancel();
    }
  };
  ASSERT_EQ(pthread_create(&thread, nullptr, solve, &work), 0);
  while (work.begun < 3) usleep(100);
  ASSERT_EQ(pthread_cancel(thread), 0);
  ASSERT_EQ(pthread_join(thread, nullptr), 0);
  EXPECT_EQ(work.status, SXT_OK);
  EXPECT_EQ(sxt_pcg_solve_array(pcg.get(), a.rows, work.b.data(), work.x.data(), nullptr, nullptr), SXT_OK);
  int state = -1;
  pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
  EXPECT_EQ(state, PTHREAD_CANCEL_ENABLE) << "a call left it disabled";
}

// Loading writes to the log; a callback may make a context, which loads.
TEST(CallersThreadsTest, ALogCallbackMayMakeAContext) {
  const std::string path = testing::TempDir() + "sextant-no-plugin.so";
  std::FILE *file = std::fopen(path.c_str(), "w");
  ASSERT_NE(file, nullptr);
  std::fputs("not a plugin", file);
  std::fclose(file);
  struct Told {
    int lines = 0, made = 0;
    bool inside = false;
  } told;
  sxt_context_options options = context_options();
  const char *const paths[] = {path.c_str()};
  options.plugin_paths = paths;
  options.n_plugin_paths = 1;
  options.log_level = SXT_LOG_DEBUG;
  options.log_user = &told;
  options.log = [](void *user, sxt_log_level, const char *) {
    auto &all = *static_cast<Told *>(user);
    ++all.lines;
    if (all.inside) return;
    all.inside = true;
    sxt_context *other = nullptr;
    all.made += sxt_context_create(nullptr, &other) == SXT_OK;
    sxt_context_destroy(other);
    all.inside = false;
  };
  alarm(60);  // instead of waiting for itself for ever
  sxt_context *made = nullptr;
  EXPECT_EQ(sxt_context_create(&options, &made), SXT_E_PLUGIN);
  const Context context(made);
  alarm(0);
  std::remove(path.c_str());
  EXPECT_GT(told.lines, 0);
  EXPECT_GT(told.made, 0);
}

TEST(CallersArgumentsTest, ExpectationsOfAnySizeLeaveAChoice) {
  const Context context = cpu(1);
  const Matrix matrix = laplacian(5).matrix(context);
  for (const double expected : {1e100, 1e306, 1e308, 1.7e308}) {
    sxt_pcg_options options = pcg_options();
    options.expected_solves = options.expected_iterations = expected;
    make<Pcg>([&](sxt_pcg **out) { return sxt_pcg_create(matrix.get(), &options, out); });
    sxt_spmv_query query = product_query(expected);
    make<Selection>(
        [&](sxt_selection **out) { return sxt_kernel_select(context.get(), &query.m.q, matrix.get(), out); });
  }
}

TEST(CallersArgumentsTest, WhatIsReservedIsNamed) {
  const Context context = cpu(1);
  const Matrix matrix = laplacian(5).matrix(context);
  const Pcg pcg = make<Pcg>([&](sxt_pcg **out) { return sxt_pcg_create(matrix.get(), nullptr, out); });
  std::vector<double> b(25, 1), x(25);
  sxt_solve_options options = solve_options();
  options.reserved0 = 3;
  EXPECT_EQ(sxt_pcg_solve_array(pcg.get(), 25, b.data(), x.data(), &options, nullptr), SXT_E_ARGUMENT);
  EXPECT_NE(last_error(context).find("reserved0 is 3"), std::string::npos) << last_error(context);
}

TEST(CallersArgumentsTest, AnArrayDoesNotRunOverTheEndOfTheAddressSpace) {
  const Context context = cpu(1);
  sxt_vector *vector = nullptr;
  auto *const last = reinterpret_cast<double *>(UINTPTR_MAX - 15);
  EXPECT_EQ(sxt_vector_wrap(context.get(), 100, SXT_F64, SXT_SPACE_HOST, last, &vector), SXT_E_OVERFLOW);
}

}  // namespace
}  // namespace api_test
