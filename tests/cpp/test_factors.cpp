// SPDX-License-Identifier: BSD-3-Clause
// Sparse Cholesky factors, and sets of Hermitian systems.
#include <array>
#include <filesystem>

#include "problem.hpp"

namespace {

using problem::Differences;
using problem::distance;
using problem::error_of;
using sextant::Analysis;
using sextant::Cholesky;
using sextant::columns;
using sextant::HermitianSet;
using testing::ElementsAre;
using testing::HasSubstr;

class CppCholesky : public testing::Test {
 protected:
  sextant::Context context = problem::cpu();
  Differences<double> a{30};
  sextant::Matrix matrix = a.matrix(context);
  std::vector<double> b = a.times_numbers(), wanted = problem::numbers<double>(30);
};

TEST_F(CppCholesky, FactorsAndSolves) {
  const Analysis analysis(matrix);
  Cholesky factor(analysis);
  EXPECT_EQ(error_of([&] { factor.solve(b, b); }).status(), SXT_E_STATE);
  factor.factor();
  std::vector<double> x(30);
  const sxt_cholesky_solve_report report = factor.solve(b, x);
  EXPECT_EQ(report.refined, 0);
  EXPECT_LT(distance(x, wanted), 1e-10);
  std::vector<double> bs(70);
  std::copy(b.begin(), b.end(), bs.begin());
  std::copy(b.begin(), b.end(), bs.begin() + 40);
  factor.solve(columns(bs, 30, 2, 40), columns(bs, 30, 2, 40));  // in place
  EXPECT_LT(distance(std::span(bs).subspan(40), wanted), 1e-10);
  EXPECT_NEAR(factor.info().log_determinant, std::log(31.0), 1e-10);
  EXPECT_EQ(factor.info().positive, 30);
  EXPECT_GT(factor.rcond(), 0);
  EXPECT_EQ(factor.diagonal().size(), 30u);
  EXPECT_TRUE(factor.changed_pivots().empty());
  const std::vector<std::int64_t> first{0};
  std::vector<double> entry(1);
  factor.inverse(first, first, entry);
  EXPECT_NEAR(entry[0], 30.0 / 31, 1e-12);
  EXPECT_EQ(error_of([&] { factor.inverse(first, {}, entry); }).status(), SXT_E_DIMENSION);
}

TEST_F(CppCholesky, AMatrixThatWasMovedFromIsRefused) {
  Cholesky factor{Analysis(matrix)};
  sextant::Matrix other = a.matrix(context);
  const sextant::Matrix kept = std::move(other);
  const sextant::error error = error_of([&] { factor.factor(other); });
  EXPECT_EQ(error.status(), SXT_E_ARGUMENT);
  EXPECT_THAT(error.what(), HasSubstr("a was moved from"));
  EXPECT_EQ(error_of([&] { Analysis{other}; }).status(), SXT_E_ARGUMENT);
  factor.factor(kept);
}

TEST_F(CppCholesky, OptionsReachTheLibrary) {
  sextant::CholeskySolveOptions refining;
  refining.refine_steps = 2;
  sextant::AnalysisOptions options;
  options.factorization = SXT_LDLH;
  options.pivot_policy = SXT_PIVOT_REPLACE;
  options.pivot_value = 1;
  Differences<double> singular(2);
  singular.values = {0, 0, 0, 0};
  Cholesky factor{Analysis(singular.matrix(context), options)};
  factor.factor();
  EXPECT_THAT(factor.changed_pivots(), testing::UnorderedElementsAre(0, 1));
  Cholesky refined{Analysis(matrix)};
  refined.factor(matrix);
  std::vector<double> x(30);
  EXPECT_LT(refined.solve(b, x, refining).residual, 1e-14);
  const sextant::error error = error_of([&] {
    Cholesky fails{Analysis(singular.matrix(context))};
    fails.factor();
  });
  EXPECT_EQ(error.status(), SXT_E_NOT_POSITIVE_DEFINITE);
}

TEST_F(CppCholesky, OrdersAndFiles) {
  std::vector<std::int64_t> backward(30);
  for (std::int64_t i = 0; i < 30; ++i) backward[static_cast<std::size_t>(i)] = 29 - i;
  sextant::AnalysisOptions options;
  options.permutation = backward;
  const Analysis given(matrix, options);
  EXPECT_EQ(given.order(), backward);
  EXPECT_FALSE(Analysis(matrix).method().empty());
  EXPECT_EQ(given.info().n, 30);
  EXPECT_THAT(given.explain(SXT_JSON), HasSubstr("{"));
  const std::string path = testing::TempDir() + "cpp_analysis.order";
  given.save(path);
  EXPECT_EQ(Analysis::load(matrix, path).order(), backward);
  std::filesystem::remove(path);
  EXPECT_EQ(error_of([&] { Analysis::load(matrix, path); }).status(), SXT_E_FILE_READ);
  options.permutation = std::span(backward).first(2);
  EXPECT_THAT(error_of([&] { Analysis(matrix, options); }).what(), HasSubstr("permutation has 2 values"));
}

TEST_F(CppCholesky, SchurComplement) {
  const std::vector<std::int64_t> rows{29};
  sextant::AnalysisOptions options;
  options.schur_rows = rows;
  Cholesky factor{Analysis(matrix, options)};
  factor.factor();
  std::vector<double> schur(1), two(4);
  factor.schur(columns(schur, 1, 1));
  EXPECT_NEAR(schur[0], 31.0 / 30, 1e-12);
  EXPECT_EQ(error_of([&] { factor.schur(columns(two, 2, 2)); }).status(), SXT_E_DIMENSION);
}

TEST_F(CppCholesky, SetsOfOnePattern) {
  sextant::CholeskySets sets(Analysis(matrix), 3);
  EXPECT_EQ(sets.count(), 3);
  std::vector<double> values, bs, xs(90);
  for (int set = 1; set <= 3; ++set) {
    for (const double value : a.values) values.push_back(set * value);
    for (const double value : b) bs.push_back(set * value);
  }
  EXPECT_EQ(error_of([&] { sets.solve(bs, xs); }).status(), SXT_E_STATE);
  sets.factor(values);
  sets.solve(bs, xs);
  for (std::size_t set = 0; set < 3; ++set) EXPECT_LT(distance(std::span(xs).subspan(30 * set, 30), wanted), 1e-10);
  std::vector<double> two(120);  // two right-hand sides of the last two sets
  for (std::size_t k = 0; k < 4; ++k)
    for (std::size_t i = 0; i < 30; ++i) two[30 * k + i] = (k < 2 ? 2 : 3) * b[i];
  sets.solve(1, 2, two, two);
  for (std::size_t k = 0; k < 4; ++k) EXPECT_LT(distance(std::span(two).subspan(30 * k, 30), wanted), 1e-10);
  const sextant::CholeskySetsOutcomes good = sets.outcomes();
  EXPECT_THAT(good.status, ElementsAre(SXT_OK, SXT_OK, SXT_OK));
  EXPECT_NEAR(good.log_determinant[1], std::log(31.0) + 30 * std::log(2.0), 1e-9);
  EXPECT_EQ(good.positive[2], 30);
  EXPECT_EQ(sets.info().factored, 3);
  EXPECT_THAT(sets.explain(), HasSubstr("in one call of cholesky."));
  values[0] = -1;
  const auto first = std::span(values).first(a.values.size());
  EXPECT_EQ(error_of([&] { sets.factor(0, 1, first); }).status(), SXT_E_NOT_POSITIVE_DEFINITE);
  EXPECT_THAT(sets.outcomes().failed_row, ElementsAre(0, -1, -1));
  EXPECT_EQ(error_of([&] { sets.factor(std::vector<double>(100)); }).status(), SXT_E_DIMENSION);
  EXPECT_EQ(error_of([&] { sets.factor(std::vector<float>(264)); }).status(), SXT_E_TYPE);
  EXPECT_EQ(error_of([&] { sets.solve(bs, two); }).status(), SXT_E_DIMENSION);
  EXPECT_EQ(error_of([&] { sets.solve(two, two); }).status(), SXT_E_DIMENSION);
  EXPECT_EQ(error_of([&] { sextant::CholeskySets(Analysis(matrix), 0); }).status(), SXT_E_ARGUMENT);
  sextant::CholeskySetsOptions cancelled;
  const std::int32_t now = 1;
  cancelled.cancel = &now;
  EXPECT_EQ(error_of([&] { sets.solve(bs, xs, cancelled); }).status(), SXT_NOT_CONVERGED);
}

TEST_F(CppCholesky, ACancelledFactorisation) {
  sextant::CancelFlag flag;
  flag.cancel();
  sextant::FactorOptions options;
  options.cancel = flag.address();
  Cholesky factor{Analysis(matrix)};
  const sextant::error error = error_of([&] { factor.factor(options); });
  EXPECT_EQ(error.status(), SXT_NOT_CONVERGED);
  EXPECT_THAT(error.what(), HasSubstr("cancelled"));
}

TEST_F(CppCholesky, SizesAndTypesAreChecked) {
  Cholesky factor{Analysis(matrix)};
  factor.factor();
  std::vector<double> small(3);
  std::vector<float> floats(30);
  EXPECT_EQ(error_of([&] { factor.solve(small, small); }).status(), SXT_E_DIMENSION);
  EXPECT_EQ(error_of([&] { factor.solve(floats, floats); }).status(), SXT_E_TYPE);
}

class CppHermitian : public testing::Test {
 protected:
  // Systems k I of order 2, right-hand sides of ones.
  CppHermitian() {
    options.batch = 3;
    options.n = 2;
    for (int k = 1; k <= 3; ++k) a.insert(a.end(), {double(k), 0, 0, double(k)});
  }
  sextant::Context context = problem::cpu();
  sextant::HermitianOptions options;
  std::vector<double> a, b = std::vector<double>(6, 1.0);
};

TEST_F(CppHermitian, FactorsAndSolvesASet) {
  const sextant::Hermitian systems(context, options);
  EXPECT_THAT(systems.factor_solve(a, b), ElementsAre(0, 0, 0));
  EXPECT_DOUBLE_EQ(b[2], 0.5);
  EXPECT_DOUBLE_EQ(b[5], 1.0 / 3);
  EXPECT_STRNE(systems.report().factor_solve_kernel, "");
  EXPECT_THAT(systems.explain(), HasSubstr("hermitian"));
}

TEST_F(CppHermitian, ArraysOfASet) {
  const std::array shifts{1.0};
  options.shifts = shifts;
  const sextant::Hermitian systems(context, options);
  std::vector<std::int32_t> info(3);
  std::vector<double> x(6), factor(12), residual(3);
  const std::vector<std::uint8_t> active{1, 0, 1};
  HermitianSet<double> set{
      .a = a, .b = b, .info = info, .factor = factor, .x = x, .active = active, .residual = residual};
  systems.factor_solve(set);
  EXPECT_THAT(info, ElementsAre(0, SXT_INFO_NOT_ACTIVE, 0));
  EXPECT_DOUBLE_EQ(x[0], 0.5);
  EXPECT_DOUBLE_EQ(x[4], 0.25);
  EXPECT_EQ(a[0], 1) << "the factor has its own place";
}

TEST_F(CppHermitian, FactorAndSolveApart) {
  const sextant::Hermitian systems(context, options);
  std::vector<std::int32_t> info(3);
  const HermitianSet<double> set{.a = a, .b = b, .info = info};
  systems.factor(set);
  EXPECT_DOUBLE_EQ(a[4], std::sqrt(2.0));
  systems.solve(set);
  EXPECT_DOUBLE_EQ(b[2], 0.5);
}

TEST_F(CppHermitian, ArraysOfPointersAndOrders) {
  options.pointer_array = 1;
  const std::vector<std::int32_t> orders{1, 2, 2};
  options.orders = orders;
  const sextant::Hermitian systems(context, options);
  std::vector<std::int32_t> info(3);
  const std::vector<double *> as{&a[0], &a[4], &a[8]}, bs{&b[0], &b[2], &b[4]};
  systems.factor_solve(HermitianSet<double>{.info = info, .a_array = as, .b_array = bs});
  EXPECT_THAT(info, ElementsAre(0, 0, 0));
  EXPECT_DOUBLE_EQ(b[3], 0.5);
}

TEST_F(CppHermitian, LengthsAndTypesAreChecked) {
  const sextant::Hermitian systems(context, options);
  std::vector<double> small(11);
  std::vector<float> floats(12);
  EXPECT_THAT(error_of([&] { systems.factor_solve(small, b); }).what(),
              HasSubstr("a has 11 values, but 3 systems need 12"));
  EXPECT_EQ(error_of([&] { systems.factor_solve(a, std::span(b).first(5)); }).status(), SXT_E_DIMENSION);
  EXPECT_EQ(error_of([&] { systems.factor_solve(floats, std::vector<float>(6)); }).status(), SXT_E_TYPE);
  std::vector<std::int32_t> two(2), three(3);
  EXPECT_EQ(error_of([&] { systems.factor_solve(HermitianSet<double>{.a = a, .b = b, .info = two}); }).status(),
            SXT_E_DIMENSION);
  EXPECT_EQ(error_of([&] { systems.factor(HermitianSet<double>{.a = a, .stride_a = 5, .info = three}); }).status(),
            SXT_E_DIMENSION);
  const auto wide = std::numeric_limits<std::int64_t>::max() / 2;
  EXPECT_EQ(error_of([&] { systems.factor(HermitianSet<double>{.a = a, .stride_a = wide, .info = three}); }).status(),
            SXT_E_DIMENSION);
  sextant::HermitianOptions mixed = options;
  mixed.orders = two;
  EXPECT_THAT(error_of([&] { sextant::Hermitian(context, mixed); }).what(), HasSubstr("orders has 2 values"));
}

}  // namespace
