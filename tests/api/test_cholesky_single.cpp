// SPDX-License-Identifier: BSD-3-Clause
// Factors in single precision whose solutions have the accuracy of the working one: where they serve, where the factor
// is made again, what they say of themselves, and what they refuse.
#include <gmock/gmock.h>

#include <atomic>
#include <cmath>
#include <thread>

#include "tests/api/cholesky_support.hpp"

namespace api_test {
namespace {

using testing::HasSubstr;

sxt_analysis_options in(sxt_factor_precision precision, sxt_factorization factorization = SXT_LLH) {
  sxt_analysis_options options = analysis_options();
  options.factor_precision = precision;
  options.factorization = factorization;
  return options;
}
sxt_cholesky_solve_report report_of(const Cholesky &cholesky, std::int64_t n, std::int64_t n_rhs, const void *b,
                                    void *x, sxt_status expected = SXT_OK) {
  sxt_cholesky_solve_report report{};
  report.struct_size = sizeof report;
  EXPECT_EQ(sxt_cholesky_solve(cholesky.get(), n, n_rhs, b, n, x, n, nullptr, &report), expected)
      << sxt_last_error(nullptr);
  return report;
}

// Dense and symmetric: number (i, j) is entry(i, j).
template <class T, class F>
Sparse<T> dense(std::int64_t n, F &&entry) {
  Sparse<T> a;
  a.pattern.rows = a.pattern.cols = n;
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j)
      a.pattern.entry(static_cast<std::int32_t>(j), 0), a.values.push_back(T(entry(i, j)));
    a.pattern.end_row();
  }
  return a;
}
// Condition numbers: 1.6e4 of order 4, 1.6e13 of order 10.
template <class T>
Sparse<T> hilbert(std::int64_t n) {
  return dense<T>(n, [](std::int64_t i, std::int64_t j) { return 1 / static_cast<double>(i + j + 1); });
}

template <class T>
class CholeskySingle : public testing::Test {
 protected:
  static constexpr sxt_value_type narrow = code<T>() == SXT_F64 ? SXT_F32 : SXT_C64;
  static constexpr double eps = 0x1p-52;
  Context context_ = cpu();

  // x of one right-hand side, with what the solve and the factor say.
  struct Solved {
    std::vector<T> b, x;
    sxt_cholesky_solve_report report;
    sxt_cholesky_info info;
    double error;
  };
  Solved solved(const Sparse<T> &a, sxt_factor_precision precision = SXT_PRECISION_SINGLE) {
    const Matrix matrix = a.matrix(context_);
    const sxt_analysis_options options = in(precision);
    const Cholesky cholesky = factored(analyse(matrix, &options));
    Solved out{random_vector<T>(a.n(), 4), std::vector<T>(static_cast<std::size_t>(a.n())), {}, {}, 0};
    out.report = report_of(cholesky, a.n(), 1, out.b.data(), out.x.data());
    out.info = info_of(cholesky);
    out.error = a.backward_error(out.b.data(), out.x.data());
    return out;
  }
};
using Types = testing::Types<double, std::complex<double>>;
TYPED_TEST_SUITE(CholeskySingle, Types);

