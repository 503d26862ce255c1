// SPDX-License-Identifier: BSD-3-Clause
// How many members of a world solve: the choice and what is told of it, and solves on fewer than there are.
#include <cstdint>
#include <string>
#include <vector>

#include "support.hpp"

namespace world_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

struct Solved {
  sxt_status status = SXT_OK;
  std::vector<double> x;
  sxt_pcg_report report = api_test::new_report();
  std::string told;
};

// On a world of one process, again with new values and a guess where those are given.
Solved solve_with(const Rank &rank, const Csr &a, const sxt_pcg_options &options, const Csr *newer = nullptr) {
  Solved out;
  const Matrix matrix = rows_matrix(rank, a, {0, a.rows});
  const std::vector<std::int64_t> lengths = lengths_of(rank, matrix);
  sxt_pcg *made = nullptr;
  out.status = sxt_pcg_create(matrix.get(), &options, &made);
  const Pcg pcg(made);
  EXPECT_EQ(out.status, SXT_OK) << rank.error();
  if (!pcg) return out;
  const Vector b = part_of(rank, lengths, waves(a.rows), 0), x = part_of(rank, lengths, {}, 0);
  EXPECT_EQ(sxt_pcg_solve(made, b.get(), x.get(), nullptr, &out.report), SXT_OK) << rank.error();
  if (newer) {
    EXPECT_EQ(sxt_matrix_update_values(matrix.get(), newer->values.data(), newer->ptr.back()), SXT_OK);
    sxt_solve_options again = api_test::solve_options();
    again.use_initial_guess = 1;
    EXPECT_EQ(sxt_pcg_solve(made, b.get(), x.get(), &again, &out.report), SXT_OK) << rank.error();
  }
  out.x = values_of(x);
  out.told = api_test::explain(pcg);
  for (int i = 0; i < rank.info.own; ++i) {
    sxt_member_report report{};
    report.struct_size = sizeof report;
    EXPECT_EQ(sxt_pcg_get_member(made, i, &report), SXT_OK);
    EXPECT_EQ(report.rows, lengths[static_cast<std::size_t>(i)]);
    EXPECT_GT(report.own_entries, 0);
  }
  return out;
}

// Members on the CPU of one process work one after the other: nothing is gained by a second one, and both predictions
// are told.
TEST(WorldMembers, ASystemThatGainsNothingStaysOnOne) {
  const Csr a = api_test::laplacian(20, 0.01);
  const Rank rank(nullptr, 3);
  const Solved solved = solve_with(rank, a, api_test::pcg_options());
  EXPECT_EQ(solved.report.reason, SXT_REASON_CONVERGED);
  EXPECT_LE(api_test::relative_residual(a, waves(a.rows), solved.x), 1.0001e-8);
  EXPECT_THAT(solved.told, HasSubstr("1 of 3"));
  EXPECT_THAT(solved.told, HasSubstr("1 member, used: "));
  EXPECT_THAT(solved.told, HasSubstr("3 members: "));
  EXPECT_THAT(solved.told, HasSubstr("2 members: "));
  EXPECT_THAT(solved.told, HasSubstr("an iteration predicted"));
}

TEST(WorldMembers, AnyNumberThatIsAskedForSolves) {
  Csr a = api_test::badly_scaled(15), newer = a;
  for (double &value : newer.values) value *= 3;
  for (const int members : {1, 2, 3, 4}) {
    const Rank rank(nullptr, 4);
    sxt_pcg_options options = api_test::pcg_options();
    const std::string engine = "world.members:" + std::to_string(members);
    options.engine = engine.c_str();
    options.rtol = 1e-9;
    for (const Csr *values : {static_cast<const Csr *>(nullptr), static_cast<const Csr *>(&newer)}) {
      const Solved solved = solve_with(rank, a, options, values);
      EXPECT_EQ(solved.report.reason, SXT_REASON_CONVERGED) << engine;
      EXPECT_LE(api_test::relative_residual(values ? newer : a, waves(a.rows), solved.x), 1.0001e-9) << engine;
      EXPECT_THAT(solved.told, AllOf(HasSubstr(std::to_string(members) + " of 4"), HasSubstr(engine)));
    }
  }
}

