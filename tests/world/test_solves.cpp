// SPDX-License-Identifier: BSD-3-Clause
// Conjugate gradients in worlds: against the true residual, with threads as ranks, and how all ranks end alike.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "support.hpp"

namespace world_test {
namespace {

using testing::HasSubstr;

// x of all ranks, and what each reported.
struct Answer {
  std::vector<double> x;
  std::vector<sxt_pcg_report> reports;
  std::vector<sxt_status> statuses;
  std::string explained;  // of rank 0
};

struct Task {
  const Csr &a;
  std::vector<double> b;
  std::vector<std::int64_t> rows;
  std::vector<int> members;
  sxt_pcg_options options = by_host();
  sxt_solve_options solve = api_test::solve_options();
  std::vector<double> guess = {};
  bool deterministic = false;
};

Answer solve_by(const Task &task) {
  const int ranks = static_cast<int>(task.rows.size());
  Answer out;
  out.x.resize(static_cast<std::size_t>(task.a.rows));
  out.reports.resize(static_cast<std::size_t>(ranks));
  out.statuses.resize(static_cast<std::size_t>(ranks));
  const Comms comms = new_comms(ranks);
  on_ranks(ranks, [&](int r) {
    const auto at = static_cast<std::size_t>(r);
    const sxt_comm comm = comm_of(comms, r);
    const Rank rank(&comm, task.members[at], 30, task.deterministic);
    const Rows rows = rows_of(task.rows, r);
    const Matrix matrix = rows_matrix(rank, task.a, rows);
    ASSERT_TRUE(matrix);
    const std::vector<std::int64_t> lengths = lengths_of(rank, matrix);
    sxt_pcg *made = nullptr;
    out.statuses[at] = sxt_pcg_create(matrix.get(), &task.options, &made);
    const Pcg pcg(made);
    ASSERT_EQ(out.statuses[at], SXT_OK) << rank.error();
    const Vector b = part_of(rank, lengths, task.b, rows.begin),
                 x = part_of(rank, lengths, task.guess, task.guess.empty() ? 0 : rows.begin);
    out.reports[at] = api_test::new_report();
    out.statuses[at] = sxt_pcg_solve(pcg.get(), b.get(), x.get(), &task.solve, &out.reports[at]);
    const std::vector<double> here = values_of(x);
    std::copy(here.begin(), here.end(), out.x.begin() + rows.begin);
    if (r == 0) out.explained = api_test::explain(pcg);
    for (int i = 0; i < rank.info.own; ++i) {
      sxt_member_report report{};
      report.struct_size = sizeof report;
      EXPECT_EQ(sxt_pcg_get_member(pcg.get(), i, &report), SXT_OK);
      EXPECT_EQ(report.rows, lengths[static_cast<std::size_t>(i)]);
    }
  });
  return out;
}

void expect_alike(const Answer &answer) {
  for (const sxt_pcg_report &report : answer.reports) {
    EXPECT_EQ(report.reason, answer.reports[0].reason);
    EXPECT_EQ(report.iterations, answer.reports[0].iterations);
    EXPECT_EQ(report.residual_norm, answer.reports[0].residual_norm) << "equal bits on every rank";
  }
  for (const sxt_status status : answer.statuses) EXPECT_EQ(status, answer.statuses[0]);
}

TEST(WorldSolves, ConvergeToTheTrueResidual) {
  for (const Csr &a :
       {api_test::laplacian(20, 0.01), api_test::badly_scaled(15), api_test::shuffled(api_test::laplacian(14, 0.05))})
    for (const char *preconditioner : {"auto", "none", "jacobi", "block-jacobi:4", "chebyshev:5", "ssor-ai"})
      for (const int ranks : {1, 2, 3, 5}) {
        if (std::strcmp(preconditioner, "none") == 0 && a.values[0] != a.values[a.ptr[1]]) continue;
        Task task{a, waves(a.rows), shares(a.rows, ranks), std::vector<int>(static_cast<std::size_t>(ranks), 1)};
        task.members[0] = 2;
        task.options.preconditioner = preconditioner;
        task.options.rtol = 1e-9;
        const Answer answer = solve_by(task);
        expect_alike(answer);
        EXPECT_EQ(answer.statuses[0], SXT_OK) << preconditioner << " on " << ranks;
        EXPECT_EQ(answer.reports[0].reason, SXT_REASON_CONVERGED);
        EXPECT_LE(api_test::relative_residual(a, task.b, answer.x), 1.0001e-9) << preconditioner << " on " << ranks;
        EXPECT_GT(answer.reports[0].iterations, 0);
        EXPECT_EQ(answer.reports[0].reductions - answer.reports[0].confirmations - answer.reports[0].replacements,
                  answer.reports[0].iterations + 1)
            << "one gather an iteration";
        EXPECT_THAT(answer.explained, HasSubstr("columns of others"));
      }
}

// Members without rows, and one member of one rank beside it: about as many iterations as one context takes.
TEST(WorldSolves, TakeAboutTheIterationsOfOneContext) {
  const Csr a = api_test::laplacian(24, 0.01);
  const std::vector<double> b = waves(a.rows);
  const Context one = api_test::cpu(1);
  const Matrix matrix = a.matrix(one);
  sxt_pcg_options options = api_test::pcg_options();
  options.preconditioner = "none";
  const Pcg pcg = api_test::make<Pcg>([&](sxt_pcg **out) { return sxt_pcg_create(matrix.get(), &options, out); });
  std::vector<double> x(b.size());
  const sxt_pcg_report alone = api_test::solve(pcg, b, x);
  Task task{a, b, {0, 100, 0, a.rows - 100}, {1, 2, 1, 3}};
  task.options.preconditioner = "none";
  const Answer answer = solve_by(task);
  expect_alike(answer);
  EXPECT_EQ(answer.reports[0].reason, SXT_REASON_CONVERGED);
  EXPECT_NEAR(static_cast<double>(answer.reports[0].iterations), static_cast<double>(alone.iterations), 3);
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(answer.x[i], x[i], 1e-5 * (1 + std::fabs(x[i])));
}

TEST(WorldSolves, RepeatTheirBits) {
  const Csr a = api_test::badly_scaled(16);
  Task task{a, waves(a.rows), shares(a.rows, 3), {1, 2, 1}};
  task.deterministic = true;
  const Answer first = solve_by(task), again = solve_by(task);
  EXPECT_EQ(first.x, again.x);
  EXPECT_EQ(first.reports[0].iterations, again.reports[0].iterations);
}

// Rows that are alike, so that any grouping of members divides them alike: a ring, with five entries in each row.
Csr ring(std::int64_t n) {
  Csr a;
  a.rows = a.cols = n;
  for (std::int64_t i = 0; i < n; ++i) {
    std::vector<std::pair<std::int64_t, double>> row;
    for (const std::int64_t step : {-2, -1, 0, 1, 2}) {
      const std::int64_t j = (i + step + n) % n;
      row.emplace_back(
          j, step == 0 ? 3 + 0.3 * static_cast<double>(i % 7) : -0.5 - 0.01 * static_cast<double>((i + j) % 5));
    }
    std::sort(row.begin(), row.end());
    for (const auto &[j, value] : row) a.entry(static_cast<int>(j), value);
    a.end_row();
  }
  return a;
}

// The same members as one rank, two, or four: sums are formed over members, whatever ranks they belong to.
TEST(WorldSolves, GroupingOfMembersIntoRanksLeavesTheBits) {
  const Csr a = ring(400);
  for (const char *preconditioner : {"none", "jacobi", "chebyshev:5"})
    for (const sxt_norm norm : {SXT_NORM_2, SXT_NORM_MAX}) {
      std::vector<Answer> answers;
      for (const std::vector<int> &members : {std::vector<int>{1, 1, 1, 1}, {2, 2}, {4}, {1, 3}, {3, 1}}) {
        std::vector<std::int64_t> rows;
        for (const int own : members) rows.push_back(100 * own);
        Task task{a, waves(a.rows), rows, members};
        task.options.preconditioner = preconditioner;
        task.options.norm = norm;
        task.options.rtol = 1e-10;
        task.deterministic = true;
        answers.push_back(solve_by(task));
        expect_alike(answers.back());
        EXPECT_EQ(answers.back().reports[0].reason, SXT_REASON_CONVERGED);
        EXPECT_EQ(answers.back().x, answers[0].x) << members.size() << " ranks, " << preconditioner;
        const sxt_pcg_report &one = answers.back().reports[0], &other = answers[0].reports[0];
        EXPECT_EQ(one.iterations, other.iterations);
        EXPECT_EQ(one.residual_norm, other.residual_norm);
        EXPECT_EQ(one.residual_bound, other.residual_bound);
        EXPECT_EQ(one.rhs_norm, other.rhs_norm);
      }
    }
}

// times: an exact power of two.
Csr scaled(Csr a, double times) {
  for (double &value : a.values) value *= times;
  return a;
}
std::vector<double> scaled(std::vector<double> v, double times) {
  for (double &value : v) value *= times;
  return v;
}

// Matrices and right-hand sides so far from 1 that squares leave the range: the iterations and, but for the power of
// two, the bits of the system near 1. 2^585 is about 1e176, 2^-548 about 1e-165.
TEST(WorldSolves, SizesWhoseSquaresLeaveTheRange) {
  const Csr a = ring(300);
  const std::vector<double> b = waves(a.rows);
  for (const char *preconditioner : {"none", "jacobi"}) {
    const auto solve = [&](const Csr &matrix, const std::vector<double> &rhs) {
      Task task{matrix, rhs, shares(a.rows, 2), {1, 2}};
      task.options.preconditioner = preconditioner;
      task.options.rtol = 1e-9;
      task.deterministic = true;
      const Answer answer = solve_by(task);
      expect_alike(answer);
      return answer;
    };
    const Answer near = solve(a, b);
    ASSERT_EQ(near.reports[0].reason, SXT_REASON_CONVERGED);
    const struct {
      int a, b;
    } exponents[] = {{585, 585}, {-548, -548}, {0, 585}, {0, -548}, {585, 0}, {-548, 0}, {300, -300}, {-300, 300}};
    for (const auto &[of_a, of_b] : exponents) {
      SCOPED_TRACE(testing::Message() << "A times 2^" << of_a << ", b times 2^" << of_b << ", " << preconditioner);
      const Answer far = solve(scaled(a, std::ldexp(1, of_a)), scaled(b, std::ldexp(1, of_b)));
      EXPECT_EQ(far.reports[0].reason, SXT_REASON_CONVERGED);
      EXPECT_EQ(far.reports[0].iterations, near.reports[0].iterations);
      EXPECT_EQ(far.x, scaled(near.x, std::ldexp(1, of_b - of_a)));
      EXPECT_DOUBLE_EQ(far.reports[0].rhs_norm, std::ldexp(near.reports[0].rhs_norm, of_b));
      EXPECT_LE(far.reports[0].true_relative_residual, 1e-9);
    }
  }
}

// A guess is brought to that scale and back; a solve that fails gives it back as it was.
TEST(WorldSolves, GuessesOfSizesWhoseSquaresLeaveTheRange) {
  const Csr a = scaled(api_test::laplacian(12, 0.1), 0x1p585);
  Task task{a, scaled(waves(a.rows), 0x1p-300), shares(a.rows, 2), {1, 1}};
  const std::vector<double> solution = solve_by(task).x;
  task.guess = solution;
  task.solve.use_initial_guess = 1;
  task.solve.rtol = 1e-6;
  const Answer good = solve_by(task);
  EXPECT_EQ(good.reports[0].reason, SXT_REASON_CONVERGED);
  EXPECT_EQ(good.reports[0].iterations, 0);
  EXPECT_EQ(good.x, solution);
  task.solve.rtol = 1e-12;
  task.solve.max_iterations = 0;
  task.guess[3] *= 2;
  task.solve.max_iterations = 1;
  const Answer cut = solve_by(task);
  expect_alike(cut);
  EXPECT_EQ(cut.reports[0].reason, SXT_REASON_ITERATION_LIMIT);
  for (const double value : cut.x) EXPECT_LT(std::fabs(value), 0x1p-800) << "in the caller's scale";
}

// Whichever allocation of one rank fails in such a solve, x is the guess again on both.
TEST(WorldSolves, AFailureGivesTheGuessBackInItsOwnScale) {
  const Csr a = scaled(api_test::laplacian(6, 0.1), 0x1p585);
  const std::vector<double> b = scaled(waves(36), 0x1p-300), guess = scaled(waves(36, 1), 0x1p-885);
  int failed = 0;
  for (std::int64_t at = 1; at < 60; ++at) {
    const Comms comms = new_comms(2);
    std::vector<sxt_status> statuses(2);
    on_ranks(2, [&](int r) {
      api_test::Lender lender;
      std::vector<Context> contexts;
      contexts.push_back(r == 1 ? lender.context() : api_test::cpu(1));
      const sxt_comm comm = comm_of(comms, r);
      const Rank rank(&comm, std::move(contexts));
      const Rows rows = rows_of({18, 18}, r);
      const Matrix matrix = rows_matrix(rank, a, rows);
      const Pcg pcg = api_test::make<Pcg>([&](sxt_pcg **out) { return sxt_pcg_create(matrix.get(), nullptr, out); });
      const Vector rhs = part_of(rank, {18}, b, rows.begin), x = part_of(rank, {18}, guess, rows.begin);
      sxt_solve_options options = api_test::solve_options();
      options.use_initial_guess = 1;
      if (r == 1) lender.fail_at = lender.calls + at;
      sxt_status &status = statuses[static_cast<std::size_t>(r)];
      status = sxt_pcg_solve(pcg.get(), rhs.get(), x.get(), &options, nullptr);
      lender.fail_at = 0;
      const std::vector<double> begun(guess.begin() + rows.begin, guess.begin() + rows.begin + 18);
      if (status != SXT_OK) {
        EXPECT_EQ(values_of(x), begun) << "allocation " << at << " of rank 1";
      }
    });
    EXPECT_EQ(statuses[0], statuses[1]);
    if (statuses[0] == SXT_OK) break;
    ++failed;
  }
  EXPECT_GT(failed, 2);
}

TEST(WorldSolves, StartFromAGuessAndGiveItBackWhereTheyFail) {
  const Csr a = api_test::laplacian(16, 0.01);
  Task task{a, waves(a.rows), shares(a.rows, 2), {1, 1}};
  const std::vector<double> solution = solve_by(task).x;
  task.guess = solution;
  task.solve.use_initial_guess = 1;
  task.solve.rtol = 1e-6;
  Answer answer = solve_by(task);
  EXPECT_EQ(answer.reports[0].iterations, 0) << "the guess is good enough";
  EXPECT_EQ(answer.reports[0].reason, SXT_REASON_CONVERGED);
  EXPECT_EQ(answer.x, solution);
  task.solve = api_test::solve_options();
  task.guess.clear();
  task.solve.max_iterations = 25;
  answer = solve_by(task);
  expect_alike(answer);
  EXPECT_EQ(answer.statuses[0], SXT_NOT_CONVERGED);
  EXPECT_EQ(answer.reports[0].reason, SXT_REASON_ITERATION_LIMIT);
  EXPECT_EQ(answer.reports[0].iterations, 25);
  EXPECT_LE(answer.reports[0].true_relative_residual, 1) << "nothing worse than it began with";
}

TEST(WorldSolves, OfNothingAreZero) {
  const Csr a = api_test::laplacian(6);
  Task task{a, std::vector<double>(36, 0), shares(36, 2), {1, 1}};
  task.guess = waves(36);
  task.solve.use_initial_guess = 1;
  const Answer answer = solve_by(task);
  expect_alike(answer);
  EXPECT_EQ(answer.reports[0].reason, SXT_REASON_CONVERGED);
  EXPECT_EQ(answer.x, std::vector<double>(36, 0));
}

TEST(WorldSolves, TheMaximumNormIsMet) {
  const Csr a = api_test::laplacian(16, 0.05);
  Task task{a, waves(a.rows), shares(a.rows, 3), {1, 1, 1}};
  task.options.norm = SXT_NORM_MAX;
  task.options.rtol = 1e-9;
  const Answer answer = solve_by(task);
  EXPECT_EQ(answer.reports[0].reason, SXT_REASON_CONVERGED);
  const std::vector<double> product = a.times(answer.x);
  double most = 0, rhs = 0;
  for (std::size_t i = 0; i < product.size(); ++i) {
    most = std::max(most, std::fabs(task.b[i] - product[i]));
    rhs = std::max(rhs, std::fabs(task.b[i]));
  }
  EXPECT_LE(most, 1.001e-9 * rhs);
}

// An indefinite matrix with a positive diagonal: found in the same iteration everywhere.
TEST(WorldSolves, FindAnIndefiniteMatrix) {
  Csr a;
  a.rows = a.cols = 30;
  for (int i = 0; i < 30; ++i) {
    if (i > 0) a.entry(i - 1, -3);
    a.entry(i, 1);
    if (i < 29) a.entry(i + 1, -3);
    a.end_row();
  }
  const Task task{a, waves(a.rows), shares(a.rows, 3), {1, 1, 1}};
  const Answer answer = solve_by(task);
  expect_alike(answer);
  EXPECT_EQ(answer.statuses[0], SXT_NOT_CONVERGED);
  EXPECT_EQ(answer.reports[0].reason, SXT_REASON_A_INDEFINITE);
  for (const double x : answer.x) EXPECT_TRUE(std::isfinite(x));
}

// One rank's wish ends all of them for its reason.
TEST(WorldSolves, OneRankEndsAll) {
  const Csr a = api_test::laplacian(40);
  const int ranks = 3;
  const Comms comms = new_comms(ranks);
  std::vector<sxt_pcg_report> reports(3);
  on_ranks(ranks, [&](int r) {
    const sxt_comm comm = comm_of(comms, r);
    const Rank rank(&comm, 1);
    const Rows rows = rows_of(shares(a.rows, ranks), r);
    const Matrix matrix = rows_matrix(rank, a, rows);
    const std::vector<std::int64_t> lengths = lengths_of(rank, matrix);
    const Pcg pcg = api_test::make<Pcg>([&](sxt_pcg **out) { return sxt_pcg_create(matrix.get(), nullptr, out); });
    const Vector b = part_of(rank, lengths, waves(a.rows), rows.begin), x = part_of(rank, lengths, {}, 0);
    sxt_solve_options options = api_test::solve_options();
    if (r == 1)
      options.progress = [](void *, std::int64_t iteration, double) -> std::int32_t { return iteration == 5; };
    reports[static_cast<std::size_t>(r)] = api_test::new_report();
    EXPECT_EQ(sxt_pcg_solve(pcg.get(), b.get(), x.get(), &options, &reports[static_cast<std::size_t>(r)]),
              SXT_NOT_CONVERGED);
    EXPECT_EQ(reports[static_cast<std::size_t>(r)].reason, SXT_REASON_CANCELLED);
    // The set-up serves on.
    EXPECT_EQ(sxt_pcg_solve(pcg.get(), b.get(), x.get(), nullptr, nullptr), SXT_OK) << rank.error();
  });
  for (const sxt_pcg_report &report : reports) EXPECT_EQ(report.iterations, 6) << "at the next gather";
}

// New values between two solves.
TEST(WorldSolves, TakeNewValues) {
  const Csr a = api_test::laplacian(14, 0.1), newer = a.renewed();
  const int ranks = 2;
  const Comms comms = new_comms(ranks);
  std::vector<double> solution(static_cast<std::size_t>(a.rows));
  on_ranks(ranks, [&](int r) {
    const sxt_comm comm = comm_of(comms, r);
    const Rank rank(&comm, 1);
    const Rows rows = rows_of(shares(a.rows, ranks), r);
    const Matrix matrix = rows_matrix(rank, a, rows);
    const std::vector<std::int64_t> lengths = lengths_of(rank, matrix);
    sxt_pcg_options options = api_test::pcg_options();
    options.preconditioner = "block-jacobi:4";
    const Pcg pcg = api_test::make<Pcg>([&](sxt_pcg **out) { return sxt_pcg_create(matrix.get(), &options, out); });
    const Vector b = part_of(rank, lengths, waves(a.rows), rows.begin), x = part_of(rank, lengths, {}, 0);
    EXPECT_EQ(sxt_pcg_solve(pcg.get(), b.get(), x.get(), nullptr, nullptr), SXT_OK);
    const Piece piece(newer, rows);
    ASSERT_EQ(
        sxt_matrix_update_values(matrix.get(), piece.values.data(), static_cast<std::int64_t>(piece.values.size())),
        SXT_OK);
    EXPECT_EQ(sxt_pcg_solve(pcg.get(), b.get(), x.get(), nullptr, nullptr), SXT_OK) << rank.error();
    const std::vector<double> here = values_of(x);
    std::copy(here.begin(), here.end(), solution.begin() + rows.begin);
  });
  EXPECT_LE(api_test::relative_residual(newer, waves(a.rows), solution), 1.0001e-8);
}

// What is asymmetric between two members is found, and named, wherever it lies.
TEST(WorldSolves, AsymmetryAcrossMembersIsFound) {
  const Csr good = api_test::laplacian(8, 1);
  for (const bool missing : {false, true}) {
    Csr a = good;
    const std::size_t at = static_cast<std::size_t>(a.ptr[36]);  // row 36, column 28: the rows of another rank
    ASSERT_EQ(a.col[at], 28);
    if (missing) {
      a.col.erase(a.col.begin() + a.ptr[36]), a.values.erase(a.values.begin() + a.ptr[36]);
      for (std::size_t i = 37; i < a.ptr.size(); ++i) --a.ptr[i];
    } else {
      a.values[at] = -1.5;
    }
    const Comms comms = new_comms(2);
    on_ranks(2, [&](int r) {
      const sxt_comm comm = comm_of(comms, r);
      const Rank rank(&comm, 1);
      const Matrix matrix = rows_matrix(rank, a, rows_of({32, 32}, r));
      sxt_pcg *pcg = nullptr;
      EXPECT_EQ(sxt_pcg_create(matrix.get(), nullptr, &pcg), SXT_E_NOT_SYMMETRIC);
      EXPECT_THAT(rank.error(), testing::AnyOf(HasSubstr("row 28, column 36"), HasSubstr("row 36, column 28")));
    });
  }
}

TEST(WorldSolves, RefuseWhatWorldsLackAndBadOptionsOnOneRank) {
  const Csr a = api_test::laplacian(8, 1);
  const Comms comms = new_comms(2);
  on_ranks(2, [&](int r) {
    const sxt_comm comm = comm_of(comms, r);
    const Rank rank(&comm, 1);
    const Matrix matrix = rows_matrix(rank, a, rows_of({32, 32}, r));
    sxt_pcg *pcg = nullptr;
    const auto refused = [&](sxt_status status, const char *says, auto &&change) {
      sxt_pcg_options options = api_test::pcg_options();
      change(options);
      EXPECT_EQ(sxt_pcg_create(matrix.get(), &options, &pcg), status);
      EXPECT_THAT(rank.error(), HasSubstr(says));
    };
    refused(SXT_E_NOT_SUPPORTED, "format", [](sxt_pcg_options &o) { o.format = "csr"; });
    refused(SXT_E_NOT_SUPPORTED, "recurrence", [](sxt_pcg_options &o) { o.recurrence = "classical"; });
    refused(SXT_E_NOT_SUPPORTED, "null_space", [](sxt_pcg_options &o) { o.null_space_size = 1; });
    refused(SXT_E_UNKNOWN_NAME, "jacobi", [](sxt_pcg_options &o) { o.preconditioner = "jacoby"; });
    refused(SXT_E_ARGUMENT, "divergence_limit", [&](sxt_pcg_options &o) {
      if (r == 1) o.divergence_limit = -1;
    });
    refused(SXT_E_STATE, "different options", [&](sxt_pcg_options &o) {
      if (r == 1) o.rtol = 1e-3;
    });
    // The world goes on.
    const Pcg made = api_test::make<Pcg>([&](sxt_pcg **out) { return sxt_pcg_create(matrix.get(), nullptr, out); });
    std::vector<double> b(64, 1), x(64);
    EXPECT_EQ(sxt_pcg_solve_array(made.get(), 64, b.data(), x.data(), nullptr, nullptr), SXT_E_NOT_SUPPORTED);
  });
}

// A diagonal that is not positive, on one rank: all refuse, and the row is the matrix's.
TEST(WorldSolves, ABadDiagonalIsNamed) {
  Csr a = api_test::laplacian(8, 1);
  for (std::int32_t k = a.ptr[40]; k < a.ptr[41]; ++k)
    if (a.col[static_cast<std::size_t>(k)] == 40) a.values[static_cast<std::size_t>(k)] = -1;
  const Comms comms = new_comms(2);
  on_ranks(2, [&](int r) {
    const sxt_comm comm = comm_of(comms, r);
    const Rank rank(&comm, 1);
    const Matrix matrix = rows_matrix(rank, a, rows_of({32, 32}, r));
    sxt_pcg *pcg = nullptr;
    EXPECT_EQ(sxt_pcg_create(matrix.get(), nullptr, &pcg), SXT_E_DIAGONAL);
    EXPECT_THAT(rank.error(), HasSubstr("rows count from row 32"));
  });
}

}  // namespace
}  // namespace world_test