TYPED_TEST(CholeskySingle, SolvesEverySizeToTheWorkingPrecision) {
  using T = TypeParam;
  for (const std::int64_t n : {0, 1, 2, 10, 300})
    for (const sxt_factorization factorization : {SXT_LLH, SXT_LDLH})
      for (const std::int64_t n_rhs : {1, 3, 70}) {
        std::vector<int> sign(static_cast<std::size_t>(n), 1);
        for (std::size_t i = 1; i < sign.size() && factorization == SXT_LDLH; i += 2) sign[i] = -1;
        const auto a = random_sparse<T>(n, 3, 7, sign);
        const sxt_analysis_options options = in(SXT_PRECISION_SINGLE, factorization);
        const Matrix matrix = a.matrix(this->context_);
        const Analysis analysis = analyse(matrix, &options);
        EXPECT_EQ(info_of(analysis).factor_type, this->narrow);
        const Cholesky cholesky = factored(analysis);
        std::vector<T> x = random_vector<T>(n * n_rhs, 3);
        const std::vector<T> b = x;
        const sxt_cholesky_solve_report report = report_of(cholesky, n, n_rhs, x.data(), x.data());
        for (std::int64_t j = 0; j < n_rhs; ++j)
          EXPECT_LE(a.backward_error(&b[j * n], &x[j * n]), 20 * this->eps) << n << ", " << factorization;
        EXPECT_EQ(info_of(cholesky).factor_type, this->narrow);
        EXPECT_EQ(info_of(cholesky).repeated, 0);
        EXPECT_EQ(report.repeated, 0);
        EXPECT_LE(report.residual, 1e-14);
        if (n > 2) {
          EXPECT_GE(report.refined, 1) << "single precision alone is not enough";
        }
      }
}

TYPED_TEST(CholeskySingle, IsMadeAgainForMatricesThatAreTooBadlyConditioned) {
  using T = TypeParam;
  const auto mild = this->solved(hilbert<T>(4)), bad = this->solved(hilbert<T>(10));
  EXPECT_EQ(mild.info.repeated, 0);
  EXPECT_LE(mild.error, 20 * this->eps);
  EXPECT_EQ(bad.info.repeated, 1);
  EXPECT_EQ(bad.info.factor_type, code<T>());
  EXPECT_LE(bad.error, 20 * this->eps);
}

// The factorisation in single precision succeeds, and its solves do not contract: rounded to f32, the gap between the
// first two rows is a hundred times as wide as it is.
TYPED_TEST(CholeskySingle, IsMadeAgainInASolveThatDoesNotContract) {
  using T = TypeParam;
  const auto a = dense<T>(3, [](std::int64_t i, std::int64_t j) {
    return i == j ? 1 + 6e-8 : i + j == 1 ? 1 + 5.9e-8 : 0.5;
  });
  const Matrix matrix = a.matrix(this->context_);
  const sxt_analysis_options options = in(SXT_PRECISION_SINGLE);
  const Cholesky cholesky = cholesky_of(analyse(matrix, &options));
  ASSERT_EQ(sxt_cholesky_factor(cholesky.get(), nullptr, nullptr), SXT_OK) << sxt_last_error(nullptr);
  ASSERT_EQ(info_of(cholesky).repeated, 0) << "a factorisation alone does not see it";
  std::vector<T> b = {T(1), T(-1), T(3)}, x(3);
  const sxt_cholesky_solve_report report = report_of(cholesky, 3, 1, b.data(), x.data());
  EXPECT_EQ(info_of(cholesky).repeated, 1);
  EXPECT_EQ(report.repeated, 1);
  EXPECT_LE(a.backward_error(b.data(), x.data()), 20 * this->eps);
  report_of(cholesky, 3, 1, b.data(), x.data());  // it stays there
  EXPECT_LE(a.backward_error(b.data(), x.data()), 20 * this->eps);
  ASSERT_EQ(sxt_cholesky_factor(cholesky.get(), nullptr, nullptr), SXT_OK);
  EXPECT_EQ(info_of(cholesky).factor_type, code<T>()) << "also the next factor";
}

TYPED_TEST(CholeskySingle, ServesValuesOfAnySize) {
  using T = TypeParam;
  for (const double size : {1e-300, 1e-60, 1e60, 1e290}) {
    auto a = random_sparse<T>(60, 3, 7);
    for (T &each : a.values) each *= size;
    const auto out = this->solved(a);
    EXPECT_EQ(out.info.repeated, 0) << size;
    EXPECT_LE(out.error, 20 * this->eps) << size;
  }
}

