// SPDX-License-Identifier: BSD-3-Clause
// Sparse Cholesky through the C interface: right answers in every type, for both factorisations, any order, by steps,
// for several right-hand sides; new values; what a factor says of itself against dense answers in long double.
#include "tests/api/cholesky_support.hpp"

namespace api_test {
namespace {

template <class T>
class CholeskyOf : public testing::Test {
 protected:
  Context context_ = cpu();
  static constexpr double eps = std::numeric_limits<Real<T>>::epsilon();
};
using Types = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(CholeskyOf, Types);

// Rows 0, 2, 4, ... positive, the others negative; no two of one sign are coupled where they would not be definite.
std::vector<int> alternating(std::int64_t n) {
  std::vector<int> sign(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) sign[static_cast<std::size_t>(i)] = i % 2 ? -1 : 1;
  return sign;
}

TYPED_TEST(CholeskyOf, SolvesEverySize) {
  using T = TypeParam;
  for (const std::int64_t n : {0, 1, 2, 3, 10, 60, 300})
    for (const sxt_factorization factorization : {SXT_LLH, SXT_LDLH})
      for (const std::int64_t n_rhs : {1, 3, 70}) {
        const std::string where = "n " + std::to_string(n) + ", factorization " + std::to_string(factorization);
        const auto a = random_sparse<T>(n, 3, 7, factorization == SXT_LDLH ? alternating(n) : std::vector<int>());
        sxt_analysis_options options = analysis_options();
        options.factorization = factorization;
        const Matrix matrix = a.matrix(this->context_);
        const Analysis analysis = analyse(matrix, &options);
        const Cholesky cholesky = factored(analysis);
        const std::int64_t ldb = n + 2, ldx = n + 1;
        const std::vector<T> b = random_vector<T>(ldb * n_rhs, 3);
        std::vector<T> x(static_cast<std::size_t>(ldx * n_rhs), T(77));
        ASSERT_EQ(sxt_cholesky_solve(cholesky.get(), n, n_rhs, b.data(), ldb, x.data(), ldx, nullptr, nullptr), SXT_OK)
            << sxt_last_error(nullptr);
        for (std::int64_t j = 0; j < n_rhs; ++j) {
          EXPECT_LE(a.backward_error(&b[j * ldb], &x[j * ldx]), 20 * this->eps) << where;
          EXPECT_EQ(x[j * ldx + n], T(77)) << "between the columns: " << where;
        }
      }
}

TYPED_TEST(CholeskyOf, InPlaceAndBySteps) {
  using T = TypeParam;
  constexpr std::int64_t n = 120;
  for (const sxt_factorization factorization : {SXT_LLH, SXT_LDLH}) {
    const auto a = random_sparse<T>(n, 4, 5, factorization == SXT_LDLH ? alternating(n) : std::vector<int>());
    sxt_analysis_options options = analysis_options();
    options.factorization = factorization;
    const Matrix matrix = a.matrix(this->context_);
    const Analysis analysis = analyse(matrix, &options);
    const Cholesky cholesky = factored(analysis);
    const std::vector<T> b = random_vector<T>(2 * n, 3);
    std::vector<T> x(2 * n), steps = b;
    ASSERT_EQ(sxt_cholesky_solve(cholesky.get(), n, 2, b.data(), n, x.data(), n, nullptr, nullptr), SXT_OK);
    sxt_cholesky_solve_options solve;
    sxt_cholesky_solve_options_init(&solve, sizeof solve);
    for (const sxt_cholesky_step step : {SXT_STEP_FORWARD, SXT_STEP_DIAGONAL, SXT_STEP_BACKWARD}) {
      solve.step = step;
      ASSERT_EQ(sxt_cholesky_solve(cholesky.get(), n, 2, steps.data(), n, steps.data(), n, &solve, nullptr), SXT_OK)
          << sxt_last_error(nullptr);
    }
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(std::abs(x[i] - steps[i]), 0, 100 * this->eps);
  }
}

// A kernel that is forced after a factor was made concerns the next analysis: what is there stays solvable.
TYPED_TEST(CholeskyOf, IsSolvedAlthoughAnotherSchedulerIsForcedLater) {
  using T = TypeParam;
  constexpr std::int64_t n = 40;
  const auto a = random_sparse<T>(n, 4, 5);
  const Matrix matrix = a.matrix(this->context_);
  const Analysis analysis = analyse(matrix);
  const Cholesky cholesky = factored(analysis);
  ASSERT_EQ(sxt_context_force(this->context_.get(), "sxt.cholesky/1", "cholesky.reference.cpu"), SXT_OK);
  for (const std::int64_t columns : {1, 3, 9}) {
    std::vector<T> x = random_vector<T>(n * columns, 8);
    EXPECT_EQ(sxt_cholesky_solve(cholesky.get(), n, columns, x.data(), n, x.data(), n, nullptr, nullptr), SXT_OK)
        << sxt_last_error(nullptr);
  }
}

// More columns than one call of a scheduler takes, of sizes far apart, in place, with gaps between them.
TYPED_TEST(CholeskyOf, RefinesEachOfManyRightHandSides) {
  using T = TypeParam;
  constexpr std::int64_t n = 90, columns = 70, ld = n + 3;
  const auto a = random_sparse<T>(n, 4, 5);
  const Matrix matrix = a.matrix(this->context_);
  const Analysis analysis = analyse(matrix);
  const Cholesky cholesky = factored(analysis);
  std::vector<T> b = random_vector<T>(ld * columns, 8);
  for (std::int64_t j = 0; j < columns; ++j)
    for (std::int64_t i = 0; i < n; ++i) b[j * ld + i] *= static_cast<Real<T>>(std::pow(10.0, j % 13 - 6));
  std::vector<T> x = b;
  sxt_cholesky_solve_options options;
  sxt_cholesky_solve_options_init(&options, sizeof options);
  options.refine_steps = 8;
  sxt_cholesky_solve_report report{};
  report.struct_size = sizeof report;
  ASSERT_EQ(sxt_cholesky_solve(cholesky.get(), n, columns, x.data(), ld, x.data(), ld, &options, &report), SXT_OK)
      << sxt_last_error(nullptr);
  long double worst = 0;
  for (std::int64_t j = 0; j < columns; ++j) {
    const T *const its_b = b.data() + j * ld, *const its_x = x.data() + j * ld;
    long double rest = 0, size = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      LongComplex r = its_b[i];
      for (std::int32_t k = a.pattern.ptr[i]; k < a.pattern.ptr[i + 1]; ++k)
        r -= LongComplex(a.values[k]) * LongComplex(its_x[a.pattern.col[k]]);
      rest += std::norm(r), size += std::norm(LongComplex(its_b[i]));
    }
    EXPECT_LE(std::sqrt(rest / size), 4 * this->eps) << j;
    worst = std::max(worst, std::sqrt(rest / size));
    for (std::int64_t i = n; i < ld; ++i) EXPECT_EQ(its_x[i], its_b[i]) << "the gap after column " << j;
  }
  EXPECT_NEAR(report.residual, static_cast<double>(worst), report.residual_bound + 1e-3 * report.residual)
      << "the sums above are in long double";
}

TYPED_TEST(CholeskyOf, EveryOrderAndWidth) {
  using T = TypeParam;
  constexpr std::int64_t n = 150;
  const auto a = random_sparse<T>(n, 3, 11);
  const Matrix matrix = a.matrix(this->context_);
  std::vector<std::int64_t> reversed(n);
  for (std::int64_t k = 0; k < n; ++k) reversed[static_cast<std::size_t>(k)] = n - 1 - k;
  const std::vector<T> b = random_vector<T>(n, 3);
  for (const char *order : {"natural", "rcm", "given", "auto"})
    for (const std::int64_t amalgamation : {1, 8, 1000})
      for (const std::int64_t block : {std::int64_t{1}, std::int64_t{7}, INT64_MAX}) {
        sxt_analysis_options options = analysis_options();
        if (std::string(order) == "given")
          options.permutation = reversed.data();
        else
          options.order = order;
        options.amalgamation = amalgamation;
        options.block = block;
        const Analysis analysis = analyse(matrix, &options);
        const Cholesky cholesky = factored(analysis);
        std::vector<T> x(n);
        ASSERT_EQ(sxt_cholesky_solve(cholesky.get(), n, 1, b.data(), n, x.data(), n, nullptr, nullptr), SXT_OK);
        EXPECT_LE(a.backward_error(b.data(), x.data()), 20 * this->eps) << order << amalgamation << "/" << block;
        std::vector<std::int64_t> perm(n);
        ASSERT_EQ(sxt_analysis_get_order(analysis.get(), n, perm.data()), SXT_OK);
        std::vector<std::int64_t> sorted = perm;
        std::sort(sorted.begin(), sorted.end());
        for (std::int64_t k = 0; k < n; ++k) ASSERT_EQ(sorted[static_cast<std::size_t>(k)], k);
      }
}

TYPED_TEST(CholeskyOf, FactsAgainstADenseInverse) {
  using T = TypeParam;
  constexpr std::int64_t n = 40;
  for (const sxt_factorization factorization : {SXT_LLH, SXT_LDLH}) {
    const auto a = random_sparse<T>(n, 4, 9, factorization == SXT_LDLH ? alternating(n) : std::vector<int>());
    sxt_analysis_options options = analysis_options();
    options.factorization = factorization;
    const Matrix matrix = a.matrix(this->context_);
    const Analysis analysis = analyse(matrix, &options);
    const Cholesky cholesky = factored(analysis);
    const sxt_cholesky_info info = info_of(cholesky);
    EXPECT_EQ(info.factored, 1);
    EXPECT_EQ(info.positive, factorization == SXT_LLH ? n : n / 2);
    EXPECT_EQ(info.negative, factorization == SXT_LLH ? 0 : n / 2);
    EXPECT_EQ(info.sign, 1);
    std::vector<double> pivots(n);
    ASSERT_EQ(sxt_cholesky_diagonal(cholesky.get(), n, pivots.data()), SXT_OK);
    double log_determinant = 0;
    for (const double pivot : pivots) log_determinant += std::log(std::fabs(pivot));
    EXPECT_NEAR(log_determinant, info.log_determinant, 1e-10 * std::fabs(log_determinant));
    const std::vector<LongComplex> inverse = inverse_of(a.dense(), n);
    std::vector<std::int64_t> rows, cols;
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int32_t k = a.pattern.ptr[i]; k < a.pattern.ptr[i + 1]; ++k) {
        rows.push_back(i);
        cols.push_back(a.pattern.col[k]);
      }
    std::vector<T> entries(rows.size());
    ASSERT_EQ(sxt_cholesky_inverse(cholesky.get(), static_cast<std::int64_t>(rows.size()), rows.data(), cols.data(),
                                   entries.data()),
              SXT_OK)
        << sxt_last_error(nullptr);
    double norm = 0, norm_inverse = 0;
    for (std::int64_t j = 0; j < n; ++j) {
      double sum = 0, of_a = 0;
      for (std::int64_t i = 0; i < n; ++i)
        sum += static_cast<double>(std::abs(inverse[static_cast<std::size_t>(i + j * n)]));
      for (std::int64_t i = 0; i < n; ++i) of_a += std::abs(a.at(i, j));
      norm_inverse = std::max(norm_inverse, sum), norm = std::max(norm, of_a);
    }
    for (std::size_t k = 0; k < rows.size(); ++k)
      EXPECT_NEAR(static_cast<double>(
                      std::abs(LongComplex(entries[k]) - inverse[static_cast<std::size_t>(rows[k] + cols[k] * n)])),
                  0, 100 * this->eps * norm_inverse);
    double rcond = 0;
    ASSERT_EQ(sxt_cholesky_rcond(cholesky.get(), &rcond), SXT_OK);
    EXPECT_GE(rcond, 0.99 / (norm * norm_inverse));
    EXPECT_LE(rcond, 3 / (norm * norm_inverse));
  }
}

