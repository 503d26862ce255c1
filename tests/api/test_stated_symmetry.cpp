// SPDX-License-Identifier: BSD-3-Clause
// Products of a matrix that was stated to be symmetric, with both triangles given, and is not: a storage that keeps one
// of two mirror images would answer for another matrix.
#include <string>
#include <vector>

#include "tests/api/support.hpp"

namespace api_test {
namespace {

using testing::HasSubstr;

// Diagonals -1, 2, above; what stands below the main one is given.
Csr three_diagonals(std::int64_t n, double below) {
  Csr a;
  a.rows = a.cols = n;
  for (std::int64_t i = 0; i < n; ++i) {
    if (i > 0) a.entry(static_cast<std::int32_t>(i - 1), below);
    a.entry(static_cast<std::int32_t>(i), 2);
    if (i + 1 < n) a.entry(static_cast<std::int32_t>(i + 1), -1);
    a.end_row();
  }
  return a;
}

Matrix stated_symmetric(const Context &context, const Csr &a) {
  sxt_matrix_options options;
  sxt_matrix_options_init(&options, sizeof options);
  options.symmetry = SXT_SYMMETRIC;
  return make<Matrix>([&](sxt_matrix **out) {
    return sxt_matrix_from_csr(context.get(), a.rows, a.cols, a.ptr.data(), a.col.data(), a.values.data(), &options,
                               out);
  });
}

void expect_right_products(const Csr &a, const Matrix &matrix) {
  std::vector<double> x(static_cast<std::size_t>(a.rows)), y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 1 + static_cast<double>(i % 7);
  for (int run = 0; run < 3; ++run) {
    ASSERT_EQ(sxt_spmv_array(SXT_NO_TRANSPOSE, nullptr, matrix.get(), x.data(), nullptr, y.data()), SXT_OK);
    EXPECT_EQ(y, a.times(x));
  }
}

TEST(StatedSymmetry, IsComparedBeforeAStorageBuildsOnIt) {
  const Context context = cpu();
  const Csr a = three_diagonals(300, -3), like = three_diagonals(300, -1);
  const Matrix matrix = stated_symmetric(context, a), symmetric = stated_symmetric(context, like);
  ASSERT_EQ(sxt_context_force(context.get(), "sxt.spmv/1", "spmv.dia-symmetric.cpu"), SXT_OK);
  std::vector<double> x(300, 1), y(300);
  EXPECT_LT(sxt_spmv_array(SXT_NO_TRANSPOSE, nullptr, matrix.get(), x.data(), nullptr, y.data()), 0);
  EXPECT_THAT(last_error(context), HasSubstr("not known to be symmetric"));
  expect_right_products(like, symmetric);
  ASSERT_EQ(sxt_context_force(context.get(), "sxt.spmv/1", nullptr), SXT_OK);
  expect_right_products(a, matrix);
}

// As long as the storage of one triangle is right it serves; new values may end that, and bring it back.
TEST(StatedSymmetry, IsComparedAgainForNewValues) {
  const Context context = cpu();
  const Csr like = three_diagonals(3000, -1), unlike = three_diagonals(3000, -3);
  const Matrix matrix = stated_symmetric(context, like);
  const auto forced = [&](const char *kernel) {
    ASSERT_EQ(sxt_context_force(context.get(), "sxt.spmv/1", kernel), SXT_OK) << last_error(context);
  };
  forced("spmv.dia-symmetric.cpu");
  expect_right_products(like, matrix);
  forced(nullptr);
  unlike.update(matrix);
  expect_right_products(unlike, matrix);
  like.update(matrix);
  forced("spmv.dia-symmetric.cpu");
  expect_right_products(like, matrix);
}

}  // namespace
}  // namespace api_test
