// SPDX-License-Identifier: BSD-3-Clause
// Sparse Cholesky at the ends of the range, and facts of factors there.
#include <gmock/gmock.h>

#include <cmath>

#include "tests/api/cholesky_support.hpp"

namespace api_test {
namespace {

using testing::HasSubstr;

template <class T>
Sparse<T> diagonal(const std::vector<Real<T>> &values) {
  Sparse<T> a;
  a.pattern.rows = a.pattern.cols = static_cast<std::int64_t>(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    a.pattern.entry(static_cast<std::int32_t>(i), 0);
    a.values.push_back(values[i]);
    a.pattern.end_row();
  }
  return a;
}

template <class T>
class CholeskyRange : public testing::Test {
 protected:
  // s (1, 2, 3, 4)
  Sparse<T> scaled(Real<T> s) const { return diagonal<T>({s, 2 * s, 3 * s, 4 * s}); }
  Context context_ = cpu();
};
using Types = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(CholeskyRange, Types);

TYPED_TEST(CholeskyRange, PivotsBelowTheNormalNumbersDivideExactly) {
  using T = TypeParam;
  const Real<T> tiny = std::numeric_limits<Real<T>>::denorm_min() * 64;
  const auto a = this->scaled(tiny);
  const Matrix matrix = a.matrix(this->context_);
  sxt_analysis_options options = analysis_options();
  options.factorization = SXT_LDLH;
  for (const char *scheduler : {"cholesky.reference.cpu", "cholesky.tasks.cpu"}) {
    options.scheduler = scheduler;
    const Analysis analysis = analyse(matrix, &options);
    const Cholesky cholesky = factored(analysis);
    std::vector<T> x = {T(0), T(2 * tiny), T(6 * tiny), T(0)};
    ASSERT_EQ(sxt_cholesky_solve(cholesky.get(), 4, 1, x.data(), 4, x.data(), 4, nullptr, nullptr), SXT_OK);
    EXPECT_EQ(x, (std::vector<T>{T(0), T(1), T(2), T(0)})) << scheduler;
  }
}

// Two columns at once, with something below the first: 4 t, then 15/4 t.
TYPED_TEST(CholeskyRange, FrontsWithPivotsBelowTheNormalNumbersDivideExactly) {
  using T = TypeParam;
  const Real<T> tiny = std::numeric_limits<Real<T>>::denorm_min() * 64;
  Sparse<T> a;
  a.pattern.rows = a.pattern.cols = 2;
  a.pattern.entry(0, 0), a.pattern.entry(1, 0), a.pattern.end_row();
  a.pattern.entry(0, 0), a.pattern.entry(1, 0), a.pattern.end_row();
  a.values = {T(4 * tiny), T(tiny), T(tiny), T(4 * tiny)};
  const Matrix matrix = a.matrix(this->context_);
  sxt_analysis_options options = analysis_options();
  options.factorization = SXT_LDLH;
  for (const char *scheduler : {"cholesky.reference.cpu", "cholesky.tasks.cpu"}) {
    options.scheduler = scheduler;
    const Analysis analysis = analyse(matrix, &options);
    const Cholesky cholesky = factored(analysis);
    std::vector<T> x = {T(6 * tiny), T(9 * tiny)};
    ASSERT_EQ(sxt_cholesky_solve(cholesky.get(), 2, 1, x.data(), 2, x.data(), 2, nullptr, nullptr), SXT_OK);
    EXPECT_EQ(x, (std::vector<T>{T(1), T(2)})) << scheduler;
  }
}

TYPED_TEST(CholeskyRange, TheConditionNumberDoesNotDependOnTheScale) {
  using T = TypeParam;
  using Limits = std::numeric_limits<Real<T>>;
  for (const Real<T> scale : {Limits::denorm_min() * 256, Limits::min() * 8, Real<T>(1), Limits::max() / 8}) {
    const Matrix matrix = this->scaled(scale).matrix(this->context_);
    const Analysis analysis = analyse(matrix);
    const Cholesky cholesky = factored(analysis);
    double rcond = 0;
    ASSERT_EQ(sxt_cholesky_rcond(cholesky.get(), &rcond), SXT_OK);
    EXPECT_NEAR(rcond, 0.25, 1e-5) << scale;
  }
}

TEST(CholeskyEnds, AConditionNumberThatSpansTheRange) {
  const Context context = cpu();
  const auto rcond_of = [&](const auto &a) {
    const Matrix matrix = a.matrix(context);
    const Analysis analysis = analyse(matrix);
    const Cholesky cholesky = factored(analysis);
    double rcond = 0;
    EXPECT_EQ(sxt_cholesky_rcond(cholesky.get(), &rcond), SXT_OK);
    return rcond;
  };
  EXPECT_NEAR(rcond_of(diagonal<float>({1e-30f, 1e30f, 1, 1})) / 1e-60, 1, 1e-4);
  EXPECT_NEAR(rcond_of(diagonal<float>({1e-37f, 1, 1, 2})) / 5e-38, 1, 1e-4);
  EXPECT_NEAR(rcond_of(diagonal<double>({1e-150, 1e150, 1, 1})) / 1e-300, 1, 1e-10);
}

TEST(CholeskyEnds, NumbersThatLeaveTheRangeAreNotFinite) {
  const Context context = cpu();
  Sparse<double> a;
  a.pattern.rows = a.pattern.cols = 2;
  a.pattern.entry(0, 0), a.pattern.entry(1, 0), a.pattern.end_row();
  a.pattern.entry(0, 0), a.pattern.entry(1, 0), a.pattern.end_row();
  a.values = {1e-200, 1e200, 1e200, 1e300};
  const Matrix matrix = a.matrix(context);
  for (const sxt_factorization factorization : {SXT_LLH, SXT_LDLH}) {
    sxt_analysis_options options = analysis_options();
    options.factorization = factorization;
    options.order = "natural";
    options.check_symmetry = 0;
    const Analysis analysis = analyse(matrix, &options);
    const Cholesky cholesky = cholesky_of(analysis);
    EXPECT_EQ(sxt_cholesky_factor(cholesky.get(), nullptr, nullptr), SXT_E_NOT_FINITE) << factorization;
    EXPECT_TRUE(std::isnan(info_of(cholesky).failed_pivot));
    EXPECT_EQ(info_of(cholesky).failed_row, 1);
  }
}

TYPED_TEST(CholeskyRange, ASchurComplementThatLeavesTheRangeIsNotFinite) {
  using T = TypeParam;
  using R = Real<T>;
  const R large = std::sqrt(std::numeric_limits<R>::max()), tiny = 1 / large;
  Sparse<T> a;
  a.pattern.rows = a.pattern.cols = 3;
  const T values[3][3] = {{T(tiny), T(0), T(large)}, {T(0), T(1), T(0)}, {T(large), T(0), T(1)}};
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j)
      if (values[i][j] != T(0)) a.pattern.entry(j, 0), a.values.push_back(values[i][j]);
    a.pattern.end_row();
  }
  const Matrix matrix = a.matrix(this->context_);
  const std::vector<std::int64_t> rows = {1, 2};
  for (const sxt_factorization factorization : {SXT_LLH, SXT_LDLH}) {
    sxt_analysis_options options = analysis_options();
    options.factorization = factorization;
    options.schur_rows = rows.data(), options.n_schur = 2;
    const Analysis analysis = analyse(matrix, &options);
    const Cholesky cholesky = cholesky_of(analysis);
    if (const sxt_status status = sxt_cholesky_factor(cholesky.get(), nullptr, nullptr)) {
      EXPECT_EQ(status, SXT_E_NOT_FINITE);
      continue;
    }
    T s[4];
    EXPECT_EQ(sxt_cholesky_schur(cholesky.get(), 2, s, 2), SXT_E_NOT_FINITE) << factorization;
    EXPECT_THAT(last_error(this->context_), HasSubstr("at row 2 and column 2"));
  }
}