TYPED_TEST(CholeskyOf, SchurComplement) {
  using T = TypeParam;
  constexpr std::int64_t n = 50;
  const auto a = random_sparse<T>(n, 4, 21);
  const Matrix matrix = a.matrix(this->context_);
  const std::vector<std::int64_t> left = {17, 3, 40, 8};
  const auto m = static_cast<std::int64_t>(left.size());
  sxt_analysis_options options = analysis_options();
  options.schur_rows = left.data();
  options.n_schur = m;
  const Analysis analysis = analyse(matrix, &options);
  const Cholesky cholesky = factored(analysis);
  std::vector<T> schur(static_cast<std::size_t>(m * m));
  ASSERT_EQ(sxt_cholesky_schur(cholesky.get(), m, schur.data(), m), SXT_OK) << sxt_last_error(nullptr);
  // The inverse of a Schur complement is that part of the inverse.
  const std::vector<LongComplex> inverse = inverse_of(a.dense(), n);
  std::vector<LongComplex> part(static_cast<std::size_t>(m * m));
  for (std::int64_t j = 0; j < m; ++j)
    for (std::int64_t i = 0; i < m; ++i)
      part[static_cast<std::size_t>(i + j * m)] = inverse[static_cast<std::size_t>(left[i] + left[j] * n)];
  const std::vector<LongComplex> want = inverse_of(part, m);
  for (std::size_t k = 0; k < schur.size(); ++k)
    EXPECT_NEAR(static_cast<double>(std::abs(LongComplex(schur[k]) - want[k])), 0, 200 * this->eps);
  const std::vector<T> b(static_cast<std::size_t>(n), T(1));
  std::vector<T> x(static_cast<std::size_t>(n));
  EXPECT_EQ(sxt_cholesky_solve(cholesky.get(), n, 1, b.data(), n, x.data(), n, nullptr, nullptr), SXT_E_STATE);
  double rcond = 0;
  EXPECT_EQ(sxt_cholesky_rcond(cholesky.get(), &rcond), SXT_E_STATE);
}

