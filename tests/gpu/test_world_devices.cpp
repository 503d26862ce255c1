// SPDX-License-Identifier: BSD-3-Clause
// Worlds of two GPUs of one process: what is chosen where they reach each other, and iterations that run on the devices
// alone. Skipped visibly where there is one GPU.
#include <cstdint>
#include <string>

#include "tests/gpu/world.hpp"

namespace {

using namespace world_test;
using namespace gpu_world_test;
using testing::HasSubstr;

// Tests that mean nothing on one GPU.
class WorldOfTwoGpus : public testing::Test {
 protected:
  void SetUp() override {
    if (!member_on(0)) GTEST_SKIP() << "no GPU: " << sxt_last_error(nullptr);
    if (!member_on(1)) GTEST_SKIP() << "no further GPU: " << sxt_last_error(nullptr);
  }
};

// Two GPUs that reach each other are not told to go through the host.
TEST_F(WorldOfTwoGpus, StoresAreChosenWhereDevicesReachEachOther) {
  const Csr a = api_test::laplacian(200, 0.02);
  const Rank rank(nullptr, members_on({0, 1}));
  const Solved solved = solve_on(rank, rows_matrix(rank, a, {0, a.rows}), waves(a.rows), api_test::pcg_options());
  EXPECT_EQ(solved.report.reason, SXT_REASON_CONVERGED);
  EXPECT_THAT(solved.explained, testing::AnyOf(HasSubstr("exchange.peer.cuda"), HasSubstr("do not reach each other")));
}

// Iterations on the devices alone end as those that the host drives: converged by the true residual, in about as many.
TEST_F(WorldOfTwoGpus, IterationsOnTheDevices) {
  for (const Csr &a :
       {api_test::laplacian(120, 0.01), api_test::badly_scaled(60), api_test::shuffled(api_test::laplacian(70, 0.02))})
    for (const char *preconditioner : {"none", "jacobi", "block-jacobi:4"}) {
      if (std::string(preconditioner) == "none" && a.values[0] != a.values[a.ptr[1]]) continue;
      const std::vector<double> b = waves(a.rows);
      sxt_pcg_options options = api_test::pcg_options();
      options.preconditioner = preconditioner;
      options.rtol = 1e-9;
      Solved by_host;
      for (const char *engine : {"world.by-host", "world.on-devices", "world.on-devices"}) {
        const Rank rank(nullptr, members_on({0, 1}));
        const Matrix matrix = rows_matrix(rank, a, {0, a.rows});
        options.engine = engine;
        const Solved solved = solve_on(rank, matrix, b, options);
        EXPECT_EQ(solved.report.reason, SXT_REASON_CONVERGED) << engine << ", " << preconditioner;
        EXPECT_LE(api_test::relative_residual(a, b, solved.x), 1.0001e-9) << engine << ", " << preconditioner;
        if (by_host.x.empty()) by_host = solved;
        EXPECT_NEAR(static_cast<double>(solved.report.iterations), static_cast<double>(by_host.report.iterations),
                    2 + 0.05 * static_cast<double>(by_host.report.iterations));
      }
    }
}

// On one member, and on as many as the models take: the same answers, and both predictions are told.
TEST_F(WorldOfTwoGpus, AnyNumberOfMembersSolves) {
  const Csr a = api_test::laplacian(90, 0.02);
  const std::vector<double> b = waves(a.rows);
  for (const char *engine : {"world.members:1", "world.members:2", "auto"}) {
    const Rank rank(nullptr, members_on({0, 1}));
    sxt_pcg_options options = api_test::pcg_options();
    options.engine = engine;
    options.rtol = 1e-9;
    for (int again = 0; again < 2; ++again) {
      const Solved solved = solve_on(rank, rows_matrix(rank, a, {0, a.rows}), b, options);
      EXPECT_EQ(solved.report.reason, SXT_REASON_CONVERGED) << engine;
      EXPECT_LE(api_test::relative_residual(a, b, solved.x), 1.0001e-9) << engine;
      EXPECT_THAT(solved.explained, HasSubstr("members used")) << engine;
    }
  }
}

// A limit is kept to the iteration, and an indefinite matrix is found out.
TEST_F(WorldOfTwoGpus, IterationsOnTheDevicesEndWhereTheyShould) {
  const Csr a = api_test::laplacian(60, 0.001);
  const Rank rank(nullptr, members_on({0, 1}));
  const Matrix matrix = rows_matrix(rank, a, {0, a.rows});
  sxt_pcg_options options = api_test::pcg_options();
  options.engine = "world.on-devices";
  options.preconditioner = "none";
  for (const std::int64_t most : {1, 7, 16, 17, 33}) {
    options.max_iterations = most;
    const Solved solved = solve_on(rank, matrix, waves(a.rows), options);
    EXPECT_EQ(solved.report.reason, SXT_REASON_ITERATION_LIMIT);
    EXPECT_EQ(solved.report.iterations, most);
  }
  Csr indefinite = a;
  for (std::int64_t row = 0; row < a.rows; ++row)
    for (std::int32_t k = a.ptr[row]; k < a.ptr[row + 1]; ++k)
      if (a.col[k] == row) indefinite.values[k] = 0.5;
  const Matrix other = rows_matrix(rank, indefinite, {0, a.rows});
  options.max_iterations = 1000;
  const Solved solved = solve_on(rank, other, waves(a.rows), options);
  EXPECT_EQ(solved.report.reason, SXT_REASON_A_INDEFINITE);
}

}  // namespace
