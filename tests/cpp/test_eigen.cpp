// SPDX-License-Identifier: BSD-3-Clause
// Eigen's matrices and vectors in calls, without copies; skipped where Eigen is not installed.
#include "problem.hpp"

#if __has_include(<Eigen/SparseCore>)
#include <Eigen/Dense>

#include "sextant/eigen.hpp"

namespace {

using problem::error_of;
using testing::HasSubstr;

static_assert(sextant::Array<Eigen::VectorXd> && sextant::WritableArray<Eigen::RowVectorXcf>);
static_assert(!sextant::WritableArray<const Eigen::VectorXd> && !sextant::Array<Eigen::MatrixXd>);
static_assert(sextant::WritableArray<Eigen::Map<Eigen::VectorXd>>);
static_assert(!sextant::WritableArray<Eigen::Map<const Eigen::VectorXd>>);
static_assert(sextant::WritableBlock<Eigen::MatrixXd> && !sextant::WritableBlock<const Eigen::MatrixXd>);
using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
static_assert(!sextant::Block<RowMajor>);
// What would be evaluated into a temporary first.
static_assert(!sextant::Array<decltype(Eigen::VectorXd() + Eigen::VectorXd())>);

// A sparse vector has no outer pointers, which matrix_of() would read.
template <class M>
concept MakesAMatrix = requires(const sextant::Context &context, const M &m) {
  sextant::matrix_of(context, m);
};
static_assert(MakesAMatrix<Eigen::SparseMatrix<double>> && MakesAMatrix<Eigen::Map<Eigen::SparseMatrix<float>>>);
static_assert(!MakesAMatrix<Eigen::SparseVector<double>> && !MakesAMatrix<Eigen::SparseVector<float, Eigen::RowMajor>>);

template <int Order>
Eigen::SparseMatrix<double, Order> differences(int n) {
  Eigen::SparseMatrix<double, Order> a(n, n);
  for (int i = 0; i < n; ++i) {
    a.insert(i, i) = 2;
    if (i > 0) a.insert(i, i - 1) = -1, a.insert(i - 1, i) = -1;
  }
  a.makeCompressed();
  return a;
}

class CppEigen : public testing::Test {
 protected:
  sextant::Context context = problem::cpu();
  Eigen::SparseMatrix<double> a = differences<Eigen::ColMajor>(20);
  Eigen::VectorXd wanted = Eigen::VectorXd::LinSpaced(20, 1, 20);
};

TEST_F(CppEigen, SolvesWithVectors) {
  const sextant::Pcg pcg(sextant::matrix_of(context, a));
  const Eigen::VectorXd b = a * wanted;
  Eigen::VectorXd x(20);
  pcg.solve(b, x);
  EXPECT_LT((x - wanted).norm(), 1e-6);
  std::vector<double> memory(20);
  pcg.solve(Eigen::Map<const Eigen::VectorXd>(b.data(), 20), Eigen::Map<Eigen::VectorXd>(memory.data(), 20));
  EXPECT_NEAR(memory[19], 20, 1e-6);
  EXPECT_EQ(error_of([&] { pcg.solve(b, Eigen::Map<Eigen::VectorXd>(memory.data(), 3)); }).status(), SXT_E_DIMENSION);
}

TEST_F(CppEigen, SolvesWithColumns) {
  sextant::Cholesky factor{sextant::Analysis(sextant::matrix_of(context, a))};
  factor.factor();
  Eigen::MatrixXd b(25, 3);
  b.topRows(20) << a * wanted, 2 * (a * wanted), 3 * (a * wanted);
  Eigen::MatrixXd x(20, 3);
  factor.solve(b.topRows(20), x);
  EXPECT_LT((x.col(2) - 3 * wanted).norm(), 1e-10);
  const sextant::Pcg pcg(sextant::matrix_of(context, a));
  Eigen::MatrixXd large = Eigen::MatrixXd::Constant(25, 3, 7);
  pcg.solve(b.topRows(20), large.topRows(20));
  EXPECT_LT((large.col(1).head(20) - 2 * wanted).norm(), 1e-6);
  EXPECT_EQ(large(24, 1), 7);
  pcg.solve(b.col(0).head(20), x.col(1));
  EXPECT_LT((x.col(1) - wanted).norm(), 1e-6);
}

TEST_F(CppEigen, RowMajorMatricesAreAdopted) {
  const auto rows = differences<Eigen::RowMajor>(20);
  sextant::MatrixOptions options;
  options.ownership = SXT_ADOPT;
  options.keep_order = 0;
  sextant::Matrix m = sextant::matrix_of(context, rows, options);
  EXPECT_EQ(m.csr<double>().values.data(), rows.valuePtr());
  sextant::Matrix copy = sextant::matrix_of(context, rows);
  Eigen::VectorXd y(20);
  sextant::spmv(copy, wanted, y);
  EXPECT_LT((y - a * wanted).norm(), 1e-14);
  const Eigen::VectorXd doubled = 2 * Eigen::Map<const Eigen::VectorXd>(rows.valuePtr(), rows.nonZeros());
  copy.update_values(doubled);
  sextant::spmv(copy, wanted, y, {.alpha = 0.5});
  EXPECT_LT((y - a * wanted).norm(), 1e-14);
}

TEST_F(CppEigen, ColumnMajorMatricesKeepTheirSense) {
  Eigen::SparseMatrix<double> general(2, 3);
  general.insert(0, 2) = 5;
  general.insert(1, 0) = 7;
  general.makeCompressed();
  const sextant::Matrix m = sextant::matrix_of(context, general);
  Eigen::Vector2d y;
  sextant::spmv(m, Eigen::Vector3d(1, 10, 100), y);
  EXPECT_EQ(y, Eigen::Vector2d(500, 7));
}

TEST_F(CppEigen, WhatCannotBeUsedInPlaceIsRefused) {
  Eigen::SparseMatrix<double> loose(20, 20);
  loose.reserve(Eigen::VectorXi::Constant(20, 3));
  loose.insert(0, 0) = 1;
  EXPECT_THAT(error_of([&] { sextant::matrix_of(context, loose); }).what(), HasSubstr("makeCompressed()"));
  const sextant::Pcg pcg(sextant::matrix_of(context, a));
  Eigen::VectorXd x(20);
  Eigen::MatrixXd b = Eigen::MatrixXd::Ones(2, 20);
  EXPECT_THAT(error_of([&] { pcg.solve(b.row(0), x); }).what(), HasSubstr("lie 2 apart"));
}

}  // namespace
#else
TEST(CppEigen, Installed) { GTEST_SKIP() << "Eigen 3 is not installed (package libeigen3-dev)"; }
#endif
