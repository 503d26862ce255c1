// SPDX-License-Identifier: BSD-3-Clause
// FSAI against factors found row by row with dense inverses of the local systems.
#include "plugins/preconditioner/test_support.hpp"

#include <cstdint>
#include <new>
#include <numeric>
#include <vector>

#include "plugins/preconditioner/shared/fsai.hpp"

using namespace preconditioner_test;

namespace {

const sxt_kernel &kernel(int power = 1) {
  return find_kernel(load_own("preconditioner-fsai"),
                     power == 1 ? "preconditioner.fsai.cpu" : "preconditioner.fsai-2.cpu");
}

// The columns of row i of the lower triangle of A or A^2.
template <class T>
std::vector<std::int64_t> columns_of(const Dense<T> &a, std::int64_t i, int power) {
  std::vector<std::int64_t> found;
  for (std::int64_t j = 0; j <= i; ++j) {
    bool there = std::abs(a(i, j)) != 0;
    for (std::int64_t k = 0; k < a.n && power == 2; ++k)
      there = there || (std::abs(a(i, k)) != 0 && std::abs(a(k, j)) != 0);
    if (there) found.push_back(j);
  }
  return found;
}

// G by its definition: g A[J, J] is a multiple of the last unit vector, and diag(G A G') = 1.
template <class T>
Dense<T> factor_of(const Dense<T> &a, int power) {
  Dense<T> g(a.n);
  for (std::int64_t i = 0; i < a.n; ++i) {
    const auto columns = columns_of(a, i, power);
    const auto m = static_cast<std::int64_t>(columns.size());
    Dense<T> local(m);
    for (std::int64_t p = 0; p < m; ++p)
      for (std::int64_t q = 0; q < m; ++q) local(p, q) = a(columns[p], columns[q]);
    const Dense<T> inverted = inverse(local);
    for (std::int64_t q = 0; q < m; ++q)
      g(i, columns[q]) = inverted(m - 1, q) / std::sqrt(std::real(inverted(m - 1, m - 1)));
  }
  return g;
}

template <class T>
void matches_dense(int power, std::int32_t points, std::int32_t unknowns, int threads) {
  SCOPED_TRACE("power " + std::to_string(power) + ", type " + std::to_string(Codes<T>::type));
  const Matrix<T> a = coupled<T>(points, unknowns);
  Prepared m(kernel(power), a.view(), Codes<T>::type, threads);
  ASSERT_EQ(m.status, SXT_OK) << Host::sentence;
  const Dense<T> got = dense_of<T>(m, a.n), g = factor_of(dense_of(a), power);
  EXPECT_LT(distance(got, adjoint(g) * g), 1000);
  expect_definite(got);
  const Dense<T> scaled = g * dense_of(a) * adjoint(g);  // the test's own factor is correct
  for (std::int64_t i = 0; i < a.n; ++i) EXPECT_NEAR(std::real(scaled(i, i)), 1, 1e-4);
}

TEST(Fsai, SolvesTheLocalSystemsInEveryType) {
  for (const int power : {1, 2}) {
    matches_dense<double>(power, 13, 3, 1);
    matches_dense<float>(power, 30, 1, 2);
    matches_dense<std::complex<double>>(power, 12, 2, 3);
    matches_dense<std::complex<float>>(power, 25, 1, 1);
  }
}

TEST(Fsai, IsExactOnAFullTriangle) {
  // Every pair of rows is coupled: G is the inverse of the Cholesky factor, and M that of A.
  Matrix<double> a;
  for (std::int32_t i = 0; i < 9; ++i) {
    std::map<std::int32_t, double> row;
    for (std::int32_t j = 0; j < 9; ++j) row[j] = i == j ? 10 : noise(std::min(i, j) * 10 + std::max(i, j));
    a.append_row(row);
  }
  Prepared m(kernel(), a.view(), SXT_F64);
  EXPECT_LT(distance(dense_of<double>(m, 9), inverse(dense_of(a))), 100);
}

TEST(Fsai, LongRowsKeepTheStrongestEntries) {
  namespace precondition = sextant::plugin::precondition;
  // The last row is coupled with all others, with a strength that falls with the column, but for two entries.
  constexpr std::int32_t n = 200;
  std::vector<std::int64_t> ptr{0};
  std::vector<std::int32_t> col;
  for (std::int32_t i = 0; i < n - 1; ++i) col.push_back(i), col.push_back(n - 1), ptr.push_back(ptr.back() + 2);
  for (std::int32_t j = 0; j < n; ++j) col.push_back(j);
  ptr.push_back(ptr.back() + n);
  const std::int64_t last = ptr[n - 1];
  const auto strength = [&](std::int64_t k) { return k == last + 150 ? 9.0 : k == last ? 1e-9 : 1.0 / (1 + k); };
  for (const int team : {1, 3}) {
    const auto pattern = precondition::fsai_pattern(n, ptr.data(), col.data(), 1, team, strength);
    const std::vector<std::int32_t> row(pattern.col.begin() + pattern.ptr[n - 1], pattern.col.end());
    std::vector<std::int32_t> want;
    for (std::int32_t j = 1; j < precondition::fsai_row_limit - 1; ++j) want.push_back(j);
    want.push_back(150);
    want.push_back(n - 1);
    EXPECT_EQ(row, want);
    EXPECT_EQ(pattern.longest, precondition::fsai_row_limit);
    EXPECT_EQ(pattern.ptr[5] - pattern.ptr[4], 1);
  }
}

// Row 0 and column 0 are dense: through them every row reaches every other, and such paths are not followed.
TEST(Fsai, ADenseRowJoinsNoOthers) {
  namespace precondition = sextant::plugin::precondition;
  constexpr std::int32_t n = 4000;
  std::vector<std::int64_t> ptr{0, n};
  std::vector<std::int32_t> col(n);
  std::iota(col.begin(), col.end(), 0);
  for (std::int32_t i = 1; i < n; ++i) col.push_back(0), col.push_back(i), ptr.push_back(ptr.back() + 2);
  std::int64_t asked = 0;
  const auto pattern = precondition::fsai_pattern(n, ptr.data(), col.data(), 2, 1, [&](std::int64_t) {
    ++asked;
    return 0.5;
  });
  EXPECT_LT(asked, 20 * static_cast<std::int64_t>(col.size()));
  ASSERT_EQ(pattern.ptr.back(), 2 * n - 1);
  for (std::int32_t i = 1; i < n; ++i) {
    EXPECT_EQ(pattern.col[pattern.ptr[i]], 0);
    EXPECT_EQ(pattern.col[pattern.ptr[i] + 1], i);
  }
}

// An exception in a part of the team is rethrown on the caller's thread.
TEST(Fsai, APartWithoutMemoryIsAnError) {
  namespace precondition = sextant::plugin::precondition;
  std::vector<std::int64_t> ptr(91);
  std::iota(ptr.begin(), ptr.end(), 0);
  std::vector<std::int32_t> col(90);
  std::iota(col.begin(), col.end(), 0);
  for (const int team : {1, 3})
    EXPECT_THROW(precondition::fsai_pattern(90, ptr.data(), col.data(), 1, team,
                                            [](std::int64_t k) -> double {
                                              if (k > 70) throw std::bad_alloc();
                                              return 1;
                                            }),
                 std::bad_alloc);
}

TEST(Fsai, RefusesWhatIsNotDefiniteAndNamesTheRow) {
  Matrix<double> a;
  a.append_row({{0, 1}, {2, 2}});
  a.append_row({{1, 1}});
  a.append_row({{0, 2}, {2, 1}});
  EXPECT_EQ(Prepared(kernel(), a.view(), SXT_F64).status, SXT_E_NOT_POSITIVE_DEFINITE);
  EXPECT_NE(Host::sentence.find("row 2"), std::string::npos) << Host::sentence;
  EXPECT_NE(refusal(kernel(), "fsai:2").find("takes no number"), std::string::npos);
  EXPECT_NE(refusal(kernel(), "fsai-2").find("asks for \"fsai-2\""), std::string::npos);
  EXPECT_EQ(refusal(kernel(2), "fsai-2"), "");
}

}  // namespace