// D A D: rows that differ by 14 decades are scaled alike, by 40 they are not.
TYPED_TEST(CholeskySingle, ScalesRowsOfDifferentSizes) {
  using T = TypeParam;
  for (const int decades : {7, 40}) {
    auto a = random_sparse<T>(60, 3, 7);
    for (std::int64_t i = 0; i < a.n(); ++i)
      for (std::int32_t k = a.pattern.ptr[i]; k < a.pattern.ptr[i + 1]; ++k)
        a.values[k] *= std::pow(10.0, i % 3 * decades) * std::pow(10.0, a.pattern.col[k] % 3 * decades);
    const auto out = this->solved(a);
    EXPECT_EQ(out.info.repeated, decades == 40) << decades;
    EXPECT_LE(out.error, 20 * this->eps) << decades;
  }
}

TYPED_TEST(CholeskySingle, RightHandSidesOfSizesFarApart) {
  using T = TypeParam;
  constexpr std::int64_t n = 90, columns = 70;
  const auto a = random_sparse<T>(n, 4, 5);
  const Matrix matrix = a.matrix(this->context_);
  const sxt_analysis_options options = in(SXT_PRECISION_SINGLE);
  const Cholesky cholesky = factored(analyse(matrix, &options));
  std::vector<T> b = random_vector<T>(n * columns, 8), x(b.size());
  for (std::int64_t j = 0; j < columns; ++j)
    for (std::int64_t i = 0; i < n; ++i) b[j * n + i] *= j == 0 ? 0 : std::pow(10.0, (j % 13 - 6) * 20);
  report_of(cholesky, n, columns, b.data(), x.data());
  EXPECT_EQ(info_of(cholesky).repeated, 0);
  for (std::int64_t i = 0; i < n; ++i) EXPECT_EQ(x[i], T(0));
  for (std::int64_t j = 1; j < columns; ++j) EXPECT_LE(a.backward_error(&b[j * n], &x[j * n]), 20 * this->eps) << j;
}

TYPED_TEST(CholeskySingle, NamesRowsAndPivotsAsTheWorkingPrecisionDoes) {
  using T = TypeParam;
  auto bad = random_sparse<T>(80, 3, 7);
  const auto good = bad;
  bad.set(33, 33, T(-3));
  const Matrix matrix = bad.matrix(this->context_), right = good.matrix(this->context_);
  const sxt_analysis_options single = in(SXT_PRECISION_SINGLE);
  const Cholesky one = cholesky_of(analyse(matrix, &single)), two = cholesky_of(analyse(matrix));
  EXPECT_EQ(sxt_cholesky_factor(one.get(), nullptr, nullptr), SXT_E_NOT_POSITIVE_DEFINITE);
  EXPECT_EQ(sxt_cholesky_factor(two.get(), nullptr, nullptr), SXT_E_NOT_POSITIVE_DEFINITE);
  EXPECT_EQ(info_of(one).failed_row, info_of(two).failed_row);
  EXPECT_EQ(info_of(one).failed_pivot, info_of(two).failed_pivot);
  ASSERT_EQ(sxt_cholesky_factor(one.get(), right.get(), nullptr), SXT_OK) << sxt_last_error(nullptr);
  EXPECT_EQ(info_of(one).factor_type, this->narrow) << "what failed in both says nothing against single precision";
}

TYPED_TEST(CholeskySingle, NumbersThatAreNotFinite) {
  using T = TypeParam;
  auto a = random_sparse<T>(50, 3, 7);
  const auto good = a;
  a.set(20, 20, T(NAN));
  const auto unchecked = [](sxt_matrix_options &options) { options.check_finite = 0; };
  const Matrix matrix = a.matrix(this->context_, unchecked), right = good.matrix(this->context_);
  sxt_analysis_options options = in(SXT_PRECISION_SINGLE);
  options.check_symmetry = 0;
  const Cholesky cholesky = cholesky_of(analyse(matrix, &options));
  EXPECT_EQ(sxt_cholesky_factor(cholesky.get(), nullptr, nullptr), SXT_E_NOT_FINITE);
  EXPECT_EQ(info_of(cholesky).factored, 0);
  ASSERT_EQ(sxt_cholesky_factor(cholesky.get(), right.get(), nullptr), SXT_OK) << sxt_last_error(nullptr);
  std::vector<T> b = random_vector<T>(50, 1), x(50, T(7));
  b[13] = T(INFINITY);
  report_of(cholesky, 50, 1, b.data(), x.data(), SXT_E_NOT_FINITE);
  EXPECT_EQ(info_of(cholesky).repeated, 0);
}

