// SPDX-License-Identifier: BSD-3-Clause
// Matrices: from arrays and files, bad input named, updates, features.
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>

#include "tests/api/support.hpp"

namespace api_test {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

std::vector<double> product(const Context &context, const Matrix &matrix, std::vector<double> x, std::int64_t rows) {
  std::vector<double> y(static_cast<std::size_t>(rows));
  const Vector vx = wrap(context, x), vy = wrap(context, y);
  EXPECT_EQ(sxt_spmv(SXT_NO_TRANSPOSE, nullptr, matrix.get(), vx.get(), nullptr, vy.get()), SXT_OK)
      << last_error(context);
  return y;
}

// The matrix [[4, 1, 0], [1, 5, 2], [0, 2, 6]] in every way the interface takes it.
const std::vector<double> ones{1, 1, 1}, row_sums{5, 8, 8};

TEST(MatrixTest, CooInAnyOrderWithDuplicatesSummed) {
  const Context context = cpu();
  const std::int32_t row[] = {2, 0, 1, 1, 0, 2, 1, 1}, col[] = {2, 0, 0, 1, 1, 1, 2, 1};
  const double values[] = {6, 4, 1, 2, 1, 2, 2, 3};
  const Matrix a = make<Matrix>(
      [&](sxt_matrix **out) { return sxt_matrix_from_coo(context.get(), 3, 3, 8, row, col, values, nullptr, out); });
  EXPECT_EQ(product(context, a, ones, 3), row_sums);
  sxt_matrix_options refuse = matrix_options();
  refuse.duplicates = SXT_DUPLICATES_REFUSE;
  sxt_matrix *none = nullptr;
  EXPECT_EQ(sxt_matrix_from_coo(context.get(), 3, 3, 8, row, col, values, &refuse, &none), SXT_E_DUPLICATE);
  EXPECT_NE(last_error(context).find("1"), std::string::npos) << last_error(context);
}

TEST(MatrixTest, OneBasedLowerTriangleWithWideIndices) {
  const Context context = cpu();
  const std::int64_t ptr[] = {1, 2, 4, 6}, col[] = {1, 1, 2, 2, 3};
  const double values[] = {4, 1, 5, 2, 6};
  sxt_matrix_options options = matrix_options();
  options.index_type = SXT_I64;
  options.index_base = 1;
  options.symmetry = SXT_SYMMETRIC;
  options.triangle = SXT_LOWER;
  const Matrix a = make<Matrix>(
      [&](sxt_matrix **out) { return sxt_matrix_from_csr(context.get(), 3, 3, ptr, col, values, &options, out); });
  EXPECT_EQ(product(context, a, ones, 3), row_sums);
  sxt_matrix_info info{};
  info.struct_size = sizeof info;
  EXPECT_EQ(sxt_matrix_get_info(a.get(), &info), SXT_OK);
  EXPECT_EQ(info.nnz, 7);
  EXPECT_EQ(info.index_type, SXT_I32);
}

TEST(MatrixTest, CscIsTheTransposeOfCsr) {
  const Context context = cpu();
  const std::int32_t ptr[] = {0, 1, 3}, row[] = {1, 0, 2};
  const double values[] = {10, 20, 30};  // 3 x 2: (1,0) = 10, (0,1) = 20, (2,1) = 30
  const Matrix a = make<Matrix>(
      [&](sxt_matrix **out) { return sxt_matrix_from_csc(context.get(), 3, 2, ptr, row, values, nullptr, out); });
  EXPECT_EQ(product(context, a, {1, 2}, 3), (std::vector<double>{40, 10, 60}));
}

TEST(MatrixTest, BadEntriesAreNamedAndLeaveNothingBehind) {
  const Context context = cpu();
  sxt_matrix *none = nullptr;
  const std::int32_t row[] = {0, 1}, col[] = {0, 7};
  const double values[] = {1, 2};
  EXPECT_EQ(sxt_matrix_from_coo(context.get(), 2, 2, 2, row, col, values, nullptr, &none), SXT_E_INDEX);
  EXPECT_NE(last_error(context).find("7"), std::string::npos) << last_error(context);
  const std::int32_t negative[] = {-1, 0};
  EXPECT_EQ(sxt_matrix_from_coo(context.get(), 2, 2, 2, negative, row, values, nullptr, &none), SXT_E_INDEX);
  const double poisoned[] = {1, nan};
  EXPECT_EQ(sxt_matrix_from_coo(context.get(), 2, 2, 2, row, row, poisoned, nullptr, &none), SXT_E_NOT_FINITE);
  EXPECT_NE(last_error(context).find("1"), std::string::npos) << last_error(context);
  EXPECT_EQ(sxt_matrix_from_coo(context.get(), -2, 2, 0, row, row, values, nullptr, &none), SXT_E_ARGUMENT);
  EXPECT_NE(last_error(context).find("-2"), std::string::npos) << last_error(context);
  EXPECT_EQ(sxt_matrix_from_coo(context.get(), 2, 2, 2, nullptr, row, values, nullptr, &none), SXT_E_ARGUMENT);
  const std::int32_t falling[] = {0, 2, 1};
  EXPECT_EQ(sxt_matrix_from_csr(context.get(), 2, 2, falling, col, values, nullptr, &none), SXT_E_ARGUMENT);
  const std::int64_t beyond[] = {0, 1}, far[] = {0, std::int64_t{1} << 40};
  sxt_matrix_options wide = matrix_options();
  wide.index_type = SXT_I64;
  EXPECT_EQ(sxt_matrix_from_coo(context.get(), 2, 2, 2, beyond, far, values, &wide, &none), SXT_E_INDEX);
  // The least number minus one wraps to the greatest: such columns of CSR come first and look ordered.
  const std::int64_t start[] = {1, 3, 3}, wrapping[] = {std::numeric_limits<std::int64_t>::min(), 1};
  wide.index_base = 1;
  wide.offset_type = SXT_I64;
  EXPECT_EQ(sxt_matrix_from_csr(context.get(), 2, 2, start, wrapping, values, &wide, &none), SXT_E_INDEX);
  EXPECT_EQ(none, nullptr);
}

TEST(MatrixTest, OptionsOutOfRangeAreNamed) {
  const Context context = cpu();
  const std::int32_t index[] = {0};
  const double value[] = {1};
  const auto status_of = [&](auto change) {
    sxt_matrix_options options = matrix_options();
    change(options);
    sxt_matrix *none = nullptr;
    return sxt_matrix_from_coo(context.get(), 1, 1, 1, index, index, value, &options, &none);
  };
  EXPECT_EQ(status_of([](auto &o) { o.index_base = 2; }), SXT_E_ARGUMENT);
  EXPECT_EQ(status_of([](auto &o) { o.value_type = 9; }), SXT_E_TYPE);
  EXPECT_EQ(status_of([](auto &o) { o.symmetry = 7; }), SXT_E_ARGUMENT);
  EXPECT_EQ(status_of([](auto &o) { o.struct_size = 3; }), SXT_E_ARGUMENT);
  EXPECT_EQ(status_of([](auto &o) { o.ownership = SXT_ADOPT; }), SXT_E_NOT_SUPPORTED);
}

TEST(MatrixTest, EmptyAndOneByOne) {
  const Context context = cpu();
  const Matrix empty = Csr{}.matrix(context);
  std::vector<double> nothing;
  EXPECT_TRUE(product(context, empty, nothing, 0).empty());
  const Matrix one = diagonal({3}).matrix(context);
  EXPECT_EQ(product(context, one, {2}, 1), std::vector<double>{6});
}

TEST(MatrixTest, AdoptedArraysAreUsedInPlaceAndNeverWritten) {
  const Context context = cpu();
  const Csr a = laplacian(5);
  sxt_matrix_options options = matrix_options();
  options.ownership = SXT_ADOPT;
  const Matrix matrix = make<Matrix>([&](sxt_matrix **out) {
    return sxt_matrix_from_csr(context.get(), a.rows, a.cols, a.ptr.data(), a.col.data(), a.values.data(), &options,
                               out);
  });
  const void *values = nullptr;
  EXPECT_EQ(sxt_matrix_get_csr(matrix.get(), nullptr, nullptr, &values), SXT_OK);
  EXPECT_EQ(values, a.values.data());
  const Csr before = a, doubled = laplacian(5, 4);
  std::vector<double> x(25, 1.5);
  EXPECT_EQ(product(context, matrix, x, 25), a.times(x));
  doubled.update(matrix);
  EXPECT_EQ(product(context, matrix, x, 25), doubled.times(x));
  EXPECT_EQ(a.values, before.values);
}

TEST(MatrixTest, UpdatesTakeValuesInTheCallersOrder) {
  const Context context = cpu();
  const std::int32_t row[] = {1, 0, 1}, col[] = {1, 0, 1};
  const double values[] = {1, 2, 3}, later[] = {10, 20, 30}, bad[] = {1, nan, 2};
  const Matrix a = make<Matrix>(
      [&](sxt_matrix **out) { return sxt_matrix_from_coo(context.get(), 2, 2, 3, row, col, values, nullptr, out); });
  EXPECT_EQ(product(context, a, {1, 1}, 2), (std::vector<double>{2, 4}));
  EXPECT_EQ(sxt_matrix_update_values(a.get(), later, 3), SXT_OK);
  EXPECT_EQ(product(context, a, {1, 1}, 2), (std::vector<double>{20, 40}));
  EXPECT_EQ(sxt_matrix_update_values(a.get(), later, 2), SXT_E_DIMENSION);
  EXPECT_EQ(sxt_matrix_update_values(a.get(), bad, 3), SXT_E_NOT_FINITE);
  EXPECT_EQ(product(context, a, {1, 1}, 2), (std::vector<double>{20, 40}));
}

TEST(MatrixTest, ASumThatOverflowsLeavesTheOldValues) {
  const Context context = cpu();
  const std::int32_t row[] = {0, 0, 1}, col[] = {0, 0, 1};
  const double values[] = {1, 2, 3}, large[] = {1e308, 1e308, 7}, far[] = {1.5e308, -1e308, 7};
  const Matrix a = make<Matrix>(
      [&](sxt_matrix **out) { return sxt_matrix_from_coo(context.get(), 2, 2, 3, row, col, values, nullptr, out); });
  const auto held = [&] {
    const void *now = nullptr;
    EXPECT_EQ(sxt_matrix_get_csr(a.get(), nullptr, nullptr, &now), SXT_OK);
    return std::vector<double>(static_cast<const double *>(now), static_cast<const double *>(now) + 2);
  };
  EXPECT_EQ(sxt_matrix_update_values(a.get(), large, 3), SXT_E_NOT_FINITE);
  EXPECT_NE(last_error(context).find("overflows"), std::string::npos) << last_error(context);
  EXPECT_EQ(held(), (std::vector<double>{3, 3}));
  EXPECT_EQ(sxt_matrix_update_values(a.get(), far, 3), SXT_OK);
  EXPECT_EQ(held(), (std::vector<double>{1.5e308 - 1e308, 7}));
}

TEST(MatrixTest, WithoutChecksAnUpdateMayHoldNaN) {
  const Context context = cpu();
  const std::int32_t index[] = {0, 1};
  const double values[] = {1, 2}, poisoned[] = {nan, 2};
  sxt_matrix_options options = matrix_options();
  options.check_finite = 0;
  const Matrix a = make<Matrix>([&](sxt_matrix **out) {
    return sxt_matrix_from_coo(context.get(), 2, 2, 2, index, index, values, &options, out);
  });
  EXPECT_EQ(sxt_matrix_update_values(a.get(), poisoned, 2), SXT_OK) << last_error(context);
}

TEST(MatrixTest, DiagonalsStayRealInUpdatesOfAnyOrder) {
  using Z = std::complex<double>;
  const Context context = cpu();
  const std::int32_t row[] = {1, 0, 0, 1}, col[] = {1, 1, 0, 0};
  const std::vector<Z> values{{3, 0}, {0, 1}, {2, 0}, {0, -1}};
  for (const bool in_order : {true, false}) {
    sxt_matrix_options options = matrix_options();
    options.value_type = SXT_C128;
    options.symmetry = SXT_HERMITIAN;
    options.keep_order = in_order;
    const Matrix a = make<Matrix>([&](sxt_matrix **out) {
      return sxt_matrix_from_coo(context.get(), 2, 2, 4, row, col, values.data(), &options, out);
    });
    std::vector<Z> later = in_order ? values : std::vector<Z>{values[2], values[1], values[3], values[0]};
    EXPECT_EQ(sxt_matrix_update_values(a.get(), later.data(), 4), SXT_OK) << last_error(context);
    later[0] += Z(0, 5);
    EXPECT_EQ(sxt_matrix_update_values(a.get(), later.data(), 4), SXT_E_ARGUMENT);
    EXPECT_NE(last_error(context).find("new value 0 (counting from 0) is on the diagonal"), std::string::npos);
  }
}

TEST(MatrixTest, AdoptedArraysMustBeAligned) {
  const Context context = cpu();
  alignas(8) char memory[8 * 3] = {};
  const std::int32_t ptr[] = {0, 1, 2}, col[] = {0, 1};
  sxt_matrix_options options = matrix_options();
  options.ownership = SXT_ADOPT;
  sxt_matrix *none = nullptr;
  EXPECT_EQ(sxt_matrix_from_csr(context.get(), 2, 2, ptr, col, memory + 4, &options, &none), SXT_E_ARGUMENT);
  EXPECT_NE(last_error(context).find("values is not aligned"), std::string::npos) << last_error(context);
}

TEST(MatrixTest, ComplexHermitianFromOneTriangle) {
  using Z = std::complex<double>;
  const Context context = cpu();
  const std::int32_t row[] = {0, 1, 1}, col[] = {0, 0, 1};
  const std::vector<Z> values{{2, 0}, {0, 1}, {3, 0}};
  sxt_matrix_options options = matrix_options();
  options.value_type = SXT_C128;
  options.symmetry = SXT_HERMITIAN;
  options.triangle = SXT_LOWER;
  const Matrix a = make<Matrix>([&](sxt_matrix **out) {
    return sxt_matrix_from_coo(context.get(), 2, 2, 3, row, col, values.data(), &options, out);
  });
  std::vector<Z> x{{1, 0}, {1, 0}}, y(2);
  const Vector vx = wrap(context, x, SXT_C128), vy = wrap(context, y, SXT_C128);
  EXPECT_EQ(sxt_spmv(SXT_NO_TRANSPOSE, nullptr, a.get(), vx.get(), nullptr, vy.get()), SXT_OK);
  EXPECT_EQ(y, (std::vector<Z>{{2, -1}, {3, 1}}));
}

TEST(MatrixTest, FilesAreNamedInErrors) {
  const Context context = cpu();
  sxt_matrix *none = nullptr;
  EXPECT_EQ(sxt_matrix_from_file(context.get(), "/nonexistent.mtx", nullptr, &none), SXT_E_FILE_READ);
  EXPECT_NE(last_error(context).find("/nonexistent.mtx"), std::string::npos);
  const std::string path = testing::TempDir() + "short.mtx";
  FILE *file = std::fopen(path.c_str(), "w");
  std::fputs("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 3.5\n", file);
  std::fclose(file);
  EXPECT_EQ(sxt_matrix_from_file(context.get(), path.c_str(), nullptr, &none), SXT_E_FILE_FORMAT);
  EXPECT_NE(last_error(context).find(path + ":"), std::string::npos) << last_error(context);
}

// A pipe without a writer is not waited for.
TEST(MatrixTest, WhatIsNoFileIsRefusedAtOnce) {
  const Context context = cpu();
  const std::string path = testing::TempDir() + "sextant_pipe_" + std::to_string(getpid());
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  sxt_matrix *none = nullptr;
  EXPECT_EQ(sxt_matrix_from_file(context.get(), path.c_str(), nullptr, &none), SXT_E_FILE_READ);
  EXPECT_NE(last_error(context).find("not a regular file"), std::string::npos) << last_error(context);
  unlink(path.c_str());
}

TEST(MatrixTest, FeaturesByName) {
  const Context context = cpu();
  const Matrix a = laplacian(6).matrix(context);
  double value = 0;
  EXPECT_EQ(sxt_matrix_feature(a.get(), "row_nnz_max", &value), SXT_OK) << last_error(context);
  EXPECT_EQ(value, 5);
  EXPECT_EQ(sxt_matrix_feature(a.get(), "row_nnz_maximum", &value), SXT_E_UNKNOWN_NAME);
  EXPECT_NE(last_error(context).find("row_nnz_max"), std::string::npos);
  EXPECT_NE(sxt_feature_name(0), nullptr);
  EXPECT_EQ(sxt_feature_name(100000), nullptr);
}

}  // namespace
}  // namespace api_test
