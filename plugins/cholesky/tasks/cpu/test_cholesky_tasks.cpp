// SPDX-License-Identifier: BSD-3-Clause
// cholesky.tasks.cpu on matrices that are cut into many units and tiles: residuals, equal bits on any number of
// threads, failures under concurrency, inertia, cancelling, memory that fails.
#include <cmath>
#include <cstring>
#include <thread>

#include "plugins/cholesky/test_support.hpp"

namespace plugin_test {
namespace {

using sextant_cholesky::LowerPattern;
using sextant_cholesky::Structure;
using sextant_cholesky::StructureOptions;

const sxt_kernel &kernel() { return find_kernel(load_own("cholesky-tasks"), "cholesky.tasks.cpu"); }

void add_row(LowerPattern &a, std::initializer_list<std::int64_t> before) {
  for (const std::int64_t j : before)
    if (j >= 0) a.col.push_back(static_cast<std::int32_t>(j));
  a.col.push_back(static_cast<std::int32_t>(a.n++));
  a.row_ptr.push_back(static_cast<std::int64_t>(a.col.size()));
}
void number_entries(LowerPattern &a) {
  for (std::size_t k = 0; k < a.col.size(); ++k) a.from.push_back(static_cast<std::int64_t>(k));
}

// A 7-point stencil on a cube.
LowerPattern cube(std::int64_t side) {
  LowerPattern a;
  for (std::int64_t i = 0; i < side * side * side; ++i)
    add_row(a, {i >= side * side ? i - side * side : -1, i / side % side ? i - side : -1, i % side ? i - 1 : -1});
  number_entries(a);
  return a;
}

// Nested dissection of a box by planes.
void dissect(const std::int64_t *low, const std::int64_t *high, std::int64_t side, std::vector<std::int32_t> &order) {
  int axis = 0;
  for (int k = 1; k < 3; ++k)
    if (high[k] - low[k] > high[axis] - low[axis]) axis = k;
  std::int64_t first[3] = {low[0], low[1], low[2]}, last[3] = {high[0], high[1], high[2]};
  const std::int64_t middle = (low[axis] + high[axis]) / 2;
  if (high[axis] - low[axis] > 2) {
    last[axis] = middle;
    dissect(first, last, side, order);
    first[axis] = middle + 1, last[axis] = high[axis];
    dissect(first, last, side, order);
    first[axis] = middle, last[axis] = middle + 1;
  }
  for (std::int64_t z = first[2]; z < last[2]; ++z)
    for (std::int64_t y = first[1]; y < last[1]; ++y)
      for (std::int64_t x = first[0]; x < last[0]; ++x)
        order.push_back(static_cast<std::int32_t>((z * side + y) * side + x));
}
std::vector<std::int32_t> dissection(std::int64_t side) {
  const std::int64_t low[3] = {0, 0, 0}, high[3] = {side, side, side};
  std::vector<std::int32_t> order;
  dissect(low, high, side, order);
  return order;
}
std::vector<std::int32_t> natural(std::int64_t n) {
  std::vector<std::int32_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

// Values of a dominant diagonal, some negative where asked.
std::vector<double> values_of(const LowerPattern &a, std::int64_t negative_every = 0) {
  std::vector<double> values(a.col.size()), sum(static_cast<std::size_t>(a.n), 0.1);
  for (std::int64_t i = 0; i < a.n; ++i)
    for (std::int64_t k = a.row_ptr[i]; k + 1 < a.row_ptr[i + 1]; ++k) {
      values[k] = std::sin(static_cast<double>(k) * 0.37 + 1);
      sum[i] += std::abs(values[k]), sum[a.col[k]] += std::abs(values[k]);
    }
  for (std::int64_t i = 0; i < a.n; ++i)
    values[a.row_ptr[i + 1] - 1] = negative_every && i % negative_every == 0 ? -sum[i] : sum[i];
  return values;
}

struct Result {
  sxt_status status = SXT_OK;
  std::int64_t failed = -7, changed = -7;
  double pivot = 0;
  std::vector<double> l, x, z;
};

// One structure with its values, worked on with so many threads.
class Problem {
 public:
  Problem(LowerPattern a, std::vector<std::int32_t> order, std::vector<double> given,
          std::int32_t factors = SXT_FACTORS_LLH, std::int64_t amalgamation = 8)
      : pattern(std::move(a)),
        values(std::move(given)),
        structure(pattern, std::move(order), StructureOptions{amalgamation, 64, 0}) {
    query =
        sextant_cholesky::query_of(view(), static_cast<std::int64_t>(pattern.col.size()), SXT_F64, SXT_CHOLESKY_FACTOR);
    args.h = {sizeof args, SXT_KIND_CHOLESKY};
    args.value_type = args.value_type_a = SXT_F64;
    args.factors = query.factors = factors;
    args.n_sets = 1;
  }
  const sxt_symbolic &view() const { return structure.view(); }

  Result factor(int threads, const char *large = "dense.reference.cpu", const volatile std::int32_t *cancel = nullptr) {
    Result r;
    Scheduler scheduler(kernel(), view(), query, threads, "dense.loops.cpu", large);
    EXPECT_EQ(scheduler.status(), SXT_OK) << Host::sentence;
    factor(scheduler, r, cancel);
    return r;
  }
  void factor(Scheduler &scheduler, Result &r, const volatile std::int32_t *cancel = nullptr) {
    r.l.assign(static_cast<std::size_t>(view().values), -3);
    args.phase = SXT_CHOLESKY_FACTOR;
    args.values = values.data(), args.factor = r.l.data();
    args.failed_column = &r.failed, args.failed_pivot = &r.pivot, args.changed = &r.changed;
    r.status = scheduler.run(args, cancel);
  }
  // In r.x, of which each column is its own.
  void solve(Result &r, std::int64_t columns, int threads) {
    sxt_cholesky_query asked = query;
    asked.phase = SXT_CHOLESKY_SOLVE, asked.n_rhs = columns;
    Scheduler scheduler(kernel(), view(), asked, threads);
    r.x = right(columns);
    args.phase = SXT_CHOLESKY_SOLVE, args.factor = r.l.data();
    args.b = r.x.data(), args.ldb = pattern.n, args.n_rhs = columns;
    ASSERT_EQ(scheduler.run(args), SXT_OK) << Host::sentence;
  }
  void invert(Result &r, int threads) {
    sxt_cholesky_query asked = query;
    asked.phase = SXT_CHOLESKY_INVERSE;
    Scheduler scheduler(kernel(), view(), asked, threads);
    r.z.assign(r.l.size(), -3);
    args.phase = SXT_CHOLESKY_INVERSE, args.factor = r.l.data(), args.inverse = r.z.data();
    ASSERT_EQ(scheduler.run(args), SXT_OK) << Host::sentence;
  }
  std::vector<double> right(std::int64_t columns) const {
    std::vector<double> b(static_cast<std::size_t>(columns * pattern.n));
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = std::cos(static_cast<double>(i) * 1.3);
    return b;
  }
  // Largest |b - A x| of a column over what rounding of |A| |x| + |b| allows in so many terms.
  double backward_error(const std::vector<double> &x, std::int64_t columns) const {
    const std::vector<double> b = right(columns);
    double worst = 0;
    for (std::int64_t c = 0; c < columns; ++c) {
      std::vector<double> r(b.begin() + c * pattern.n, b.begin() + (c + 1) * pattern.n), size(r.size());
      for (std::size_t i = 0; i < r.size(); ++i) size[i] = std::abs(r[i]);
      for (std::int64_t i = 0; i < pattern.n; ++i)
        for (std::int64_t k = pattern.row_ptr[i]; k < pattern.row_ptr[i + 1]; ++k) {
          const std::int64_t j = pattern.col[k];
          const auto take = [&](std::int64_t row, std::int64_t column) {
            const double product = values[k] * x[c * pattern.n + column];
            r[row] -= product, size[row] += std::abs(product);
          };
          take(i, j);
          if (i != j) take(j, i);
        }
      for (std::size_t i = 0; i < r.size(); ++i) worst = std::max(worst, std::abs(r[i]) / size[i]);
    }
    return worst / (2.2e-16 * 64);
  }
  // Entries on and below the diagonals have equal bits.
  bool same(const std::vector<double> &a, const std::vector<double> &b) const {
    const sxt_symbolic &s = view();
    for (std::int64_t p = 0; p < s.n_super; ++p) {
      const std::int64_t rows = s.row_ptr[p + 1] - s.row_ptr[p];
      for (std::int64_t j = 0; j < s.super_ptr[p + 1] - s.super_ptr[p]; ++j) {
        const std::int64_t at = s.value_ptr[p] + j * rows + j;
        if (std::memcmp(&a[at], &b[at], static_cast<std::size_t>(rows - j) * sizeof(double)) != 0) return false;
      }
    }
    return true;
  }

  LowerPattern pattern;
  std::vector<double> values;
  Structure structure;
  sxt_cholesky_query query{};
  sxt_cholesky_args args{};
};

Problem make_cube(std::int64_t side, std::int32_t factors = SXT_FACTORS_LLH) {
  LowerPattern a = cube(side);
  std::vector<double> values = values_of(a, factors == SXT_FACTORS_LDLH ? 3 : 0);
  return Problem(std::move(a), dissection(side), std::move(values), factors);
}

TEST(CholeskyTasks, BitsAreTheSameOnAnyNumberOfThreads) {
  for (const std::int32_t factors : {SXT_FACTORS_LLH, SXT_FACTORS_LDLH}) {
    Problem problem = make_cube(21, factors);
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
  Problem problem = make_cube(18);
  Result r = problem.factor(2, "dense.openblas.cpu"), again = problem.factor(3, "dense.openblas.cpu");
  EXPECT_TRUE(problem.same(r.l, again.l));
  problem.solve(r, 1, 2);
  EXPECT_LE(problem.backward_error(r.x, 1), 1);
}

TEST(CholeskyTasks, TheInverseHasTheEntriesOfSolves) {
  Problem problem = make_cube(13);
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

TEST(CholeskyTasks, TheFirstColumnThatFailsIsNamedUnderConcurrency) {
  Problem problem = make_cube(20);
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

TEST(CholeskyTasks, PivotsHaveTheInertiaThatTheMatrixHas) {
  Problem problem = make_cube(14, SXT_FACTORS_LDLH);
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

TEST(CholeskyTasks, ShapesAtTheirLimits) {
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
    Problem problem(std::move(*a), natural(n), std::move(values));
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

TEST(CholeskyTasks, CancelledRunsSayThatAndTheNextOneWorks) {
  Problem problem = make_cube(12);
  const std::int32_t cancel = 1;
  EXPECT_EQ(problem.factor(2, "dense.loops.cpu", &cancel).status, SXT_NOT_CONVERGED);
  const Result r = problem.factor(2);
  EXPECT_EQ(r.status, SXT_OK);
  EXPECT_EQ(r.failed, -1);
}

TEST(CholeskyTasks, MemoryThatFailsInOpenIsAnError) {
  Problem problem = make_cube(8);
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

TEST(CholeskyTasks, ASessionDoesWhatItWasOpenedFor) {
  Problem problem = make_cube(5);
  Scheduler scheduler(kernel(), problem.view(), problem.query, 1);
  std::vector<double> l(static_cast<std::size_t>(problem.view().values)), b(l.size() + 200);
  problem.args.phase = SXT_CHOLESKY_SOLVE, problem.args.factor = l.data();
  problem.args.b = b.data(), problem.args.ldb = problem.pattern.n, problem.args.n_rhs = 1;
  EXPECT_EQ(scheduler.run(problem.args), SXT_E_STATE);
  problem.args.phase = 99;
  EXPECT_EQ(scheduler.run(problem.args), SXT_E_ARGUMENT);
}

TEST(CholeskyTasks, BytesAreThoseThatAreTaken) {
  const Problem problem = make_cube(16);
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
