// SPDX-License-Identifier: BSD-3-Clause
// The checks of symmetry and diagonal before a solve: by a walk on few threads and by searches on many, with the same
// message.
#include <gmock/gmock.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "core/matrix/symmetric_enough.hpp"
#include "core/pcg/solver.hpp"

namespace sextant {
namespace {

using testing::HasSubstr;

struct Entry {
  std::int32_t row, col;
  double value;
};

// Rows of entries in order; the arrays live as long as the object.
class Arrays {
 public:
  Arrays(std::int32_t n, const std::vector<Entry> &entries) : ptr_(static_cast<std::size_t>(n) + 1) {
    for (const Entry &each : entries) ++ptr_[each.row + 1], col_.push_back(each.col), values_.push_back(each.value);
    for (std::int32_t i = 0; i < n; ++i) ptr_[i + 1] += ptr_[i];
    csr.rows = csr.cols = n;
    csr.nnz = static_cast<std::int64_t>(col_.size());
    csr.row_ptr = Buffer::borrow(ptr_.data(), ptr_.size() * sizeof(std::int32_t));
    csr.col = Buffer::borrow(col_.data(), col_.size() * sizeof(std::int32_t));
    csr.values = Buffer::borrow(values_.data(), values_.size() * sizeof(double));
  }
  CsrArrays csr;

