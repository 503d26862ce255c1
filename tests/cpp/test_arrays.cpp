// SPDX-License-Identifier: BSD-3-Clause
// What counts as an array, a block or indices, and which sizes are refused.
#include <array>
#include <version>
#if defined(__cpp_lib_mdspan)
#include <mdspan>
#endif

#include "problem.hpp"

namespace {

using problem::error_of;
using sextant::columns;

static_assert(sextant::Array<std::vector<double>> && sextant::Array<const std::vector<std::complex<float>> &>);
static_assert(sextant::Array<float[3]> && sextant::Array<std::span<const double>>);
static_assert(sextant::WritableArray<std::array<double, 2>> && !sextant::WritableArray<const std::vector<double>>);
static_assert(!sextant::Array<std::vector<int>> && !sextant::Array<std::vector<long double>> &&
              !sextant::Array<double *>);
static_assert(sextant::IndexArray<std::vector<int>> && sextant::IndexArray<std::span<const std::int64_t>>);
static_assert(!sextant::IndexArray<std::vector<unsigned>> && !sextant::IndexArray<std::vector<short>>);
static_assert(sextant::Block<columns<double>> && !sextant::Block<std::vector<double>>);
static_assert(sextant::WritableBlock<columns<float>> && !sextant::WritableBlock<columns<const float>>);
static_assert(sextant::value_type_of<const std::complex<double>> == SXT_C128);
static_assert(sextant::index_type_of<long long> == SXT_I64);

// Every handle moves and is not copied; a move leaves nothing.
template <class H>
constexpr bool move_only = std::is_nothrow_move_constructible_v<H> &&std::is_move_assignable_v<H> &&
                           !std::is_copy_constructible_v<H> && !std::is_copy_assignable_v<H>;
static_assert(move_only<sextant::Context> && move_only<sextant::Matrix> && move_only<sextant::Vector>);
static_assert(move_only<sextant::Pcg> && move_only<sextant::Hermitian> && move_only<sextant::Analysis>);
static_assert(move_only<sextant::Cholesky> && move_only<sextant::Selection>);

// Operands of two types do not compile.
template <class B, class X>
concept Solves = requires(const sextant::Pcg &pcg, const B &b, X &x) {
  pcg.solve(b, x);
};
static_assert(Solves<std::vector<double>, std::vector<double>> && Solves<columns<const float>, columns<float>>);
static_assert(!Solves<std::vector<double>, std::vector<float>> &&
              !Solves<std::vector<double>, const std::vector<double>>);
static_assert(!Solves<columns<double>, columns<float>> && !Solves<columns<double>, columns<const double>>);

TEST(CppArrays, ColumnsOfAnArray) {
  std::vector<double> values = problem::numbers<double>(8);
  const columns block(values, 3, 2, 5);
  static_assert(std::is_same_v<decltype(block), const columns<double>>);
  EXPECT_EQ(block[1][0], 6);
  EXPECT_EQ(block[1].size(), 3u);
  const columns<const double> reading = block;
  EXPECT_EQ(reading.data(), values.data());
  EXPECT_EQ(reading.leading_dimension(), 5);
  const columns constant(std::as_const(values), 4, 2);
  static_assert(std::is_same_v<decltype(constant), const columns<const double>>);
  EXPECT_EQ(constant.leading_dimension(), 4);
}

TEST(CppArrays, ColumnsThatDoNotFit) {
  std::vector<double> values(8);
  const auto status = [&](std::int64_t rows, std::int64_t cols, std::int64_t leading) {
    return error_of([&] { columns(values, rows, cols, leading); }).status();
  };
  EXPECT_EQ(status(3, 2, 5), SXT_OK);
  EXPECT_EQ(status(8, 1, 100), SXT_OK);
  EXPECT_EQ(status(9, 1, 0), SXT_E_DIMENSION);
  EXPECT_EQ(status(3, 2, 6), SXT_E_DIMENSION);
  EXPECT_EQ(status(3, 3, 3), SXT_E_DIMENSION);
  EXPECT_EQ(status(3, 2, 2), SXT_E_DIMENSION);
  EXPECT_EQ(status(-1, 2, 2), SXT_E_DIMENSION);
  EXPECT_EQ(status(1, std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::max()),
            SXT_E_DIMENSION);
}

// The members of std::mdspan that are looked at.
struct View {
  using element_type = double;
  static constexpr std::size_t rank() { return 2; }
  double *data_handle() const { return data; }
  int extent(std::size_t r) const { return extents[r]; }
  int stride(std::size_t r) const { return strides[r]; }
  double *data;
  int extents[2], strides[2];
};

TEST(CppArrays, ColumnsOfAView) {
  double values[12] = {};
  const columns block(View{values, {3, 2}, {1, 6}});
  EXPECT_EQ(block.rows(), 3);
  EXPECT_EQ(block.cols(), 2);
  EXPECT_EQ(block.leading_dimension(), 6);
  EXPECT_EQ(block[1].data(), values + 6);
  EXPECT_EQ(columns(View{values, {3, 1}, {1, 1}}).leading_dimension(), 3);
  const sextant::error error = error_of([&] { columns(View{values, {3, 2}, {2, 1}}); });
  EXPECT_EQ(error.status(), SXT_E_ARGUMENT);
  EXPECT_THAT(error.what(), testing::HasSubstr("stride(0) of the view is 2"));
  EXPECT_EQ(error_of([&] { columns(View{values, {3, 2}, {1, 2}}); }).status(), SXT_E_ARGUMENT);
}

TEST(CppArrays, ColumnsOfMdspan) {
#if defined(__cpp_lib_mdspan)
  double values[6] = {1, 2, 3, 4, 5, 6};
  const std::mdspan<double, std::dextents<int, 2>, std::layout_left> view(values, 3, 2);
  const columns block(view);
  EXPECT_EQ(block[1][0], 4);
  EXPECT_EQ(error_of([&] { columns(std::mdspan<double, std::dextents<int, 2>>(values, 3, 2)); }).status(),
            SXT_E_ARGUMENT);
#else
  GTEST_SKIP() << "this compiler has no std::mdspan";
#endif
}

}  // namespace