TYPED_TEST(CholeskyRange, AnInverseThatLeavesTheRangeIsNotFinite) {
  using T = TypeParam;
  const auto a = this->scaled(std::numeric_limits<Real<T>>::denorm_min() * 4);
  const Matrix matrix = a.matrix(this->context_);
  sxt_analysis_options options = analysis_options();
  options.factorization = SXT_LDLH;
  const Analysis analysis = analyse(matrix, &options);
  const Cholesky cholesky = factored(analysis);
  const std::int64_t at = 3;
  T value{};
  EXPECT_EQ(sxt_cholesky_inverse(cholesky.get(), 1, &at, &at, &value), SXT_E_NOT_FINITE);
  EXPECT_THAT(last_error(this->context_), HasSubstr("the inverse at row 3 and column 3"));
}

TEST(CholeskyEnds, AMatrixOfZerosIsPerturbedBySomething) {
  const Context context = cpu();
  const Matrix matrix = diagonal<double>({0, 0, 0}).matrix(context);
  for (const sxt_pivot_policy policy : {SXT_PIVOT_PERTURB, SXT_PIVOT_REPLACE}) {
    sxt_analysis_options options = analysis_options();
    options.factorization = SXT_LDLH;
    options.pivot_policy = policy;
    const Analysis analysis = analyse(matrix, &options);
    const Cholesky cholesky = factored(analysis);
    EXPECT_EQ(info_of(cholesky).changed_pivots, 3);
    EXPECT_GT(info_of(cholesky).least_pivot, 0);
    std::vector<double> x(3, 1);
    ASSERT_EQ(sxt_cholesky_solve(cholesky.get(), 3, 1, x.data(), 3, x.data(), 3, nullptr, nullptr), SXT_OK);
    for (const double value : x) EXPECT_TRUE(std::isfinite(value));
  }
}

