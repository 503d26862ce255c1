// SPDX-License-Identifier: BSD-3-Clause
// What assemble() and update_values() refuse, with a message that names the place, and that they leak nothing.
#include <cstdint>
#include <limits>
#include <vector>

#include "core/matrix/assemble.hpp"
#include "tests/unit/test_matrix_market_util.hpp"

namespace sextant::test {
namespace {

using Layout = EntryArrays::Layout;

// A 3 x 3 matrix with four entries, in a form that each test spoils in one place.
struct Sample {
  std::vector<std::int32_t> row{0, 1, 2, 2}, col{0, 1, 0, 2};
  std::vector<double> values{1, 2, 3, 4};
  AssemblyOptions options;
  EntryArrays arrays;

  explicit Sample(Layout layout = Layout::coo, int base = 0) {
    options.index_base = base;
    arrays.layout = layout;
    arrays.rows = arrays.cols = 3;
    arrays.nnz = 4;
    if (layout == Layout::csr) row = {0, 1, 2, 4};
    if (layout == Layout::csc) row = {0, 2, 1, 2}, col = {0, 2, 3, 4};
    for (auto *array : {&row, &col})
      for (std::int32_t &index : *array) index += base;
  }

  // Assembles; expects the error, and no memory held after it.
  void expect(sxt_status status, const std::string &sentence) {
    arrays.row = row.data(), arrays.col = col.data(), arrays.values = values.data();
    CountingAllocator memory;
    const auto [got, what] = error_of([&] { assemble(arrays, options, memory.hooks()); });
    EXPECT_EQ(got, status) << what;
    EXPECT_EQ(what, sentence);
    EXPECT_EQ(memory.held(), 0);
  }
};

TEST(AssembleErrors, TheSampleItselfIsFine) {
  for (const Layout layout : {Layout::coo, Layout::csr, Layout::csc})
    for (const int base : {0, 1}) Sample(layout, base).expect(SXT_OK, "no error");
}

TEST(AssembleErrors, IndicesOutOfRangeAreNamedInTheCallersBase) {
  Sample zero;
  zero.row[2] = 3;
  zero.expect(SXT_E_INDEX, "entry 2 (counting from 0), row 3, column 0: the row is outside 0..2");
  Sample one(Layout::coo, 1);
  one.col[3] = 0;
  one.expect(SXT_E_INDEX, "entry 4 (counting from 1), row 3, column 0: the column is outside 1..3");
  Sample csr(Layout::csr, 1);
  csr.col[1] = -5;
  csr.expect(SXT_E_INDEX, "entry 2 (counting from 1), row 2, column -5: the column is outside 1..3");
  Sample csc(Layout::csc);
  csc.row[1] = 7;
  csc.expect(SXT_E_INDEX, "entry 1 (counting from 0), row 7, column 0: the row is outside 0..2");
}

TEST(AssembleErrors, ExtremeIndicesDoNotWrapAround) {
  for (const std::int64_t bad : {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()}) {
    const std::int64_t row[] = {bad}, col[] = {1};
    const double value[] = {1};
    EntryArrays arrays;
    arrays.rows = arrays.cols = arrays.nnz = 1;
    arrays.index_type = SXT_I64;
    arrays.row = row, arrays.col = col, arrays.values = value;
    AssemblyOptions options;
    options.index_base = 1;
    const auto [status, sentence] = error_of([&] { assemble(arrays, options, Allocator()); });
    EXPECT_EQ(status, SXT_E_INDEX);
    EXPECT_NE(sentence.find(text("row ", bad, ",")), std::string::npos) << sentence;
  }
}

TEST(AssembleErrors, PointerArrays) {
  Sample first(Layout::csr, 1);
  first.row[0] = 0;
  first.expect(SXT_E_ARGUMENT, "row pointer 1 (the first) is 0, expected the index base 1");
  Sample falls(Layout::csr);
  falls.row[1] = 3;
  falls.expect(SXT_E_ARGUMENT, "row pointer 2 (counting from 0) is 2, less than the one before, 3");
  Sample last(Layout::csc, 1);
  last.col[3] = 4;
  last.expect(SXT_E_ARGUMENT, "column pointer 4 (the last, counting from 1) is 4, expected 5 for 4 entries");
  Sample negative(Layout::csc);
  negative.col[1] = -1;
  negative.expect(SXT_E_ARGUMENT, "column pointer 1 (counting from 0) is -1, less than the one before, 0");
  // Pointers that rise beyond the arrays must be seen before anything is read through them.
  Sample beyond(Layout::csr);
  beyond.row[2] = 1000000000;
  beyond.expect(SXT_E_ARGUMENT, "row pointer 3 (counting from 0) is 4, less than the one before, 1000000000");
}

TEST(AssembleErrors, Sizes) {
  Sample negative;
  negative.arrays.rows = -1;
  negative.expect(SXT_E_ARGUMENT, "a matrix of -1 x 3 with 4 entries: sizes must not be negative");
  Sample large;
  large.arrays.cols = std::numeric_limits<std::int64_t>::max();
  large.expect(SXT_E_OVERFLOW,
               "a matrix of 3 x 9223372036854775807 with 4 entries is too large: sizes must be below 2^58");
  Sample missing;
  missing.arrays.nnz = 0;
  missing.expect(SXT_OK, "no error");
  EntryArrays null;
  null.nnz = 2, null.rows = null.cols = 2;
  EXPECT_EQ(error_of([&] { assemble(null, {}, Allocator()); }).second, "row is NULL");
  null.nnz = 0, null.layout = Layout::csc;
  EXPECT_EQ(error_of([&] { assemble(null, {}, Allocator()); }).second, "col_ptr is NULL");
}

TEST(AssembleErrors, Options) {
  Sample base;
  base.options.index_base = 2;
  base.expect(SXT_E_ARGUMENT, "index base 2 is not 0 or 1");
  Sample symmetry;
  symmetry.options.symmetry = 9;
  symmetry.expect(SXT_E_ARGUMENT, "symmetry 9 is not general (0), symmetric (1), Hermitian (2) or skew (3)");
  Sample triangle;
  triangle.options.triangle = SXT_LOWER;
  triangle.expect(
      SXT_E_ARGUMENT,
      "one triangle is said to be stored, but the matrix is general: give its symmetry or triangle full (0)");
  Sample shape;
  shape.options.symmetry = SXT_SYMMETRIC;
  shape.arrays.cols = 4;
  shape.expect(SXT_E_NOT_SQUARE, "a 3 x 4 matrix cannot be symmetric, Hermitian or skew: it is not square");
  Sample type;
  type.arrays.value_type = 17;
  type.expect(SXT_E_TYPE, "value type 17 is not one of f32 (1), f64 (2), c64 (3), c128 (4)");
}

TEST(AssembleErrors, TheWrongTriangle) {
  Sample upper(Layout::coo, 1);
  upper.options.symmetry = SXT_SYMMETRIC, upper.options.triangle = SXT_UPPER;
  upper.expect(
      SXT_E_ARGUMENT,
      "entry 3 (counting from 1), row 3, column 1: it lies below the diagonal, but only the upper triangle is said "
      "to be stored");
  Sample lower;
  lower.options.symmetry = SXT_SYMMETRIC, lower.options.triangle = SXT_LOWER;
  lower.expect(SXT_OK, "no error");
  std::swap(lower.row[2], lower.col[2]);
  lower.expect(
      SXT_E_ARGUMENT,
      "entry 2 (counting from 0), row 0, column 2: it lies above the diagonal, but only the lower triangle is said "
      "to be stored");
}

TEST(AssembleErrors, DiagonalsOfSkewAndHermitianMatrices) {
  Sample skew;
  skew.options.symmetry = SXT_SKEW, skew.options.triangle = SXT_LOWER;
  skew.expect(
      SXT_E_ARGUMENT,
      "entry 0 (counting from 0), row 0, column 0: a diagonal entry of a skew-symmetric matrix must be zero; it "
      "is (1,0)");
  skew.values = {0, 0, 3, -0.0};
  skew.expect(SXT_OK, "no error");
  const std::int32_t at[] = {1};
  const c128 value[] = {{1, 1e-3}};
  EntryArrays arrays;
  arrays.rows = arrays.cols = arrays.nnz = 1;
  arrays.value_type = SXT_C128;
  arrays.row = arrays.col = at;
  arrays.values = value;
  AssemblyOptions options;
  options.index_base = 1, options.symmetry = SXT_HERMITIAN, options.triangle = SXT_LOWER;
  EXPECT_EQ(error_of([&] { assemble(arrays, options, Allocator()); }).second,
            "entry 1 (counting from 1), row 1, column 1: a diagonal entry of a Hermitian matrix must be real; it is "
            "(1,0.001)");
}

TEST(AssembleErrors, ValuesThatAreNotFinite) {
  Sample nan(Layout::csr, 1);
  nan.values[2] = std::numeric_limits<double>::quiet_NaN();
  nan.expect(SXT_E_NOT_FINITE, "entry 3 (counting from 1), row 3, column 1: the value is NaN");
  Sample infinite;
  infinite.values[3] = -std::numeric_limits<double>::infinity();
  infinite.expect(SXT_E_NOT_FINITE, "entry 3 (counting from 0), row 2, column 2: the value is infinite");
  infinite.options.check_finite = false;
  infinite.expect(SXT_OK, "no error");
  Sample sum;
  sum.row[3] = 1, sum.col[3] = 1;
  sum.values = {1, 1e308, 3, 1e308};
  sum.expect(SXT_E_NOT_FINITE, "the sum of the duplicate entries in row 1, column 1 (counting from 0) overflows f64");
}

TEST(AssembleErrors, DuplicatesWhenRefused) {
  Sample general(Layout::coo, 1);
  general.options.sum_duplicates = false;
  general.expect(SXT_OK, "no error");
  general.row[3] = 2, general.col[3] = 2;
  general.expect(
      SXT_E_DUPLICATE,
      "entries 2 and 4 (counting from 1) are at the same place, row 2, column 2, and duplicates are refused");
  Sample symmetric;
  symmetric.options.sum_duplicates = false;
  symmetric.options.symmetry = SXT_SYMMETRIC, symmetric.options.triangle = SXT_LOWER;
  symmetric.row[3] = 2, symmetric.col[3] = 0;
  symmetric.expect(
      SXT_E_DUPLICATE,
      "entries 2 and 3 (counting from 0) are at the same place, row 2, column 0, and duplicates are refused");
}

TEST(AssembleErrors, TheFirstOfManyBadEntriesIsNamedOnAnyNumberOfThreads) {
  std::vector<std::int32_t> row(300000, 1), col(300000, 1);
  std::vector<double> values(300000, 1.0);
  row[123456] = 99, row[299999] = -1;
  EntryArrays arrays;
  arrays.rows = arrays.cols = 5, arrays.nnz = 300000;
  arrays.row = row.data(), arrays.col = col.data(), arrays.values = values.data();
  for (const int threads : {1, 4}) {
    AssemblyOptions options;
    options.threads = threads;
    EXPECT_EQ(error_of([&] { assemble(arrays, options, Allocator()); }).second,
              "entry 123456 (counting from 0), row 99, column 1: the row is outside 0..4");
  }
}

TEST(AssembleErrors, MissingMemoryLeaksNothing) {
  Sample sample(Layout::csc, 1);
  sample.arrays.row = sample.row.data(), sample.arrays.col = sample.col.data(),
  sample.arrays.values = sample.values.data();
  int refused = 0, done = 0;
  for (std::int64_t limit = 0; limit < 1024; limit += 64) {
    CountingAllocator memory(limit);
    const sxt_status status = error_of([&] { assemble(sample.arrays, sample.options, memory.hooks()); }).first;
    ++(status == SXT_OK ? done : refused);
    EXPECT_TRUE(status == SXT_OK || status == SXT_E_MEMORY) << status;
    EXPECT_EQ(memory.held(), 0);
  }
  EXPECT_GT(refused, 0);
  EXPECT_GT(done, 0);
}

TEST(UpdateErrors, LeaveTheMatrixAsItWas) {
  Sample sample;
  sample.options.symmetry = SXT_SKEW, sample.options.triangle = SXT_LOWER;
  sample.values = {0, 0, 3, 0};
  sample.arrays.row = sample.row.data(), sample.arrays.col = sample.col.data(),
  sample.arrays.values = sample.values.data();
  Assembled got = assemble(sample.arrays, sample.options, Allocator());
  const std::string before = bytes_of(got.csr);
  const auto update = [&](std::vector<double> values) {
    return error_of([&] { update_values(got.csr, got.order, values.data(), true, 1); });
  };
  const auto not_finite = update({0, 0, std::numeric_limits<double>::infinity(), 0});
  EXPECT_EQ(not_finite.first, SXT_E_NOT_FINITE);
  EXPECT_EQ(not_finite.second, "new value 2 (counting from 0) of 4 is NaN or infinite");
  const auto diagonal = update({0, 5, 1, 0});
  EXPECT_EQ(diagonal.first, SXT_E_ARGUMENT);
  EXPECT_EQ(diagonal.second,
            "new value 1 (counting from 0) is on the diagonal and must be zero in a skew-symmetric matrix; it is 5");
  EXPECT_EQ(error_of([&] { update_values(got.csr, got.order, nullptr, true, 1); }).second,
            "the array of new values is NULL");
  EXPECT_EQ(bytes_of(got.csr), before);
  EXPECT_EQ(update({0, 0, 7, 0}).first, SXT_OK);
  EXPECT_EQ(entries_of(got.csr).at({0, 2}), -7.0);
}

TEST(UpdateErrors, ASumThatOverflowsLeavesTheMatrixAsItWas) {
  Sample sample;
  sample.row[3] = 1, sample.col[3] = 1;
  sample.arrays.row = sample.row.data(), sample.arrays.col = sample.col.data(),
  sample.arrays.values = sample.values.data();
  Assembled got = assemble(sample.arrays, sample.options, Allocator());
  const std::string before = bytes_of(got.csr);
  const std::vector<double> values{1, 1e308, 3, 1e308};
  EXPECT_EQ(error_of([&] { update_values(got.csr, got.order, values.data(), true, 1); }).first, SXT_E_NOT_FINITE);
  EXPECT_EQ(bytes_of(got.csr), before);
}

}  // namespace
}  // namespace sextant::test
