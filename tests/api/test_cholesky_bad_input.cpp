// SPDX-License-Identifier: BSD-3-Clause
// Sparse Cholesky: what is refused, in which words, and that nothing is lost by it; files of analyses; threads.
#include <gmock/gmock.h>

#include <atomic>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/api/cholesky_support.hpp"

namespace api_test {
namespace {

using testing::HasSubstr;

class CholeskyRefuses : public testing::Test {
 protected:
  std::string said() const { return last_error(context_); }
  Context context_ = cpu();
};

// [4 1 0; 1 3 1; 0 1 -2] and its like: row 2 is not positive.
Sparse<double> with_diagonal(std::vector<double> diagonal) {
  Sparse<double> a;
  const auto n = static_cast<std::int64_t>(diagonal.size());
  a.pattern.rows = a.pattern.cols = n;
  for (std::int64_t i = 0; i < n; ++i) {
    for (const std::int64_t j : {i - 1, i, i + 1}) {
      if (j < 0 || j >= n) continue;
      a.pattern.entry(static_cast<std::int32_t>(j), 0);
      a.values.push_back(i == j ? diagonal[static_cast<std::size_t>(i)] : 1.0);
    }
    a.pattern.end_row();
  }
  return a;
}

TEST_F(CholeskyRefuses, NamesTheRowThatIsNotPositiveAndGoesOn) {
  for (const std::int32_t base : {0, 1}) {
    Sparse<double> a = with_diagonal({4, 3, 5, -2, 6});
    a.base = base;
    const Matrix matrix = a.matrix(context_);
    const std::vector<std::int64_t> natural = {0 + base, 1 + base, 2 + base, 3 + base, 4 + base};
    sxt_analysis_options options = analysis_options();
    options.permutation = natural.data();
    const Analysis analysis = analyse(matrix, &options);
    const Cholesky cholesky = cholesky_of(analysis);
    ASSERT_EQ(sxt_cholesky_factor(cholesky.get(), nullptr, nullptr), SXT_E_NOT_POSITIVE_DEFINITE);
    EXPECT_THAT(said(), HasSubstr("row " + std::to_string(3 + base)));
    EXPECT_THAT(said(), HasSubstr("(counting from " + std::to_string(base) + ")"));
    const sxt_cholesky_info info = info_of(cholesky);
    EXPECT_EQ(info.factored, 0);
    EXPECT_EQ(info.failed_row, 3 + base);
    // 4, 11/4, 51/11, then -2 - 11/51.
    EXPECT_NEAR(info.failed_pivot, -2 - 11.0 / 51, 1e-14);
    std::vector<double> b(5, 1), x(5);
    EXPECT_EQ(sxt_cholesky_solve(cholesky.get(), 5, 1, b.data(), 5, x.data(), 5, nullptr, nullptr), SXT_E_STATE);
    a.set(3, 3, 7);
    ASSERT_EQ(sxt_matrix_update_values(matrix.get(), a.values.data(), static_cast<std::int64_t>(a.values.size())),
              SXT_OK);
    ASSERT_EQ(sxt_cholesky_factor(cholesky.get(), nullptr, nullptr), SXT_OK) << said();
    ASSERT_EQ(sxt_cholesky_solve(cholesky.get(), 5, 1, b.data(), 5, x.data(), 5, nullptr, nullptr), SXT_OK);
    EXPECT_LE(a.backward_error(b.data(), x.data()), 1e-15);
    EXPECT_EQ(info_of(cholesky).failed_row, -1);
  }
}

TEST_F(CholeskyRefuses, PivotPoliciesGoOn) {
  const Sparse<double> a = with_diagonal({4, 3, 0.25, -2, 6});
  const Matrix matrix = a.matrix(context_);
  sxt_analysis_options options = analysis_options();
  options.factorization = SXT_LDLH;
  options.order = "natural";
  const Analysis plain = analyse(matrix, &options);
  const Cholesky indefinite = factored(plain);
  const sxt_cholesky_info info = info_of(indefinite);
  EXPECT_EQ(info.positive + info.negative, 5);
  EXPECT_EQ(info.changed_pivots, 0);
  options.pivot_policy = SXT_PIVOT_REPLACE;
  options.pivot_tolerance = 0.2;  // the third pivot is 1/4 - 4/11 = -0.11
  options.pivot_value = 1;
  const Analysis replacing = analyse(matrix, &options);
  const Cholesky changed = factored(replacing);
  EXPECT_EQ(info_of(changed).changed_pivots, 1);
  std::int64_t row = -1, count = 0;
  ASSERT_EQ(sxt_cholesky_changed_pivots(changed.get(), 1, &row, &count), SXT_OK);
  EXPECT_EQ(count, 1);
  EXPECT_EQ(row, 2);
}

TEST_F(CholeskyRefuses, ZeroDiagonalsAndStructurallySingularMatrices) {
  Sparse<double> a = with_diagonal({4, 0, 5});
  const Matrix zero = a.matrix(context_);
  const Analysis analysis = analyse(zero);
  const Cholesky cholesky = cholesky_of(analysis);
  EXPECT_EQ(sxt_cholesky_factor(cholesky.get(), nullptr, nullptr), SXT_E_NOT_POSITIVE_DEFINITE);
  Csr empty;  // an empty row and column
  empty.rows = empty.cols = 3;
  empty.entry(0, 2), empty.end_row(), empty.end_row(), empty.entry(2, 2), empty.end_row();
  const Matrix singular = empty.matrix(context_);
  const Analysis of_singular = analyse(singular);
  const Cholesky none = cholesky_of(of_singular);
  EXPECT_EQ(sxt_cholesky_factor(none.get(), nullptr, nullptr), SXT_E_NOT_POSITIVE_DEFINITE);
  EXPECT_THAT(said(), HasSubstr("row 1 (counting from 0) is 0"));
}

TEST_F(CholeskyRefuses, PatternsAndValuesWithoutSymmetry) {
  Csr a;
  a.rows = a.cols = 2;
  a.entry(0, 2), a.entry(1, 1), a.end_row(), a.entry(1, 2), a.end_row();
  const Matrix one_sided = a.matrix(context_);
  analyse(one_sided, nullptr, SXT_E_NOT_SYMMETRIC);
  EXPECT_THAT(said(), HasSubstr("(0, 1)"));
  Csr b;
  b.rows = b.cols = 2;
  b.entry(0, 2), b.entry(1, 1), b.end_row(), b.entry(0, 0.5), b.entry(1, 2), b.end_row();
  const Matrix uneven = b.matrix(context_);
  const Analysis analysis = analyse(uneven);
  const Cholesky cholesky = cholesky_of(analysis);
  EXPECT_EQ(sxt_cholesky_factor(cholesky.get(), nullptr, nullptr), SXT_E_NOT_SYMMETRIC);
  Csr c;
  c.rows = 2, c.cols = 3;
  c.entry(0, 1), c.end_row(), c.entry(1, 1), c.end_row();
  const Matrix wide = c.matrix(context_);
  analyse(wide, nullptr, SXT_E_NOT_SQUARE);
}

TEST_F(CholeskyRefuses, NumbersThatAreNone) {
  Sparse<double> a = with_diagonal({4, 3, 5, 6});
  a.set(2, 2, NAN);
  const Matrix matrix = a.matrix(context_, [](sxt_matrix_options &options) { options.check_finite = 0; });
  sxt_analysis_options options = analysis_options();
  for (const std::int32_t check : {0, 1}) {
    options.check_symmetry = check;
    const Analysis analysis = analyse(matrix, &options);
    const Cholesky cholesky = cholesky_of(analysis);
    EXPECT_EQ(sxt_cholesky_factor(cholesky.get(), nullptr, nullptr), SXT_E_NOT_FINITE);
    EXPECT_THAT(said(), HasSubstr(check ? "entry (2, 2) of the matrix is nan" : "row "));
    EXPECT_GE(info_of(cholesky).failed_row, 0);
    EXPECT_TRUE(std::isnan(info_of(cholesky).failed_pivot));
  }
}

TEST_F(CholeskyRefuses, OptionsWithoutMeaning) {
  const Sparse<double> a = with_diagonal({4, 3, 5});
  const Matrix matrix = a.matrix(context_);
  const std::vector<std::int64_t> twice = {0, 1, 1}, beyond = {0, 1, 3};
  const auto refused = [&](auto change, const char *words, sxt_status status = SXT_E_ARGUMENT) {
    sxt_analysis_options options = analysis_options();
    change(options);
    analyse(matrix, &options, status);
    EXPECT_THAT(said(), HasSubstr(words));
  };
  refused([&](auto &o) { o.permutation = twice.data(); }, "permutation[2] is 1, as");
  refused([&](auto &o) { o.permutation = beyond.data(); }, "permutation[2] is 3");
  refused([&](auto &o) { o.permutation = twice.data(), o.order = "natural"; }, "permutation");
  refused([&](auto &o) { o.order = "no-such"; }, "no-such", SXT_E_UNKNOWN_NAME);
  refused([&](auto &o) { o.scheduler = "no-such"; }, "no-such", SXT_E_UNKNOWN_NAME);
  refused([&](auto &o) { o.scheduler = ""; }, "scheduler is empty");
  refused([&](auto &o) { o.factorization = 3; }, "factorization is 3");
  refused([&](auto &o) { o.pivot_policy = 7; }, "pivot_policy is 7");
  refused([&](auto &o) { o.pivot_tolerance = -1; }, "pivot_tolerance");
  refused([&](auto &o) { o.n_schur = 1; }, "schur_rows is NULL");
  refused([&](auto &o) { o.n_schur = 4; }, "schur_rows");
  refused([&](auto &o) { o.expected_rhs = 0; }, "expected_rhs");
  refused([&](auto &o) { o.check_symmetry = 2; }, "check_symmetry is 2");
  refused([&](auto &o) { o.factor_precision = 4; }, "factor_precision is 4");
  refused([&](auto &o) { o.factor_precision = -1; }, "factor_precision is -1");
  refused([&](auto &o) { o.expected_factors = INFINITY; }, "expected_factors is not finite");
  refused([&](auto &o) { o.expected_solves = NAN; }, "expected_solves is not finite");
  refused([&](auto &o) { o.block = -1; }, "block");
}

TEST_F(CholeskyRefuses, ArgumentsOfSolves) {
  const Sparse<double> a = with_diagonal({4, 3, 5});
  const Matrix matrix = a.matrix(context_);
  const Analysis analysis = analyse(matrix);
  const Cholesky cholesky = factored(analysis);
  std::vector<double> b(9, 1), x(9);
  const auto solve = [&](std::int64_t n, std::int64_t n_rhs, const double *from, std::int64_t ldb, double *to,
                         std::int64_t ldx) {
    return sxt_cholesky_solve(cholesky.get(), n, n_rhs, from, ldb, to, ldx, nullptr, nullptr);
  };
  EXPECT_EQ(solve(2, 1, b.data(), 3, x.data(), 3), SXT_E_DIMENSION);
  EXPECT_EQ(solve(3, 1, b.data(), 2, x.data(), 3), SXT_E_DIMENSION);
  EXPECT_EQ(solve(3, -1, b.data(), 3, x.data(), 3), SXT_E_ARGUMENT);
  EXPECT_EQ(solve(3, 1, nullptr, 3, x.data(), 3), SXT_E_ARGUMENT);
  EXPECT_EQ(solve(3, 1, b.data(), 3, b.data() + 1, 3), SXT_E_ARGUMENT);
  EXPECT_EQ(solve(3, 1, reinterpret_cast<double *>(reinterpret_cast<char *>(b.data()) + 1), 3, x.data(), 3),
            SXT_E_ARGUMENT);
  EXPECT_EQ(solve(3, INT64_MAX / 8, b.data(), 1000, x.data(), 1000), SXT_E_OVERFLOW);
  EXPECT_EQ(solve(3, 0, nullptr, 3, nullptr, 3), SXT_OK);
  EXPECT_EQ(solve(3, 2, b.data(), 3, b.data(), 3), SXT_OK);
}

TEST_F(CholeskyRefuses, AnotherPattern) {
  const Sparse<double> a = with_diagonal({4, 3, 5, 6}), shorter = with_diagonal({4, 3, 5});
  const Matrix matrix = a.matrix(context_), other = shorter.matrix(context_);
  Csr same_count;  // as many entries, elsewhere
  same_count.rows = same_count.cols = 4;
  for (std::int32_t i = 0; i < 4; ++i) {
    if (i == 3) same_count.entry(0, 1), same_count.entry(1, 1), same_count.entry(2, 1);
    if (i != 3) same_count.entry(i, 4);
    same_count.entry(3, i == 3 ? 9 : 1), same_count.end_row();
  }
  const Matrix elsewhere = same_count.matrix(context_);
  const Analysis analysis = analyse(matrix);
  const Cholesky cholesky = cholesky_of(analysis);
  EXPECT_EQ(sxt_cholesky_factor(cholesky.get(), other.get(), nullptr), SXT_E_DIMENSION);
  EXPECT_EQ(sxt_cholesky_factor(cholesky.get(), elsewhere.get(), nullptr), SXT_E_DIMENSION);
  EXPECT_THAT(said(), HasSubstr("not in the same places"));
}

// A chain whose links lie beside the diagonal, but for one that is moved: a hash by samples of large arrays misses it.
Sparse<double> chain(std::int32_t n, std::int32_t moved) {
  std::vector<std::vector<std::int32_t>> rows(static_cast<std::size_t>(n));
  for (std::int32_t i = 0; i < n; ++i) rows[i].push_back(i);
  for (std::int32_t i = 0; i + 1 < n; i += 2) {
    const std::int32_t j = i == moved ? i + 2 : i == moved + 2 ? i - 1 : i + 1, k = i == moved + 2 ? i + 1 : i;
    rows[j].push_back(k), rows[k].push_back(j);
  }
  Sparse<double> out;
  out.pattern.rows = out.pattern.cols = n;
  for (std::int32_t i = 0; i < n; ++i) {
    std::sort(rows[i].begin(), rows[i].end());
    for (const std::int32_t j : rows[i]) out.pattern.entry(j, 0), out.values.push_back(i == j ? 4 : 1);
    out.pattern.end_row();
  }
  return out;
}

TEST_F(CholeskyRefuses, PatternsThatDifferInOnePlace) {
  constexpr std::int32_t n = 100000;
  const Matrix matrix = chain(n, -9).matrix(context_);
  const Analysis analysis = analyse(matrix);
  const Cholesky cholesky = cholesky_of(analysis);
  for (const std::int32_t moved : {100, 30002, 49998, 77778}) {
    const Matrix other = chain(n, moved).matrix(context_);
    EXPECT_EQ(sxt_cholesky_factor(cholesky.get(), other.get(), nullptr), SXT_E_DIMENSION) << moved;
  }
}

// One triangle was given, so that values need not be compared; but what it means is not Hermitian.
TEST_F(CholeskyRefuses, TrianglesThatStandForOtherMatrices) {
  using C = std::complex<double>;
  Sparse<C> a;  // [4 i; i 4], complex symmetric
  a.pattern.rows = a.pattern.cols = 2;
  a.pattern.entry(0, 0), a.pattern.end_row(), a.pattern.entry(0, 0), a.pattern.entry(1, 0), a.pattern.end_row();
  a.values = {C(4), C(0, 1), C(4)};
  Sparse<double> b;  // [0 -1; 1 0], skew
  b.pattern.rows = b.pattern.cols = 2;
  b.pattern.end_row(), b.pattern.entry(0, 0), b.pattern.end_row();
  b.values = {1};
  const auto stated = [](sxt_symmetry symmetry) {
    return [symmetry](sxt_matrix_options &options) { options.symmetry = symmetry, options.triangle = SXT_LOWER; };
  };
  const Matrix symmetric = a.matrix(context_, stated(SXT_SYMMETRIC)), skew = b.matrix(context_, stated(SXT_SKEW));
  for (const Matrix *each : {&symmetric, &skew}) {
    const Analysis analysis = analyse(*each);
    const Cholesky cholesky = cholesky_of(analysis);
    EXPECT_EQ(sxt_cholesky_factor(cholesky.get(), nullptr, nullptr), SXT_E_NOT_SYMMETRIC);
  }
}

TEST_F(CholeskyRefuses, AnotherMatrixKeepsTheFactor) {
  const Sparse<double> a = with_diagonal({4, 3, 5, 6}), shorter = with_diagonal({4, 3, 5});
  const Matrix matrix = a.matrix(context_), other = shorter.matrix(context_);
  const Analysis analysis = analyse(matrix);
  const Cholesky cholesky = factored(analysis);
  EXPECT_EQ(sxt_cholesky_factor(cholesky.get(), other.get(), nullptr), SXT_E_DIMENSION);
  EXPECT_EQ(info_of(cholesky).factored, 1);
}

// Residuals are those of the matrix that was factored last, also where another one stood at its address.
TEST(CholeskyRefines, TheMatrixThatWasFactoredLast) {
  const Context context = cpu();
  constexpr std::int64_t n = 200;
  Sparse<double> a = random_sparse<double>(n, 4, 3);
  const Matrix first = a.matrix(context);
  const Analysis analysis = analyse(first);
  const Cholesky cholesky = factored(analysis);
  const std::vector<double> b = random_vector<double>(n, 1);
  sxt_cholesky_solve_options options;
  sxt_cholesky_solve_options_init(&options, sizeof options);
  options.refine_steps = 3;
  for (int turn = 0; turn < 8; ++turn) {
    for (double &each : a.values) each *= 1.5;
    const Matrix next = a.matrix(context);
    ASSERT_EQ(sxt_cholesky_factor(cholesky.get(), next.get(), nullptr), SXT_OK);
    if (turn % 3 == 1) continue;  // factored, and never refined
    std::vector<double> x(n);
    sxt_cholesky_solve_report report{};
    report.struct_size = sizeof report;
    ASSERT_EQ(sxt_cholesky_solve(cholesky.get(), n, 1, b.data(), n, x.data(), n, &options, &report), SXT_OK);
    EXPECT_LE(a.backward_error(b.data(), x.data()), 1e-15);
    EXPECT_LE(report.residual, 1e-14);
  }
}

TEST_F(CholeskyRefuses, MoreMemoryThanTheCallerAllows) {
  const Sparse<double> a = random_sparse<double>(200, 4, 3);
  const Matrix matrix = a.matrix(context_);
  sxt_analysis_options options = analysis_options();
  options.memory_limit = 1000;
  const Analysis analysis = analyse(matrix, &options);
  EXPECT_GT(info_of(analysis).factor_bytes, 1000u);
  cholesky_of(analysis, SXT_E_MEMORY);
  EXPECT_THAT(said(), HasSubstr("bytes are missing"));
}

TEST_F(CholeskyRefuses, CancelledFactorisationsLeaveNoFactor) {
  const Sparse<double> a = random_sparse<double>(300, 4, 3);
  const Matrix matrix = a.matrix(context_);
  const Analysis analysis = analyse(matrix);
  const Cholesky cholesky = factored(analysis);
  const std::int32_t cancel = 1;
  sxt_factor_options options;
  sxt_factor_options_init(&options, sizeof options);
  options.cancel = &cancel;
  EXPECT_EQ(sxt_cholesky_factor(cholesky.get(), nullptr, &options), SXT_NOT_CONVERGED);
  EXPECT_THAT(said(), HasSubstr("cancelled"));
  EXPECT_EQ(info_of(cholesky).factored, 0);
  EXPECT_EQ(sxt_cholesky_factor(cholesky.get(), nullptr, nullptr), SXT_OK);
}

class AnalysisFiles : public testing::Test {
 protected:
  void SetUp() override { path_ = testing::TempDir() + "analysis-" + std::to_string(::getpid()); }
  void TearDown() override { std::remove(path_.c_str()); }
  Analysis load(const Matrix &a, sxt_status expected) {
    return make<Analysis>([&](sxt_analysis **out) { return sxt_analysis_load(a.get(), path_.c_str(), nullptr, out); },
                          expected);
  }
  Context context_ = cpu();
  std::string path_;
};

TEST_F(AnalysisFiles, GiveTheSameFactorAndRefuseWhatTheyAreNot) {
  const Sparse<double> a = random_sparse<double>(120, 4, 3), other = random_sparse<double>(120, 4, 4);
  const Matrix matrix = a.matrix(context_), another = other.matrix(context_);
  const Analysis analysis = analyse(matrix);
  ASSERT_EQ(sxt_analysis_save(analysis.get(), path_.c_str()), SXT_OK) << sxt_last_error(nullptr);
  const Analysis loaded = load(matrix, SXT_OK);
  EXPECT_EQ(info_of(loaded).nnz_l, info_of(analysis).nnz_l);
  const std::vector<double> b = random_vector<double>(120, 1);
  std::vector<double> x(120), y(120);
  const Cholesky first = factored(analysis), second = factored(loaded);
  ASSERT_EQ(sxt_cholesky_solve(first.get(), 120, 1, b.data(), 120, x.data(), 120, nullptr, nullptr), SXT_OK);
  ASSERT_EQ(sxt_cholesky_solve(second.get(), 120, 1, b.data(), 120, y.data(), 120, nullptr, nullptr), SXT_OK);
  EXPECT_EQ(x, y);
  load(another, SXT_E_PLAN);
  std::ifstream in(path_, std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(in)), {});
  for (const std::size_t at : {std::size_t{0}, whole.size() / 3, whole.size() / 2, whole.size() - 1}) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 4);
    std::ofstream(path_, std::ios::binary) << damaged;
    load(matrix, SXT_E_PLAN);
    EXPECT_THAT(last_error(context_), HasSubstr(path_));
    std::ofstream(path_, std::ios::binary) << whole.substr(0, at);
    load(matrix, SXT_E_PLAN);
  }
  std::filesystem::remove(path_);
  load(matrix, SXT_E_FILE_READ);
}