TYPED_TEST(CholeskySingle, SaysOfAWhatSinglePrecisionKnows) {
  using T = TypeParam;
  auto a = random_sparse<T>(70, 3, 7);
  for (std::int64_t i = 0; i < a.n(); ++i)  // rows of different sizes: scales are taken out again
    for (std::int32_t k = a.pattern.ptr[i]; k < a.pattern.ptr[i + 1]; ++k)
      a.values[k] *= std::ldexp(1.0, static_cast<int>(i % 5 + a.pattern.col[k] % 5));
  const Matrix matrix = a.matrix(this->context_);
  const sxt_analysis_options single = in(SXT_PRECISION_SINGLE);
  const Cholesky one = factored(analyse(matrix, &single)), two = factored(analyse(matrix));
  const sxt_cholesky_info got = info_of(one), want = info_of(two);
  EXPECT_NEAR(got.log_determinant, want.log_determinant, 1e-5);
  EXPECT_EQ(got.positive, want.positive);
  EXPECT_EQ(got.sign, want.sign);
  EXPECT_NEAR(got.least_pivot / want.least_pivot, 1, 1e-5);
  std::vector<double> p(70), q(70);
  ASSERT_EQ(sxt_cholesky_diagonal(one.get(), 70, p.data()), SXT_OK);
  ASSERT_EQ(sxt_cholesky_diagonal(two.get(), 70, q.data()), SXT_OK);
  for (std::size_t i = 0; i < p.size(); ++i) EXPECT_NEAR(p[i] / q[i], 1, 1e-5);
  double r = 0, s = 0;
  ASSERT_EQ(sxt_cholesky_rcond(one.get(), &r), SXT_OK);
  ASSERT_EQ(sxt_cholesky_rcond(two.get(), &s), SXT_OK);
  EXPECT_NEAR(r / s, 1, 1e-10) << "by solves, which are refined";
  std::vector<std::int64_t> rows(70), cols(70);
  std::iota(rows.begin(), rows.end(), 0), cols = rows;
  rows.push_back(a.pattern.col[0]), cols.push_back(0);
  std::vector<T> u(rows.size()), v(rows.size());
  const auto count = static_cast<std::int64_t>(rows.size());
  ASSERT_EQ(sxt_cholesky_inverse(one.get(), count, rows.data(), cols.data(), u.data()), SXT_OK);
  ASSERT_EQ(sxt_cholesky_inverse(two.get(), count, rows.data(), cols.data(), v.data()), SXT_OK);
  for (std::size_t k = 0; k < u.size(); ++k) EXPECT_LE(std::abs(u[k] - v[k]), 1e-5 * std::abs(v[k])) << k;
}

TYPED_TEST(CholeskySingle, EqualBitsForEveryNumberOfThreads) {
  using T = TypeParam;
  constexpr std::int64_t n = 400;
  const auto a = random_sparse<T>(n, 4, 3);
  const std::vector<T> b = random_vector<T>(3 * n, 1);
  std::vector<T> first;
  for (const int threads : {1, 2, 5}) {
    const Context context = cpu(threads, true);
    const Matrix matrix = a.matrix(context);
    const sxt_analysis_options options = in(SXT_PRECISION_SINGLE);
    const Cholesky cholesky = factored(analyse(matrix, &options));
    std::vector<T> x(3 * n);
    report_of(cholesky, n, 3, b.data(), x.data());
    if (first.empty()) first = x;
    EXPECT_EQ(x, first) << threads;
  }
}

class CholeskyOfOnePrecision : public testing::Test {
 protected:
  Context context_ = cpu();
};