TEST(CholeskyEnds, ASchurComplementHasARealDiagonal) {
  const Context context = cpu();
  for (unsigned seed = 1; seed <= 60; ++seed) {
    const auto a = random_sparse<std::complex<float>>(30, 6, seed);
    const Matrix matrix = a.matrix(context);
    const std::vector<std::int64_t> rows = {3, 11, 29};
    sxt_analysis_options options = analysis_options();
    options.factorization = SXT_LDLH;
    options.schur_rows = rows.data(), options.n_schur = 3;
    const Analysis analysis = analyse(matrix, &options);
    const Cholesky cholesky = factored(analysis);
    std::complex<float> s[9];
    ASSERT_EQ(sxt_cholesky_schur(cholesky.get(), 3, s, 3), SXT_OK);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(std::imag(s[4 * i]), 0) << seed;
    EXPECT_EQ(s[1], std::conj(s[3]));
  }
}

TEST(CholeskyEnds, AnOrderThatDoesNotApplyIsNoInternalError) {
  const Context context = cpu();
  const Matrix matrix = random_sparse<double>(60, 5, 3).matrix(context);
  sxt_analysis_options options = analysis_options();
  options.order = "grid";
  analyse(matrix, &options, SXT_E_NOT_SUPPORTED);
  EXPECT_THAT(last_error(context), HasSubstr("order grid does not apply"));
}

TEST(CholeskyEnds, ListsOfRowsAreAligned) {
  const Context context = cpu();
  const Matrix matrix = diagonal<double>({1, 2, 3}).matrix(context);
  alignas(8) char bytes[8 * 4] = {};
  auto *const beside = reinterpret_cast<std::int64_t *>(bytes + 4);
  sxt_analysis_options options = analysis_options();
  options.permutation = beside;
  analyse(matrix, &options, SXT_E_ARGUMENT);
  EXPECT_THAT(last_error(context), HasSubstr("options->permutation is not aligned"));
  options.permutation = nullptr;
  options.schur_rows = beside, options.n_schur = 1;
  analyse(matrix, &options, SXT_E_ARGUMENT);
  const Analysis analysis = analyse(matrix);
  const Cholesky cholesky = factored(analysis);
  EXPECT_EQ(sxt_analysis_get_order(analysis.get(), 3, beside), SXT_E_ARGUMENT);
  EXPECT_EQ(sxt_cholesky_diagonal(cholesky.get(), 3, reinterpret_cast<double *>(beside)), SXT_E_ARGUMENT);
  std::int64_t rows[1] = {0};
  double value = 0;
  EXPECT_EQ(sxt_cholesky_inverse(cholesky.get(), 1, beside, rows, &value), SXT_E_ARGUMENT);
  EXPECT_EQ(sxt_cholesky_inverse(cholesky.get(), 1, rows, beside, &value), SXT_E_ARGUMENT);
}

}  // namespace
}  // namespace api_test