 private:
  std::vector<std::int32_t> ptr_, col_;
  std::vector<double> values_;
};

// "" when the matrix passes.
template <class Check>
std::string sentence(Check &&check) {
  try {
    check();
  } catch (const Error &problem) {
    return problem.what();
  }
  return "";
}

class PcgChecksTest : public testing::TestWithParam<int> {
 protected:
  bool compare(const Arrays &a) const {
    Buffer work;
    return check_hermitian(a.csr, GetParam(), work, SymmetryTolerance(0, SXT_F64));
  }
  DiagonalRange range(const CsrArrays &csr) const {
    return check_diagonal(csr, GetParam(), SymmetryTolerance(0, csr.value_type));
  }
  std::string hermitian(const Arrays &a) const {
    return sentence([&] { compare(a); });
  }
  std::string diagonal(const Arrays &a) const {
    return sentence([&] { range(a.csr); });
  }
};

// A tridiagonal matrix with enough rows for several threads; row `odd` has another value above the diagonal.
Arrays chain(std::int32_t n, std::int32_t odd = -1, double diagonal_of_odd = 2) {
  std::vector<Entry> entries;
  for (std::int32_t i = 0; i < n; ++i) {
    if (i > 0) entries.push_back({i, i - 1, -1});
    entries.push_back({i, i, i == odd ? diagonal_of_odd : 2});
    if (i + 1 < n) entries.push_back({i, i + 1, i == odd && diagonal_of_odd == 2 ? -0.5 : -1});
  }
  return {n, entries};
}

TEST_P(PcgChecksTest, SymmetricMatricesPass) {
  EXPECT_EQ(hermitian(chain(200000)), "");
  EXPECT_EQ(hermitian(Arrays(0, {})), "");
  EXPECT_EQ(hermitian(Arrays(3, {{0, 0, 1}, {0, 2, 5}, {2, 0, 5}})), "") << "without a diagonal";
}

TEST_P(PcgChecksTest, AnotherValueIsNamed) {
  EXPECT_THAT(hermitian(chain(200000, 150000)), HasSubstr("entry (150000, 150001) is -0.5 but (150001, 150000) is -1"));
}

TEST_P(PcgChecksTest, WhatIsNoNumberIsNamedAndNotCalledUnsymmetric) {
  const double none = std::numeric_limits<double>::quiet_NaN(), infinite = std::numeric_limits<double>::infinity();
  const auto at = [](double above, double diagonal, double below) {
    return Arrays(3,
                  {{0, 0, 1}, {0, 1, 1 + 1e-15}, {1, 0, 1}, {1, 1, diagonal}, {1, 2, above}, {2, 1, below}, {2, 2, 1}});
  };
  for (const Arrays &a : {at(none, 1, 2), at(2, 1, infinite), at(2, none, 2)}) {
    try {
      compare(a);
      ADD_FAILURE() << "it passed";
    } catch (const Error &problem) {
      EXPECT_EQ(problem.status(), SXT_E_NOT_FINITE);
      EXPECT_THAT(problem.what(), testing::ContainsRegex("entry \\([12], [12]\\) of the matrix is -?(nan|inf)"));
    }
  }
}

TEST_P(PcgChecksTest, MissingMirrorImagesAreNamed) {
  const Arrays upper(3, {{0, 0, 1}, {0, 2, 5}, {1, 1, 1}, {2, 2, 1}}),
      lower(3, {{0, 0, 1}, {1, 1, 1}, {2, 0, 5}, {2, 2, 1}});
  EXPECT_THAT(hermitian(upper), HasSubstr("entry (0, 2) is there but (2, 0) is not"));
  EXPECT_THAT(hermitian(lower), HasSubstr("entry (2, 0) is there but (0, 2) is not"));
  // (2, 0) has no image, (2, 1) has: the second must not be blamed.
  const Arrays extra(3, {{0, 0, 1}, {1, 1, 1}, {1, 2, 4}, {2, 0, 5}, {2, 1, 4}, {2, 2, 1}});
  EXPECT_THAT(hermitian(extra), HasSubstr("entry (2, 0) is there but (0, 2) is not"));
}

TEST_P(PcgChecksTest, NumbersOnTheDiagonalAreReal) {
  EXPECT_THAT(hermitian(Arrays(2, {{0, 0, 1}, {1, 1, NAN}})),
              HasSubstr("entry (1, 1) of the matrix is nan (counting from 0)"));
  const std::int32_t ptr[] = {0, 1, 2}, col[] = {0, 1};
  const std::complex<double> values[] = {{3, 0}, {2, 1}};
  CsrArrays csr;
  csr.rows = csr.cols = csr.nnz = 2;
  csr.value_type = SXT_C128;
  csr.row_ptr = Buffer::borrow(ptr, sizeof ptr);
  csr.col = Buffer::borrow(col, sizeof col);
  csr.values = Buffer::borrow(values, sizeof values);
  Buffer work;
  EXPECT_THAT(sentence([&] { check_hermitian(csr, GetParam(), work, SymmetryTolerance(0, SXT_C128)); }),
              HasSubstr("is not Hermitian: entry (1, 1) is (2,1), which is no real number"));
}

// Equal up to rounding passes, but is distinguished from equal.
TEST_P(PcgChecksTest, EqualityToTheLastBitIsNoticed) {
  EXPECT_TRUE(compare(chain(200000)));
  EXPECT_TRUE(compare(Arrays(0, {})));
  const double nearly = std::nextafter(5.0, 6.0);
  EXPECT_FALSE(compare(Arrays(3, {{0, 0, 1}, {0, 2, 5}, {2, 0, nearly}})));
}

TEST_P(PcgChecksTest, TheFirstBadDiagonalEntryIsNamed) {
  EXPECT_THAT(diagonal(chain(200000, 120000, 0)), HasSubstr("row 120000 (counting from 0) is 0;"));
  EXPECT_THAT(diagonal(Arrays(3, {{0, 0, 1}, {2, 2, 1}})), HasSubstr("row 1 (counting from 0) has no diagonal entry"));
  EXPECT_THAT(diagonal(Arrays(3, {{0, 0, 1}, {1, 1, 7}, {2, 2, -3}})), HasSubstr("row 2 (counting from 0) is -3"));
}

TEST_P(PcgChecksTest, ConstantDiagonalsAreNoticed) {
  EXPECT_EQ(range(chain(100000).csr).ratio(), 1);
  EXPECT_EQ(range(chain(100000, 70000, 3).csr).ratio(), 1.5);
  EXPECT_EQ(range(Arrays(0, {}).csr).ratio(), 1);
}

TEST_P(PcgChecksTest, RoundingOfManyRowsPasses) {
  std::vector<Entry> entries;
  for (std::int32_t i = 0; i < 200000; ++i) {
    if (i > 0) entries.push_back({i, i - 1, -1 - 1e-15 * (i % 3)});
    entries.push_back({i, i, 2});
    if (i + 1 < 200000) entries.push_back({i, i + 1, -1});
  }
  EXPECT_FALSE(compare(Arrays(200000, entries)));
  entries[100].value *= 1 + 1e-10;
  EXPECT_THAT(hermitian(Arrays(200000, entries)), HasSubstr("(counting from 0); they differ by 9.9998"));
}

TEST(PcgScaleTest, ThePowerOfTwoThatBringsAMatrixNear) {
  EXPECT_EQ(exponent_near(SXT_F64, {1, 4}), 0);
  EXPECT_EQ(exponent_near(SXT_F64, {1e-30, 1e30}), 0) << "near";
  EXPECT_EQ(exponent_near(SXT_F32, {1, 1e6}), -19);
  EXPECT_EQ(exponent_near(SXT_F64, {0x1p-1074, 0x1p-1074}), 1074);
  EXPECT_EQ(exponent_near(SXT_F64, {0x1p-1000, 0x1p1000}), -22) << "the least stays a normal number";
  EXPECT_EQ(exponent_near(SXT_F32, {0x1p-126, 0x1p126}), 0);
  EXPECT_EQ(exponent_near(SXT_F32, {0x1p-149, 0x1p127}), -1) << "where both cannot, the greatest does";
}

INSTANTIATE_TEST_SUITE_P(Threads, PcgChecksTest, testing::Values(1, 8));

}  // namespace
}  // namespace sextant