// All rows left: nothing is factored, and the complement is A.
TYPED_TEST(CholeskyOf, EveryRowLeftToTheComplement) {
  using T = TypeParam;
  constexpr std::int64_t n = 30;
  const auto a = random_sparse<T>(n, 4, 21);
  const Matrix matrix = a.matrix(this->context_);
  std::vector<std::int64_t> left(n);
  std::iota(left.begin(), left.end(), 0);
  for (const char *order : {"auto", "natural", "amd"}) {
    sxt_analysis_options options = analysis_options();
    options.schur_rows = left.data();
    options.n_schur = n;
    options.order = order;
    const Analysis analysis = analyse(matrix, &options);
    const Cholesky cholesky = factored(analysis);
    std::vector<T> schur(n * n);
    ASSERT_EQ(sxt_cholesky_schur(cholesky.get(), n, schur.data(), n), SXT_OK) << sxt_last_error(nullptr);
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < n; ++i) EXPECT_EQ(schur[static_cast<std::size_t>(i + j * n)], a.at(i, j)) << order;
    EXPECT_EQ(info_of(cholesky).least_pivot, 0);
  }
}

TYPED_TEST(CholeskyOf, NewValues) {
  using T = TypeParam;
  constexpr std::int64_t n = 80;
  auto a = random_sparse<T>(n, 4, 2);
  const Matrix matrix = a.matrix(this->context_);
  const Analysis analysis = analyse(matrix);
  const Cholesky cholesky = factored(analysis);
  const std::vector<T> b = random_vector<T>(n, 3);
  std::vector<T> x(n);
  for (T &each : a.values) each *= T(3);
  ASSERT_EQ(sxt_matrix_update_values(matrix.get(), a.values.data(), static_cast<std::int64_t>(a.values.size())),
            SXT_OK);
  ASSERT_EQ(sxt_cholesky_factor(cholesky.get(), nullptr, nullptr), SXT_OK);
  ASSERT_EQ(sxt_cholesky_solve(cholesky.get(), n, 1, b.data(), n, x.data(), n, nullptr, nullptr), SXT_OK);
  EXPECT_LE(a.backward_error(b.data(), x.data()), 20 * this->eps);
  // Of another matrix on the same pattern.
  for (T &each : a.values) each *= T(5);
  const Matrix other = a.matrix(this->context_);
  ASSERT_EQ(sxt_cholesky_factor(cholesky.get(), other.get(), nullptr), SXT_OK) << sxt_last_error(nullptr);
  ASSERT_EQ(sxt_cholesky_solve(cholesky.get(), n, 1, b.data(), n, x.data(), n, nullptr, nullptr), SXT_OK);
  EXPECT_LE(a.backward_error(b.data(), x.data()), 20 * this->eps);
}

}  // namespace
}  // namespace api_test
