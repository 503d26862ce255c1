// SPDX-License-Identifier: BSD-3-Clause
// Each CPU scheduler: residuals, entries of the inverse, failures under concurrency, inertia, shapes at their limits,
// cancelling, memory that fails.
#include <utility>

#include "plugins/cholesky/test_problem.hpp"
#include "tests/live_bytes.hpp"

namespace plugin_test {
namespace {

struct Named {
  const char *plugin, *kernel;
  std::int64_t most;  // a side of the largest cube
};

class CholeskyScheduler : public testing::TestWithParam<Named> {
 protected:
  const sxt_kernel &kernel() const { return find_kernel(load_own(GetParam().plugin), GetParam().kernel); }
  Problem cube_of(std::int64_t side, std::int32_t factors = SXT_FACTORS_LLH) const {
    return make_cube(kernel(), std::min(side, GetParam().most), factors);
  }
};

TEST_P(CholeskyScheduler, TheInverseHasTheEntriesOfSolves) {
  Problem problem = cube_of(13);
  Result r = problem.factor(2);
  problem.invert(r, 1);
  Result many = r;
  problem.invert(many, 3);
  EXPECT_TRUE(problem.same(r.z, many.z));
  const sxt_symbolic &s = problem.view();
  sxt_cholesky_query asked = problem.query;
  asked.phase = SXT_CHOLESKY_SOLVE;
  Scheduler scheduler(kernel(), s, asked, 2);
  for (const std::int64_t j : {std::int64_t{0}, s.n / 2, s.n - 1}) {  // in the order of elimination
    std::vector<double> x(static_cast<std::size_t>(s.n), 0);
    x[s.perm[j]] = 1;
    problem.args.phase = SXT_CHOLESKY_SOLVE, problem.args.factor = r.l.data();
    problem.args.b = x.data(), problem.args.ldb = s.n, problem.args.n_rhs = 1;
    ASSERT_EQ(scheduler.run(problem.args), SXT_OK);
    for (std::int64_t i = j; i < s.n; ++i) {
      const std::int64_t at = problem.structure.place(i, j);
      EXPECT_NEAR(at < 0 ? x[s.perm[i]] : r.z[at], x[s.perm[i]], 1e-12);
    }
  }
}

TEST_P(CholeskyScheduler, TheFirstColumnThatFailsIsNamedUnderConcurrency) {
  Problem problem = cube_of(20);
  const std::vector<double> good = problem.values;
  const sxt_symbolic &s = problem.view();
  // Columns of different subtrees and of the top, which fail whatever came before.
  const std::vector<std::int64_t> bad{s.n / 10, s.n / 3, s.n / 2, 4 * s.n / 5, s.n - 3};
  Scheduler scheduler(kernel(), s, problem.query, 4);
  for (std::size_t first = 0; first < bad.size(); ++first) {
    problem.values = good;
    for (std::size_t k = first; k < bad.size(); ++k)
      problem.values[problem.pattern.row_ptr[s.perm[bad[k]] + 1] - 1] = -5;
    for (int times = 0; times < 5; ++times) {
      Result r;
      problem.factor(scheduler, r);
      EXPECT_EQ(r.status, SXT_OK);
      EXPECT_EQ(r.failed, bad[first]);
      EXPECT_LT(r.pivot, 0);
    }
  }
  problem.values = good;  // the next factorisation works
  Result r;
  problem.factor(scheduler, r);
  EXPECT_EQ(r.failed, -1);
  problem.solve(r, 1, 4);
  EXPECT_LE(problem.backward_error(r.x, 1), 1);
  problem.values[problem.pattern.row_ptr[s.perm[bad[0]] + 1] - 1] = -5;
  problem.values[problem.pattern.row_ptr[s.perm[bad[3]] + 1] - 1] = std::nan("");
  problem.factor(scheduler, r);  // what is no number comes before a pivot
  EXPECT_EQ(r.failed, bad[3]);
  EXPECT_TRUE(std::isnan(r.pivot));
}

TEST_P(CholeskyScheduler, PivotsHaveTheInertiaThatTheMatrixHas) {
  Problem problem = cube_of(14, SXT_FACTORS_LDLH);
  Result r = problem.factor(3);
  ASSERT_EQ(r.failed, -1);
  std::vector<double> d(static_cast<std::size_t>(problem.pattern.n));
  problem.args.phase = SXT_CHOLESKY_PIVOTS, problem.args.b = d.data();
  Scheduler scheduler(kernel(), problem.view(), problem.query, 1);
  ASSERT_EQ(scheduler.run(problem.args), SXT_OK);
  // Of a matrix with a dominant diagonal: its signs (Gershgorin).
  std::int64_t negative = 0, expected = 0;
  for (std::int64_t i = 0; i < problem.pattern.n; ++i) {
    negative += d[i] < 0;
    expected += problem.values[problem.pattern.row_ptr[i + 1] - 1] < 0;
  }
  EXPECT_EQ(negative, expected);
  EXPECT_GT(negative, 0);
}

TEST_P(CholeskyScheduler, ShapesAtTheirLimits) {
  LowerPattern diagonal, chain, arrow, dense;
  for (int i = 0; i < 1000000; ++i) add_row(diagonal, {});
  for (std::int64_t i = 0; i < 30000; ++i) add_row(chain, {i - 1});
  for (int i = 0; i < 20000; ++i) add_row(arrow, {});
  for (std::int64_t j = 0; j < 20000; ++j) arrow.col.push_back(static_cast<std::int32_t>(j));
  add_row(arrow, {});
  for (std::int64_t i = 0; i < 500; ++i) {
    for (std::int64_t j = 0; j < i; ++j) dense.col.push_back(static_cast<std::int32_t>(j));
    add_row(dense, {});
  }
  for (LowerPattern *a : {&diagonal, &chain, &arrow, &dense}) {
    number_entries(*a);
    const std::int64_t n = a->n;
    std::vector<double> values = values_of(*a);
    Problem problem(kernel(), std::move(*a), natural(n), std::move(values));
    Result r = problem.factor(3), one = problem.factor(1);
    ASSERT_EQ(r.status, SXT_OK) << Host::sentence;
    ASSERT_EQ(r.failed, -1) << n;
    EXPECT_TRUE(problem.same(r.l, one.l)) << n;
    for (const std::int64_t columns : {1, 4, n == 500 ? 100 : 1}) {  // 100: several groups on one front in tiles
      problem.solve(r, columns, 3);
      EXPECT_LE(problem.backward_error(r.x, columns), n > 20000 ? 10 : 200)
          << n;  // a row of 20001 entries sums so many
    }
  }
}

TEST_P(CholeskyScheduler, CancelledRunsSayThatAndTheNextOneWorks) {
  Problem problem = cube_of(12);
  const std::int32_t cancel = 1;
  EXPECT_EQ(problem.factor(2, "dense.loops.cpu", &cancel).status, SXT_NOT_CONVERGED);
  const Result r = problem.factor(2);
  EXPECT_EQ(r.status, SXT_OK);
  EXPECT_EQ(r.failed, -1);
}

// Side by side (1, where a scheduler has that) and one after the other, one of them without a factor.
TEST_P(CholeskyScheduler, SetsHaveTheBitsOfFactorsOfTheirOwn) {
  constexpr std::int64_t sets = 5, bad = 3;
  Problem problem = cube_of(11);
  const std::int64_t n = problem.pattern.n, each = problem.view().values;
  const auto nnz = static_cast<std::int64_t>(problem.values.size());
  std::vector<double> values;
  for (std::int64_t set = 0; set < sets; ++set)
    for (const double value : problem.values) values.push_back(value * (1 + 0.3 * static_cast<double>(set)));
  values[static_cast<std::size_t>((bad + 1) * nnz - 1)] *= -1;
  for (const std::int64_t how : {0, 1})
    for (const int threads : {1, 3}) {
      const std::string where = "launch " + std::to_string(how) + ", threads " + std::to_string(threads);
      std::vector<double> l(static_cast<std::size_t>(sets * each), -3), pivot(sets);
      std::vector<std::int64_t> failed(sets, -7), changed(sets, -7);
      sxt_cholesky_query query = problem.query;
      query.n_sets = sets;
      sxt_cholesky_args args = problem.args;
      args.phase = SXT_CHOLESKY_FACTOR, args.n_sets = sets;
      args.values = values.data(), args.stride_values = nnz, args.factor = l.data(), args.stride_factor = each;
      args.failed_column = failed.data(), args.failed_pivot = pivot.data(), args.changed = changed.data();
      Scheduler factors(kernel(), problem.view(), query, threads, "dense.loops.cpu", "dense.reference.cpu", how);
      ASSERT_EQ(factors.run(args), SXT_OK) << Host::sentence;
      for (const std::int64_t columns : {1, 11}) {
        std::vector<double> x;
        for (std::int64_t set = 0; set < sets; ++set)
          for (const double value : problem.right(columns)) x.push_back(value);
        query.phase = args.phase = SXT_CHOLESKY_SOLVE, query.n_rhs = args.n_rhs = columns;
        args.b = x.data(), args.ldb = n, args.stride_b = n * columns;
        Scheduler solves(kernel(), problem.view(), query, threads, "dense.loops.cpu", "dense.reference.cpu", how);
        ASSERT_EQ(solves.run(args), SXT_OK) << Host::sentence;
        for (std::int64_t set = 0; set < sets; ++set) {
          EXPECT_EQ(failed[set] < 0, set != bad) << where;
          if (set == bad) continue;
          problem.values.assign(values.begin() + set * nnz, values.begin() + (set + 1) * nnz);
          Result alone = problem.factor(1);
          problem.solve(alone, columns, 1);
          const std::vector<double> its(l.begin() + set * each, l.begin() + (set + 1) * each);
          EXPECT_TRUE(problem.same(alone.l, its)) << where << ", set " << set;
          EXPECT_EQ(std::memcmp(alone.x.data(), x.data() + set * n * columns, alone.x.size() * sizeof(double)), 0)
              << where << ", set " << set;
        }
      }
    }
}

TEST_P(CholeskyScheduler, MemoryThatFailsInOpenIsAnError) {
  Problem problem = cube_of(8);
  const int before = Host::blocks;
  Host::fail_after = 0;
  {
    Scheduler scheduler(kernel(), problem.view(), problem.query, 2);
    EXPECT_EQ(scheduler.status(), SXT_E_MEMORY);
  }
  Host::fail_after = -1;
  EXPECT_EQ(Host::blocks, before);
  EXPECT_EQ(problem.factor(2).status, SXT_OK);
}

// State and session, beside the factor.
TEST_P(CholeskyScheduler, BytesAreThoseThatAreTaken) {
  if (!test::counts_live_bytes()) GTEST_SKIP() << "this allocator does not count";
  LowerPattern chain;
  for (std::int64_t i = 0; i < 100000; ++i) add_row(chain, {i - 1});
  number_entries(chain);
  std::vector<double> values = values_of(chain);
  const Problem thin(kernel(), std::move(chain), natural(100000), std::move(values)),
      thick = make_cube(kernel(), GetParam().most + 11);
  const auto &ops = *static_cast<const sxt_cholesky_ops *>(kernel().ops);
  for (const Problem *problem : {&thin, &thick})
    for (const std::int32_t phase : {SXT_CHOLESKY_FACTOR, SXT_CHOLESKY_SOLVE, SXT_CHOLESKY_INVERSE})
      for (const int threads : {1, 3}) {
        sxt_cholesky_query query = problem->query;
        query.phase = phase, query.n_rhs = threads == 1 ? 1 : 20;
        sxt_candidate candidate{};
        candidate.launch[0] = threads;
        std::uint64_t host = 0, device = 7;
        ops.bytes(&query.m.q, &problem->view(), nullptr, &candidate, &host, &device);
        const std::int64_t before = test::live_bytes();
        const Scheduler scheduler(kernel(), problem->view(), query, threads);
        ASSERT_EQ(scheduler.status(), SXT_OK);
        const auto taken = static_cast<double>(test::live_bytes() - before);
        EXPECT_GT(taken, 3e4);
        EXPECT_NEAR(static_cast<double>(host) / taken, 1, 0.02)
            << host << " stated, " << taken << " taken, phase " << phase << ", " << threads << " threads, "
            << problem->view().n << " rows";
        EXPECT_EQ(device, 0u);
      }
}

TEST_P(CholeskyScheduler, ASessionDoesWhatItWasOpenedFor) {
  Problem problem = cube_of(5);
  Scheduler scheduler(kernel(), problem.view(), problem.query, 1);
  std::vector<double> l(static_cast<std::size_t>(problem.view().values)), b(l.size() + 200);
  problem.args.phase = SXT_CHOLESKY_SOLVE, problem.args.factor = l.data();
  problem.args.b = b.data(), problem.args.ldb = problem.pattern.n, problem.args.n_rhs = 1;
  EXPECT_EQ(scheduler.run(problem.args), SXT_E_STATE);
  problem.args.phase = 99;
  EXPECT_EQ(scheduler.run(problem.args), SXT_E_ARGUMENT);
}

// Core takes different schedulers for factorisations and for solves where both say SXT_KERNEL_COMMON_FACTOR.
TEST(CholeskySchedulers, OneSolvesAndInvertsWithTheFactorOfTheOther) {
  const sxt_kernel &tasks = find_kernel(load_own("cholesky-tasks"), "cholesky.tasks.cpu");
  const sxt_kernel &columns = find_kernel(load_own("cholesky-columns"), "cholesky.columns.cpu");
  for (const std::int32_t factors : {SXT_FACTORS_LLH, SXT_FACTORS_LDLH}) {
    Problem one = make_cube(tasks, 9, factors), other = make_cube(columns, 9, factors);
    for (const auto &[maker, solver] : {std::pair{&one, &other}, std::pair{&other, &one}}) {
      Result r = maker->factor(2);
      ASSERT_EQ(r.failed, -1);
      for (const std::int64_t columns_of_b : {1, 11}) {
        solver->solve(r, columns_of_b, 2);
        EXPECT_LE(solver->backward_error(r.x, columns_of_b), 1);
      }
      Result own = r;
      solver->invert(r, 2);
      maker->invert(own, 2);
      EXPECT_NEAR(r.z[0], own.z[0], 1e-13);
    }
    // What a GPU's factor goes through, with memory that both reach.
    Problem host = make_cube(find_kernel(load_own("cholesky-columns"), "cholesky.columns-on-host.cuda"), 9, factors);
    Result r = one.factor(2), own = r;
    host.invert(r, 2);
    other.invert(own, 2);
    for (std::size_t k = 0; k < r.z.size(); ++k)  // beside entries of L stands what was there
      if (own.z[k] != -3) EXPECT_EQ(r.z[k], own.z[k]) << k;
  }
}

INSTANTIATE_TEST_SUITE_P(Cpu, CholeskyScheduler,
                         testing::Values(Named{"cholesky-tasks", "cholesky.tasks.cpu", 20},
                                         Named{"cholesky-columns", "cholesky.columns.cpu", 9}),
                         [](const auto &info) { return std::string(info.param.plugin + 9); });

}  // namespace
}  // namespace plugin_test