TEST_F(CholeskyOfOnePrecision, RefusesWhatItCannotRefine) {
  const auto a = random_sparse<double>(40, 3, 7);
  const Matrix matrix = a.matrix(context_);
  const std::int64_t row = 3;
  const auto refused = [&](auto change, const char *words) {
    for (const sxt_factor_precision precision : {SXT_PRECISION_SINGLE, SXT_PRECISION_ROUNDED}) {
      sxt_analysis_options options = in(precision);
      change(options);
      analyse(matrix, &options, SXT_E_ARGUMENT);
      EXPECT_THAT(last_error(context_), HasSubstr(words));
    }
    sxt_analysis_options options = in(SXT_PRECISION_AUTO);
    change(options);
    EXPECT_EQ(info_of(analyse(matrix, &options)).factor_type, SXT_F64);
  };
  refused([&](auto &o) { o.schur_rows = &row, o.n_schur = 1; }, "options->schur_rows");
  refused([](auto &o) { o.pivot_policy = SXT_PIVOT_PERTURB; }, "options->pivot_policy");
  refused([](auto &o) { o.pivot_tolerance = 1e-8; }, "options->pivot_tolerance");
  const sxt_analysis_options options = in(SXT_PRECISION_SINGLE);
  const Cholesky cholesky = factored(analyse(matrix, &options));
  sxt_cholesky_solve_options solve;
  sxt_cholesky_solve_options_init(&solve, sizeof solve);
  std::vector<double> x(40, 1);
  for (const sxt_cholesky_step step : {SXT_STEP_FORWARD, SXT_STEP_DIAGONAL, SXT_STEP_BACKWARD}) {
    solve.step = step;
    EXPECT_EQ(sxt_cholesky_solve(cholesky.get(), 40, 1, x.data(), 40, x.data(), 40, &solve, nullptr),
              SXT_E_NOT_SUPPORTED);
    EXPECT_THAT(last_error(context_), HasSubstr("SXT_PRECISION_WORKING"));
  }
  std::vector<double> values = a.values;
  for (double &each : values) each *= 2;
  ASSERT_EQ(sxt_matrix_update_values(matrix.get(), values.data(), static_cast<std::int64_t>(values.size())), SXT_OK);
  report_of(cholesky, 40, 1, x.data(), x.data(), SXT_E_STATE);
}

TEST_F(CholeskyOfOnePrecision, IsTheOnlyOneOfSingleMatrices) {
  const auto a = random_sparse<float>(40, 3, 7);
  const Matrix matrix = a.matrix(context_);
  const sxt_analysis_options options = in(SXT_PRECISION_SINGLE);
  const Analysis analysis = analyse(matrix, &options);
  EXPECT_EQ(info_of(analysis).factor_type, SXT_F32);
  const Cholesky cholesky = factored(analysis);
  std::vector<float> b(40, 1), x(40);
  EXPECT_EQ(report_of(cholesky, 40, 1, b.data(), x.data()).refined, 0) << "as ever";
}

TEST_F(CholeskyOfOnePrecision, TakesHalfOfTheMemory) {
  const auto a = random_sparse<double>(300, 4, 3);
  const Matrix matrix = a.matrix(context_);
  const sxt_analysis_options single = in(SXT_PRECISION_SINGLE), rounded = in(SXT_PRECISION_ROUNDED);
  const std::uint64_t whole = info_of(analyse(matrix)).factor_bytes;
  EXPECT_EQ(info_of(analyse(matrix, &single)).factor_bytes, whole / 2);
  EXPECT_EQ(info_of(analyse(matrix, &rounded)).factor_bytes, whole / 2);
}

