// SPDX-License-Identifier: BSD-3-Clause
// Matrices from arrays and files, their facts, and what is refused before the library sees it.
#include "problem.hpp"

namespace {

using problem::Differences;
using problem::error_of;
using sextant::Matrix;
using testing::ElementsAre;
using testing::HasSubstr;

class CppMatrix : public testing::Test {
 protected:
  sextant::Context context = problem::cpu();
  Differences<double> a{3};
};

TEST_F(CppMatrix, TheSameFromEveryFormat) {
  const std::vector<std::int64_t> wide(a.row_ptr.begin(), a.row_ptr.end());
  for (const Matrix &m : {a.matrix(context), Matrix::from_coo(context, 3, 3, a.row, a.col, a.values),
                          Matrix::from_csc(context, 3, 3, a.row_ptr, a.col, a.values),
                          Matrix::from_csr(context, 3, 3, wide, a.col, a.values)}) {
    EXPECT_EQ(m.rows(), 3);
    EXPECT_EQ(m.cols(), 3);
    EXPECT_EQ(m.nnz(), 7);
    EXPECT_EQ(m.value_type(), SXT_F64);
    const auto csr = m.csr<double>();
    EXPECT_THAT(csr.row_ptr, ElementsAre(0, 2, 5, 7));
    EXPECT_THAT(csr.col, ElementsAre(0, 1, 0, 1, 2, 1, 2));
    EXPECT_THAT(csr.values, ElementsAre(2, -1, -1, 2, -1, -1, 2));
  }
}

TEST_F(CppMatrix, TypesAreReadOff) {
  const Differences<std::complex<float>, std::int64_t> wide(3);
  EXPECT_EQ(wide.matrix(context).value_type(), SXT_C64);
  EXPECT_EQ(Differences<float>(3).matrix(context).value_type(), SXT_F32);
}

TEST_F(CppMatrix, PatternsHaveOnes) {
  const Matrix m = Matrix::from_csr(context, 3, 3, a.row_ptr, a.col);
  EXPECT_THAT(m.csr<double>().values, testing::Each(1.0));
  sextant::MatrixOptions options;
  options.value_type = SXT_F32;
  EXPECT_THAT(Matrix::from_coo(context, 3, 3, a.row, a.col, options).csr<float>().values, testing::Each(1.0f));
  EXPECT_THAT(Matrix::from_csc(context, 3, 3, a.row_ptr, a.col, options).csr<float>().values, testing::Each(1.0f));
  const std::vector<int> none;
  EXPECT_EQ(Matrix::from_coo(context, 3, 3, none, none, std::vector<double>()).nnz(), 0);
}

TEST_F(CppMatrix, OptionsReachTheLibrary) {
  const std::vector<int> row{1, 1, 2}, col{1, 2, 2};
  sextant::MatrixOptions options;
  options.index_base = 1;
  options.symmetry = SXT_SYMMETRIC;
  options.triangle = SXT_UPPER;
  const Matrix m = Matrix::from_coo(context, 2, 2, row, col, std::vector{2.0, -1.0, 2.0}, options);
  EXPECT_EQ(m.nnz(), 4);
  EXPECT_EQ(m.info().symmetry, SXT_SYMMETRIC);
  options.triangle = SXT_FULL;
  options.ownership = SXT_ADOPT;
  options.index_base = 0;
  options.keep_order = 0;
  const Matrix adopted = a.matrix(context, options);
  EXPECT_EQ(adopted.csr<double>().values.data(), a.values.data());
}

TEST_F(CppMatrix, FilesKeepTheirType) {
  const std::string path = std::string(SEXTANT_TEST_DATA) + "/bcsstk16.mtx.gz";
  EXPECT_EQ(Matrix::from_file(context, path).value_type(), SXT_F64);
  sextant::MatrixOptions options;
  options.value_type = SXT_F32;
  EXPECT_EQ(Matrix::from_file(context, path, options).value_type(), SXT_F32);
  const sextant::error error = error_of([&] { Matrix::from_file(context, "/not/there.mtx"); });
  EXPECT_EQ(error.status(), SXT_E_FILE_READ);
  EXPECT_EQ(error.name(), "SXT_E_FILE_READ");
  EXPECT_THAT(error.what(), HasSubstr("/not/there.mtx"));
  EXPECT_EQ(error.what(), sextant::last_error());
}

TEST_F(CppMatrix, NewValues) {
  Matrix m = a.matrix(context);
  for (double &value : a.values) value *= 2;
  m.update_values(a.values);
  EXPECT_THAT(m.csr<double>().values, ElementsAre(4, -2, -2, 4, -2, -2, 4));
  EXPECT_EQ(error_of([&] { m.update_values(std::vector<float>(7)); }).status(), SXT_E_TYPE);
  EXPECT_EQ(error_of([&] { m.update_values(std::vector<double>(6)); }).status(), SXT_E_DIMENSION);
}

TEST_F(CppMatrix, SizesThatDoNotAgree) {
  const std::vector<int> row{0, 1}, col{0, 1, 1};
  const std::vector<double> three(3), two(2);
  EXPECT_THAT(error_of([&] { Matrix::from_coo(context, 2, 2, row, col, three); }).what(),
              HasSubstr("row has 2 values"));
  EXPECT_THAT(error_of([&] { Matrix::from_coo(context, 2, 2, row, row, three); }).what(), HasSubstr("values has 3"));
  EXPECT_THAT(error_of([&] { Matrix::from_csr(context, 3, 3, row, col, three); }).what(), HasSubstr("row_ptr has 2"));
  EXPECT_THAT(error_of([&] { Matrix::from_csc(context, 1, 1, row, col, three); }).what(),
              HasSubstr("row has 3 values"));
  EXPECT_THAT(error_of([&] { Matrix::from_coo(context, 2, 2, row, row, std::vector<double>()); }).what(),
              HasSubstr("values has 0"));
  const std::vector<int> one{0};
  EXPECT_THAT(error_of([&] { Matrix::from_csr(context, 1, 1, row, one, two); }).what(), HasSubstr("values has 2"));
  EXPECT_EQ(error_of([&] { Matrix::from_csr(context, -1, 1, row, one, two); }).status(), SXT_E_ARGUMENT);
}

TEST_F(CppMatrix, AnotherTypeOfTheCsr) {
  const Matrix m = a.matrix(context);
  EXPECT_EQ(error_of([&] { m.csr<float>(); }).status(), SXT_E_TYPE);
  const auto wide = [&] { return m.csr<double, std::int64_t>(); };
  EXPECT_THAT(error_of(wide).what(), HasSubstr("32 bits"));
}

TEST_F(CppMatrix, Features) {
  const Matrix m = a.matrix(context);
  EXPECT_EQ(m.feature("row_nnz_max"), 3);
  EXPECT_THAT(sextant::feature_names(), testing::Contains("row_nnz_max"));
  EXPECT_EQ(error_of([&] { m.feature("row_nnz_mox"); }).status(), SXT_E_UNKNOWN_NAME);
}

TEST_F(CppMatrix, AnObjectThatWasMovedFromIsRefused) {
  Matrix m = a.matrix(context);
  const Matrix other = std::move(m);
  EXPECT_EQ(m.get(), nullptr);
  EXPECT_EQ(error_of([&] { m.info(); }).status(), SXT_E_ARGUMENT);
  EXPECT_EQ(other.info().nnz, 7);
}

}  // namespace