// Where the caller names an engine, where bits must not depend on the grouping, and where rows are elsewhere, all work.
TEST(WorldMembers, AllAreUsedWhereThereIsNoChoice) {
  const Csr a = api_test::laplacian(12, 0.05);
  EXPECT_THAT(solve_with(Rank(nullptr, 2), a, by_host()).told, HasSubstr("2 of 2: options->engine is world.by-host"));
  EXPECT_THAT(solve_with(Rank(nullptr, 2, 30, true), a, api_test::pcg_options()).told,
              HasSubstr("2 of 2: contexts are deterministic"));
  const Comms comms = new_comms(2);
  on_ranks(2, [&](int r) {
    const sxt_comm comm = comm_of(comms, r);
    const Rank rank(&comm, 1);
    const Matrix matrix = rows_matrix(rank, a, rows_of({72, 72}, r));
    const Pcg pcg = api_test::make<Pcg>([&](sxt_pcg **out) { return sxt_pcg_create(matrix.get(), nullptr, out); });
    EXPECT_THAT(api_test::explain(pcg), HasSubstr("2 of 2: rows of other ranks stay with them"));
  });
}

// One member alone is a solver of one context: any preconditioner and engine of those.
TEST(WorldMembers, AWorldOfOneIsASolverOfOneContext) {
  const Csr a = api_test::laplacian(16, 0.02);
  const Solved solved = solve_with(Rank(nullptr, 1), a, api_test::pcg_options());
  EXPECT_EQ(solved.report.reason, SXT_REASON_CONVERGED);
  EXPECT_THAT(solved.told, AllOf(HasSubstr("1 of 1: there is one member"), HasSubstr("on one member")));
}

TEST(WorldMembers, NumbersThatCannotBeAreRefused) {
  const Csr a = api_test::laplacian(8, 1);
  const Rank rank(nullptr, 2);
  const Matrix matrix = rows_matrix(rank, a, {0, a.rows});
  for (const char *engine : {"world.members:0", "world.members:3", "world.members:", "world.members:1x",
                             "world.members:-1", "world.members:99999999999"}) {
    sxt_pcg_options options = api_test::pcg_options();
    options.engine = engine;
    sxt_pcg *made = nullptr;
    EXPECT_EQ(sxt_pcg_create(matrix.get(), &options, &made), SXT_E_NOT_SUPPORTED) << engine;
    EXPECT_THAT(rank.error(), AllOf(HasSubstr(engine), HasSubstr("the world has 2 members")));
  }
  const Comms comms = new_comms(2);
  on_ranks(2, [&](int r) {
    const sxt_comm comm = comm_of(comms, r);
    const Rank each(&comm, 1);
    const Matrix part = rows_matrix(each, a, rows_of({32, 32}, r));
    sxt_pcg_options options = api_test::pcg_options();
    options.engine = "world.members:1";
    sxt_pcg *made = nullptr;
    EXPECT_EQ(sxt_pcg_create(part.get(), &options, &made), SXT_E_NOT_SUPPORTED);
    EXPECT_THAT(each.error(), HasSubstr("rows of other ranks stay with them"));
  });
}

// A failure gives the guess back, as on all members.
TEST(WorldMembers, AGuessComesBackWhereASolveFails) {
  Csr a = api_test::laplacian(10, 0.001);
  const Rank rank(nullptr, 2);
  const Matrix matrix = rows_matrix(rank, a, {0, a.rows});
  const std::vector<std::int64_t> lengths = lengths_of(rank, matrix);
  const Pcg pcg = api_test::make<Pcg>([&](sxt_pcg **out) { return sxt_pcg_create(matrix.get(), nullptr, out); });
  const std::vector<double> guess = waves(a.rows, 0.3);
  const Vector b = part_of(rank, lengths, waves(a.rows), 0), x = part_of(rank, lengths, guess, 0);
  sxt_solve_options options = api_test::solve_options();
  options.use_initial_guess = 1;
  std::int32_t cancel = 1;
  options.cancel = &cancel;
  sxt_pcg_report report = api_test::new_report();
  EXPECT_EQ(sxt_pcg_solve(pcg.get(), b.get(), x.get(), &options, &report), SXT_NOT_CONVERGED);
  EXPECT_EQ(report.reason, SXT_REASON_CANCELLED);
  EXPECT_EQ(values_of(x), guess);
}

}  // namespace
}  // namespace world_test
