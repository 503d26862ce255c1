// SPDX-License-Identifier: BSD-3-Clause
// Worlds from C++: two members of one process, threads as ranks, and what is refused on every rank.
#include <thread>

#include "problem.hpp"

namespace {

using problem::Differences;
using problem::error_of;
using sextant::Matrix;
using sextant::Vector;
using sextant::World;
using testing::ElementsAre;

std::vector<sextant::Context> members(int count) {
  std::vector<sextant::Context> out;
  for (int i = 0; i < count; ++i) out.push_back(problem::cpu());
  return out;
}

TEST(CppWorld, SolvesWithTwoMembersOfOneProcess) {
  const std::vector<sextant::Context> contexts = members(2);
  const World world(contexts);
  EXPECT_EQ(world.info().members, 2);
  EXPECT_THAT(world.plan_rows(10), ElementsAre(0, 5, 10));
  const Differences<double> a(40);
  const Matrix by_rows = world.csr_rows(40, 0, a.row_ptr, a.col, a.values),
               by_entries = world.coo_rows(40, 0, 40, a.row, a.col, a.values),
               parts = world.split(a.matrix(contexts[0]));
  for (const Matrix *matrix : {&by_rows, &by_entries, &parts}) {
    EXPECT_EQ(matrix->rows(), 40);
    EXPECT_EQ(matrix->nnz(), 118);
    const std::vector<std::int64_t> lengths = world.lengths_of(*matrix);
    ASSERT_EQ(lengths.size(), 2u);
    EXPECT_EQ(lengths[0] + lengths[1], 40);
    EXPECT_EQ(world.rows_of(*matrix)[1], lengths[0]);
    EXPECT_EQ(world.order_of(*matrix).back(), 39);
    Vector b = world.zeros<double>(lengths), x = world.zeros<double>(lengths);
    b.write(std::vector<double>(40, 1));
    const sextant::Pcg pcg(*matrix);
    EXPECT_EQ(pcg.solve(b, x).reason, SXT_REASON_CONVERGED);
    // -x'' = 1 with x = 0 at both ends: x_i = i (41 - i) / 2.
    const std::vector<double> found = x.to_host<double>();
    for (int i = 0; i < 40; ++i) EXPECT_NEAR(found[static_cast<std::size_t>(i)], (i + 1) * (40 - i) / 2.0, 1e-4);
    EXPECT_EQ(world.member(pcg, 1).rows, lengths[1]);
    EXPECT_EQ(error_of([&] { world.member(pcg, 2); }).status(), SXT_E_INDEX);
    EXPECT_EQ(error_of([&] { b.data<double>(); }).status(), SXT_E_NOT_SUPPORTED);
  }
}

TEST(CppWorld, WrapsWhatMembersHave) {
  const std::vector<sextant::Context> contexts = members(2);
  const World world(contexts);
  alignas(64) double first[] = {1, 2}, second[] = {4};
  const std::span<double> parts[] = {first, second};
  const sxt_space spaces[] = {SXT_SPACE_HOST, SXT_SPACE_HOST};
  const Vector v = world.wrap<double>(parts, spaces);
  EXPECT_EQ(v.size(), 3);
  EXPECT_THAT(v.to_host<double>(), ElementsAre(1, 2, 4));
  EXPECT_EQ(error_of([&] { world.zeros<double>(std::vector<std::int64_t>{1}); }).status(), SXT_E_DIMENSION);
}

// Each rank brings half of the rows. What one rank's arrays lack is refused on both, and the world goes on.
TEST(CppWorld, ThreadsAreRanks) {
  const sextant::ThreadComm comm(2);
  EXPECT_EQ(error_of([&] { comm.rank(2); }).status(), SXT_E_INDEX);
  const auto rank = [&](std::int32_t r) {
    const std::vector<sextant::Context> contexts = members(1);
    sextant::WorldOptions options;
    options.time_limit = 60;
    const World world(contexts, comm.rank(r), options);
    EXPECT_EQ(world.info().ranks, 2);
    const std::vector<int> row_ptr{0, 2, 4}, col = r == 0 ? std::vector<int>{0, 1, 1, 2} : std::vector<int>{1, 2, 2, 3};
    std::vector<double> values{2, -1, 2, -1};
    values = r == 0 ? std::vector<double>{2, 0, 2, -1} : std::vector<double>{-1, 2, 0, 2};
    std::vector<double> given = values;
    if (r == 1) given.pop_back();
    const sextant::error refused = error_of([&] { world.csr_rows(4, 2 * r, row_ptr, col, given); });
    EXPECT_EQ(refused.status(), r == 1 ? SXT_E_DIMENSION : SXT_E_ARGUMENT);
    const Matrix a = world.csr_rows(4, 2 * r, row_ptr, col, values);
    Vector x = world.zeros<double>(world.lengths_of(a)), y = world.zeros<double>(world.lengths_of(a));
    x.write(std::vector<double>{1.0 + 2 * r, 2.0 + 2 * r});
    sextant::spmv(a, x, y);
    EXPECT_THAT(y.to_host<double>(), r == 0 ? ElementsAre(2, 1) : ElementsAre(4, 8));
  };
  std::thread other(rank, 1);
  rank(0);
  other.join();
}

}  // namespace
