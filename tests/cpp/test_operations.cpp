// SPDX-License-Identifier: BSD-3-Clause
// Vectors, products, vector operations and reductions.
#include <cmath>

#include "problem.hpp"

namespace {

using problem::Differences;
using problem::error_of;
using sextant::columns;
using sextant::Vector;
using testing::ElementsAre;

class CppVectors : public testing::Test {
 protected:
  sextant::Context context = problem::cpu();
  std::vector<double> host{3, -7, 1, 2};
  Vector x = Vector::copy_of(context, host);
  Vector y = Vector::zeros<double>(context, 4);
  std::vector<double> values(const Vector &vector) const { return vector.to_host<double>(); }
};

TEST_F(CppVectors, WrappedMemoryIsUsedWhereItLies) {
  Vector wrapped = Vector::wrap(context, host);
  EXPECT_EQ(wrapped.data<double>().data(), host.data());
  sextant::fill(2, wrapped);
  EXPECT_THAT(host, ElementsAre(2, 2, 2, 2));
  EXPECT_EQ(wrapped.size(), 4);
  EXPECT_EQ(Vector::wrap(context, std::span(host).first(2)).size(), 2);
  std::span<double> named(host);
  EXPECT_EQ(Vector::wrap(context, named).size(), 4);
  EXPECT_EQ(error_of([&] { wrapped.data<float>(); }).status(), SXT_E_TYPE);
}

TEST_F(CppVectors, ReadAndWriteCheckSizeAndType) {
  x.write(std::vector{1.0, 2.0, 3.0, 4.0});
  EXPECT_THAT(values(x), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(error_of([&] { x.write(std::vector<double>(3)); }).status(), SXT_E_DIMENSION);
  EXPECT_EQ(error_of([&] { x.write(std::vector<float>(4)); }).status(), SXT_E_TYPE);
  std::vector<double> small(3);
  EXPECT_EQ(error_of([&] { x.read(small); }).status(), SXT_E_DIMENSION);
}

TEST_F(CppVectors, Operations) {
  sextant::copy(x, y);
  EXPECT_THAT(values(y), ElementsAre(3, -7, 1, 2));
  sextant::scale(2, y);
  EXPECT_THAT(values(y), ElementsAre(6, -14, 2, 4));
  sextant::axpy(-1.0, x, y);
  EXPECT_THAT(values(y), ElementsAre(3, -7, 1, 2));
  sextant::axpby(2, x, -1, y);
  EXPECT_THAT(values(y), ElementsAre(3, -7, 1, 2));
  Vector w = Vector::zeros<double>(context, 4);
  sextant::waxpby(1, x, 1, y, w);
  EXPECT_THAT(values(w), ElementsAre(6, -14, 2, 4));
  sextant::multiply(x, y, w);
  EXPECT_THAT(values(w), ElementsAre(9, 49, 1, 4));
  sextant::gather(x, std::vector<int>{3, 2, 1, 0}, y);
  EXPECT_THAT(values(y), ElementsAre(2, 1, -7, 3));
  sextant::scatter(x, std::vector<std::int64_t>{1, 0, 3, 2}, y);
  EXPECT_THAT(values(y), ElementsAre(-7, 3, 2, 1));
  EXPECT_EQ(error_of([&] { sextant::gather(x, std::vector<int>{0}, y); }).status(), SXT_E_DIMENSION);
  EXPECT_EQ(error_of([&] { sextant::scatter(x, std::vector<int>{0, 1, 2, 9}, y); }).status(), SXT_E_INDEX);
}

TEST_F(CppVectors, Reductions) {
  EXPECT_EQ(sextant::sum(x), -1);
  EXPECT_EQ(sextant::dot(x, x), 63);
  EXPECT_DOUBLE_EQ(sextant::nrm2(x), std::sqrt(63.0));
  EXPECT_EQ(sextant::asum(x), 13);
  EXPECT_EQ(sextant::amax(x), 7);
  EXPECT_EQ(sextant::iamax(x), 1);
  EXPECT_EQ(sextant::min(x), -7);
  EXPECT_EQ(sextant::max(x), 3);
  const Vector *left[] = {&x, &x}, *right[] = {&x, &y};
  EXPECT_THAT(sextant::multidot(left, right), ElementsAre(63, 0));
  EXPECT_TRUE(sextant::multidot({}, {}).empty());
  EXPECT_EQ(error_of([&] { sextant::multidot(left, {}); }).status(), SXT_E_DIMENSION);
}

TEST_F(CppVectors, ResultsWidenAndNeverNarrow) {
  using C = std::complex<double>;
  const Vector f = Vector::copy_of(context, std::vector{1.5f, 2.0f});
  EXPECT_EQ(sextant::sum(f), 3.5);
  EXPECT_EQ(sextant::sum<float>(f), 3.5f);
  EXPECT_EQ(sextant::sum<C>(f), C(3.5));
  EXPECT_EQ(error_of([&] { sextant::sum<float>(x); }).status(), SXT_E_TYPE);
  const Vector c = Vector::copy_of(context, std::vector<std::complex<float>>{{1, 2}, {0, 1}});
  EXPECT_EQ(sextant::dotc<C>(c, c), C(6));
  EXPECT_EQ(sextant::dot<C>(c, c), C(-4, 4));
  const Vector *pair[] = {&c};
  EXPECT_THAT(sextant::multidot<C>(pair, pair), ElementsAre(C(6)));
  EXPECT_EQ(sextant::amax(c), 3);
  EXPECT_THAT(error_of([&] { sextant::sum(c); }).what(), testing::HasSubstr("c64, which f64 cannot hold"));
  EXPECT_EQ(error_of([&] { sextant::min(c); }).status(), SXT_E_NO_KERNEL);
}

TEST_F(CppVectors, ScalarsTakeTheVectorsType) {
  using C = std::complex<float>;
  Vector c = Vector::copy_of(context, std::vector<C>{{1, 2}});
  sextant::scale(C(0, 1), c);
  EXPECT_THAT(c.to_host<C>(), ElementsAre(C(-2, 1)));
  sextant::scale(2, c);
  EXPECT_THAT(c.to_host<C>(), ElementsAre(C(-4, 2)));
  EXPECT_EQ(error_of([&] { sextant::scale(C(0, 1), x); }).status(), SXT_E_TYPE);
}

TEST_F(CppVectors, Products) {
  const std::vector<int> row_ptr{0, 2, 3}, col{0, 2, 1};
  const sextant::Matrix a = sextant::Matrix::from_csr(context, 2, 3, row_ptr, col, std::vector{1.0, 2.0, 3.0});
  const std::vector<double> three{1, 2, 3}, two{1, 1};
  std::vector<double> result(2, std::nan("")), back(3);  // y is not read where beta is 0
  sextant::spmv(a, three, result);
  EXPECT_THAT(result, ElementsAre(7, 6));
  sextant::spmv(a, three, result, {.alpha = 2, .beta = -1});
  EXPECT_THAT(result, ElementsAre(7, 6));
  sextant::spmv(a, two, back, {.op = SXT_TRANSPOSE});
  EXPECT_THAT(back, ElementsAre(1, 3, 2));
  EXPECT_EQ(error_of([&] { sextant::spmv(a, two, back); }).status(), SXT_E_DIMENSION);
  EXPECT_EQ(error_of([&] { sextant::spmv(a, three, back); }).status(), SXT_E_DIMENSION);
  EXPECT_EQ(error_of([&] { sextant::spmv(a, std::vector<float>(3), std::vector<float>(2)); }).status(), SXT_E_TYPE);

  Vector y2 = Vector::zeros<double>(context, 2);
  sextant::spmv(a, Vector::copy_of(context, three), y2);
  EXPECT_THAT(values(y2), ElementsAre(7, 6));
  const std::vector<double> block{1, 2, 3, -1, -2, -3};
  std::vector<double> out(5, 9.0);
  sextant::spmv(a, columns(block, 3, 2), columns(out, 2, 2, 3));
  EXPECT_THAT(out, ElementsAre(7, 6, 9, -7, -6));
  EXPECT_EQ(error_of([&] { sextant::spmv(a, columns(block, 3, 2), columns(out, 2, 1)); }).status(), SXT_E_DIMENSION);
}

}  // namespace
