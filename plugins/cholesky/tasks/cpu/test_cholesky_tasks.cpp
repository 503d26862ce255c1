// SPDX-License-Identifier: BSD-3-Clause
// cholesky.tasks.cpu on matrices that are cut into many units and tiles: equal bits on any number of threads, large
// fronts, bytes. What every scheduler does is in plugins/cholesky/test_cholesky_schedulers.cpp.
#include "plugins/cholesky/test_problem.hpp"

namespace plugin_test {
namespace {

const sxt_kernel &kernel() { return find_kernel(load_own("cholesky-tasks"), "cholesky.tasks.cpu"); }

TEST(CholeskyTasks, BitsAreTheSameOnAnyNumberOfThreads) {
  for (const std::int32_t factors : {SXT_FACTORS_LLH, SXT_FACTORS_LDLH}) {
    Problem problem = make_cube(kernel(), 21, factors);
    ASSERT_GT(problem.view().max_width, 300);  // tiles at the top
    Result one = problem.factor(1);
    ASSERT_EQ(one.status, SXT_OK) << Host::sentence;
    ASSERT_EQ(one.failed, -1);
    for (const int threads : {2, 5}) {
      const Result many = problem.factor(threads);
      EXPECT_EQ(many.status, SXT_OK);
      EXPECT_TRUE(problem.same(one.l, many.l)) << threads << " threads";
    }
    for (const std::int64_t columns : {1, 2, 5, 37}) {
      problem.solve(one, columns, 1);
      EXPECT_LE(problem.backward_error(one.x, columns), 1) << columns << " right-hand sides";
      for (const int threads : {2, 5}) {
        Result many = one;
        problem.solve(many, columns, threads);
        EXPECT_EQ(std::memcmp(one.x.data(), many.x.data(), one.x.size() * sizeof(double)), 0) << columns;
      }
    }
  }
}

TEST(CholeskyTasks, LargeFrontsThroughBlasAgreeWithTheReferences) {
  if (const std::string why = why_no_openblas(); !why.empty()) GTEST_SKIP() << why;
  Problem problem = make_cube(kernel(), 18);
  Result r = problem.factor(2, "dense.openblas.cpu"), again = problem.factor(3, "dense.openblas.cpu");
  EXPECT_TRUE(problem.same(r.l, again.l));
  problem.solve(r, 1, 2);
  EXPECT_LE(problem.backward_error(r.x, 1), 1);
}

TEST(CholeskyTasks, BytesAreThoseThatAreTaken) {
  const Problem problem = make_cube(kernel(), 16);
  const auto &ops = *static_cast<const sxt_cholesky_ops *>(kernel().ops);
  for (const std::int32_t phase : {SXT_CHOLESKY_FACTOR, SXT_CHOLESKY_SOLVE, SXT_CHOLESKY_INVERSE}) {
    sxt_cholesky_query query = problem.query;
    query.phase = phase;
    sxt_candidate candidate{};
    candidate.launch[0] = 2;
    std::uint64_t host = 0, device = 7, guess = 0;
    ops.bytes(&query.m.q, &problem.view(), nullptr, &candidate, &host, &device);
    ops.bytes(&query.m.q, nullptr, nullptr, &candidate, &guess, &device);
    EXPECT_EQ(device, 0u);
    EXPECT_GT(host, 100000u);
    EXPECT_GT(guess, host / 4);
    EXPECT_LT(guess, host * 4);
  }
}

}  // namespace
}  // namespace plugin_test