TEST_F(CholeskyOfOnePrecision, AutoSaysWhatItChoseAndSolvesEitherWay) {
  const auto a = random_sparse<double>(300, 4, 3);
  const Matrix matrix = a.matrix(context_);
  sxt_analysis_options options = in(SXT_PRECISION_AUTO);
  const auto told = [&](const Analysis &analysis) {
    std::string text(20000, ' ');
    std::int64_t length = 0;
    EXPECT_EQ(sxt_analysis_explain(analysis.get(), SXT_TEXT, text.data(), 20000, &length), SXT_OK);
    return text.substr(0, static_cast<std::size_t>(length));
  };
  for (const double solves : {1.0, 1e6}) {
    options.expected_solves = solves;
    const Analysis analysis = analyse(matrix, &options);
    EXPECT_THAT(told(analysis), HasSubstr("precision: "));
    const Cholesky cholesky = factored(analysis);
    const std::vector<double> b = random_vector<double>(300, 1);
    std::vector<double> x(300);
    report_of(cholesky, 300, 1, b.data(), x.data());
    EXPECT_LE(a.backward_error(b.data(), x.data()), 1e-14);
    if (solves > 1) {
      EXPECT_EQ(info_of(analysis).factor_type, SXT_F64) << "three solves for one do not pay";
    }
  }
}

TEST_F(CholeskyOfOnePrecision, ARealStructure) {
  const Matrix matrix = make<Matrix>([&](sxt_matrix **out) {
    return sxt_matrix_from_file(context_.get(), SEXTANT_TEST_DATA "/bcsstk16.mtx.gz", nullptr, out);
  });
  const sxt_analysis_options options = in(SXT_PRECISION_SINGLE);
  const Cholesky cholesky = factored(analyse(matrix, &options));
  constexpr std::int64_t n = 4884;
  const std::vector<double> b = random_vector<double>(n, 1);
  std::vector<double> x(n);
  const sxt_cholesky_solve_report report = report_of(cholesky, n, 1, b.data(), x.data());
  EXPECT_LE(report.residual, 1e-9) << "its condition is 5e9";
  EXPECT_GE(report.refined + report.repeated, 1);
}

TEST_F(CholeskyOfOnePrecision, IsCancelled) {
  const auto a = random_sparse<double>(300, 4, 3);
  const Matrix matrix = a.matrix(context_);
  const sxt_analysis_options options = in(SXT_PRECISION_SINGLE);
  const Cholesky cholesky = factored(analyse(matrix, &options));
  const std::int32_t cancel = 1;
  sxt_cholesky_solve_options solve;
  sxt_cholesky_solve_options_init(&solve, sizeof solve);
  solve.cancel = &cancel;
  std::vector<double> x(300, 1);
  EXPECT_EQ(sxt_cholesky_solve(cholesky.get(), 300, 1, x.data(), 300, x.data(), 300, &solve, nullptr),
            SXT_NOT_CONVERGED);
  sxt_factor_options factor;
  sxt_factor_options_init(&factor, sizeof factor);
  factor.cancel = &cancel;
  EXPECT_EQ(sxt_cholesky_factor(cholesky.get(), nullptr, &factor), SXT_NOT_CONVERGED);
  EXPECT_EQ(info_of(cholesky).factored, 0);
  ASSERT_EQ(sxt_cholesky_factor(cholesky.get(), nullptr, nullptr), SXT_OK);
  EXPECT_EQ(info_of(cholesky).factor_type, SXT_F32);
}

// All threads meet the factor that does not serve: one makes it again, and all answers are good.
TEST_F(CholeskyOfOnePrecision, ManyThreadsSolveWithAFactorThatIsMadeAgain) {
  const auto a = hilbert<double>(7);  // condition 5e8: single precision factors it, or does not
  const Matrix matrix = a.matrix(context_);
  const sxt_analysis_options options = in(SXT_PRECISION_SINGLE);
  const Analysis analysis = analyse(matrix, &options);
  for (int round = 0; round < 10; ++round) {
    const Cholesky cholesky = factored(analysis);
    std::atomic<int> wrong{0};
    std::vector<std::thread> workers;
    for (unsigned t = 0; t < 6; ++t)
      workers.emplace_back([&, t] {
        const std::vector<double> b = random_vector<double>(7, t);
        std::vector<double> x(7);
        for (int turn = 0; turn < 5; ++turn) {
          if (sxt_cholesky_solve(cholesky.get(), 7, 1, b.data(), 7, x.data(), 7, nullptr, nullptr) != SXT_OK) ++wrong;
          if (!(a.backward_error(b.data(), x.data()) < 1e-14)) ++wrong;
          sxt_cholesky_info info{};
          info.struct_size = sizeof info;
          if (sxt_cholesky_get_info(cholesky.get(), &info) != SXT_OK || info.positive != 7) ++wrong;
        }
      });
    for (std::thread &each : workers) each.join();
    EXPECT_EQ(wrong, 0);
  }
}