TEST(CholeskyThreads, ManyFactorsOfOneAnalysisAndManySolvesOfOneFactor) {
  const Context context = cpu();
  constexpr std::int64_t n = 300;
  constexpr int threads = 6;
  const Sparse<double> a = random_sparse<double>(n, 4, 3);
  const Matrix matrix = a.matrix(context);
  const Analysis analysis = analyse(matrix);
  const Cholesky shared = factored(analysis);
  std::atomic<int> wrong{0};
  std::vector<std::thread> workers;
  for (int t = 0; t < threads; ++t)
    workers.emplace_back([&, t] {
      const Cholesky own = cholesky_of(analysis);
      const std::vector<double> b = random_vector<double>(n, static_cast<unsigned>(t));
      std::vector<double> x(n);
      for (int turn = 0; turn < 20; ++turn) {
        if (sxt_cholesky_factor(own.get(), nullptr, nullptr) != SXT_OK) ++wrong;
        for (const Cholesky *each : {&own, &shared}) {
          if (sxt_cholesky_solve(each->get(), n, 1, b.data(), n, x.data(), n, nullptr, nullptr) != SXT_OK) ++wrong;
          if (!(a.backward_error(b.data(), x.data()) < 1e-14)) ++wrong;
        }
      }
    });
  for (std::thread &each : workers) each.join();
  EXPECT_EQ(wrong, 0);
}

TEST(CholeskyThreads, EqualBitsForEveryNumberOfThreads) {
  constexpr std::int64_t n = 400;
  const Sparse<double> a = random_sparse<double>(n, 4, 3);
  const std::vector<double> b = random_vector<double>(3 * n, 1);
  std::vector<double> first;
  for (const int threads : {1, 2, 5}) {
    const Context context = cpu(threads, true);
    const Matrix matrix = a.matrix(context);
    const Analysis analysis = analyse(matrix);
    const Cholesky cholesky = factored(analysis);
    std::vector<double> x(3 * n);
    ASSERT_EQ(sxt_cholesky_solve(cholesky.get(), n, 3, b.data(), n, x.data(), n, nullptr, nullptr), SXT_OK);
    if (first.empty()) first = x;
    EXPECT_EQ(x, first) << threads;
  }
}

}  // namespace
}  // namespace api_test