TEST(CholeskySingleMemory, IsTakenOnceForManySolves) {
  Lender lender;
  const Context context = lender.context();
  const auto a = random_sparse<double>(60, 3, 7);
  const Matrix matrix = a.matrix(context);
  const sxt_analysis_options options = in(SXT_PRECISION_SINGLE);
  const Cholesky cholesky = factored(analyse(matrix, &options));
  std::vector<double> b = random_vector<double>(120, 1), x(120);
  report_of(cholesky, 60, 2, b.data(), x.data());
  const std::int64_t before = lender.calls;
  for (int turn = 0; turn < 100; ++turn) {
    ASSERT_EQ(sxt_cholesky_factor(cholesky.get(), nullptr, nullptr), SXT_OK);
    report_of(cholesky, 60, 2, b.data(), x.data());
  }
  EXPECT_GT(before, 0);
  EXPECT_EQ(lender.calls, before);
}

// Memory is short once, at every allocation of a program: an error says so, or the answer is good, and all is given
// back.
TEST(CholeskySingleMemory, IsShortAtEveryAllocation) {
  for (const std::int64_t order : {4, 10}) {  // served by single precision, and not
    const auto a = hilbert<double>(order);
    const auto n = order;
    std::int64_t calls = 0;
    for (std::int64_t fail_at = 0; fail_at <= calls; ++fail_at) {
      Lender lender;
      {
        lender.fail_at = 0;
        const Context context = lender.context();
        const Matrix matrix = a.matrix(context);
        const std::int64_t before = lender.calls;
        lender.fail_at = fail_at > 0 ? before + fail_at : 0;
        const sxt_analysis_options options = in(SXT_PRECISION_SINGLE);
        sxt_analysis *analysis = nullptr;
        sxt_cholesky *cholesky = nullptr;
        sxt_status status = sxt_analysis_create(matrix.get(), &options, &analysis);
        if (status == SXT_OK) status = sxt_cholesky_create(analysis, &cholesky);
        if (status == SXT_OK) status = sxt_cholesky_factor(cholesky, nullptr, nullptr);
        const std::vector<double> b = random_vector<double>(n, 3);
        std::vector<double> x(static_cast<std::size_t>(n), 0);
        if (status == SXT_OK) status = sxt_cholesky_solve(cholesky, n, 1, b.data(), n, x.data(), n, nullptr, nullptr);
        if (fail_at == 0) calls = lender.calls - before;
        if (status == SXT_OK) {
          EXPECT_LE(a.backward_error(b.data(), x.data()), 20 * 0x1p-52) << fail_at;
        } else {
          EXPECT_EQ(status, SXT_E_MEMORY) << fail_at << ": " << sxt_last_error(context.get());
        }
        if (cholesky && status != SXT_OK) {  // what was short once is there now
          EXPECT_EQ(sxt_cholesky_factor(cholesky, nullptr, nullptr), SXT_OK) << sxt_last_error(context.get());
          EXPECT_EQ(sxt_cholesky_solve(cholesky, n, 1, b.data(), n, x.data(), n, nullptr, nullptr), SXT_OK);
          EXPECT_LE(a.backward_error(b.data(), x.data()), 20 * 0x1p-52) << fail_at;
        }
        sxt_cholesky_destroy(cholesky), sxt_analysis_destroy(analysis);
      }
      EXPECT_EQ(lender.held, 0) << fail_at;
    }
    EXPECT_GE(calls, 5);
  }
}

}  // namespace
}  // namespace api_test
