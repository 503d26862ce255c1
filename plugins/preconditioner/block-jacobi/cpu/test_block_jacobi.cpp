// SPDX-License-Identifier: BSD-3-Clause
// Block-Jacobi against the dense inverses of the blocks, which the test computes independently.
#include "plugins/preconditioner/test_support.hpp"

#include <cstdint>

#include "plugins/preconditioner/shared/preconditioner.hpp"

using namespace preconditioner_test;

namespace {

const sxt_kernel &kernel() {
  return find_kernel(load_own("preconditioner-block-jacobi"), "preconditioner.block-jacobi.cpu");
}

// The inverse of the diagonal blocks with these first rows.
template <class T>
Dense<T> blocks_inverted(const Dense<T> &a, const std::vector<std::int64_t> &borders) {
  Dense<T> out(a.n);
  for (std::size_t k = 0; k + 1 < borders.size(); ++k) {
    const std::int64_t first = borders[k], size = borders[k + 1] - first;
    Dense<T> block(size);
    for (std::int64_t i = 0; i < size; ++i)
      for (std::int64_t j = 0; j < size; ++j) block(i, j) = a(first + i, first + j);
    const Dense<T> inverted = inverse(block);
    for (std::int64_t i = 0; i < size; ++i)
      for (std::int64_t j = 0; j < size; ++j) out(first + i, first + j) = inverted(i, j);
  }
  return out;
}

std::vector<std::int64_t> every(std::int64_t n, std::int64_t size) {
  std::vector<std::int64_t> borders;
  for (std::int64_t i = 0; i < n; i += size) borders.push_back(i);
  borders.push_back(n);
  return borders;
}

template <class T>
void matches_dense(std::int32_t points, std::int32_t unknowns, const char *method, std::int64_t size, int threads = 2) {
  SCOPED_TRACE(std::string(method) + ", " + std::to_string(unknowns) + " unknowns a point, type " +
               std::to_string(Codes<T>::type));
  const Matrix<T> a = coupled<T>(points, unknowns);
  Prepared m(kernel(), a.view(), Codes<T>::type, threads, method);
  ASSERT_EQ(m.status, SXT_OK) << Host::sentence;
  const Dense<T> got = dense_of<T>(m, a.n);
  EXPECT_LT(distance(got, blocks_inverted(dense_of(a), every(a.n, size))), 1000);
  expect_definite(got);
}

TEST(BlockJacobi, IsTheInverseOfTheBlocksInEveryType) {
  matches_dense<double>(23, 1, "block-jacobi", 8);
  matches_dense<float>(23, 1, "block-jacobi:4", 4);
  matches_dense<std::complex<double>>(23, 1, "block-jacobi:32", 32);
  matches_dense<std::complex<float>>(23, 1, "block-jacobi:2", 2);
  matches_dense<double>(5, 1, "block-jacobi:32", 32);  // one block, smaller than allowed
}

TEST(BlockJacobi, KeepsTheUnknownsOfANodeTogether) {
  matches_dense<double>(15, 3, "block-jacobi:8", 6);  // two nodes of three rows
  matches_dense<double>(9, 5, "block-jacobi:8", 5);   // a second node of five does not fit
}

TEST(BlockJacobi, CutsNodesThatAreTooLarge) {
  namespace precondition = sextant::plugin::precondition;
  const auto same = [](std::int64_t i) { return i % 10 != 0; };  // nodes of ten rows
  EXPECT_EQ(precondition::block_borders(20, 4, same), (std::vector<std::int32_t>{0, 4, 8, 10, 14, 18, 20}));
  EXPECT_EQ(precondition::block_borders(20, 32, same), (std::vector<std::int32_t>{0, 20}));
  EXPECT_EQ(precondition::block_borders(0, 4, same), (std::vector<std::int32_t>{0}));
}

TEST(BlockJacobi, RefusesWhatIsNotDefiniteAndNamesTheRow) {
  Matrix<double> a;  // rows 2 and 3 form an indefinite block
  a.append_row({{0, 1}});
  a.append_row({{1, 1}});
  a.append_row({{2, 1}, {3, 2}});
  a.append_row({{2, 2}, {3, 1}});
  Prepared m(kernel(), a.view(), SXT_F64, 1, "block-jacobi:4");
  EXPECT_EQ(m.status, SXT_E_NOT_POSITIVE_DEFINITE);
  EXPECT_NE(Host::sentence.find("row 3"), std::string::npos) << Host::sentence;
  a.values.back() = std::nan("");
  EXPECT_EQ(Prepared(kernel(), a.view(), SXT_F64).status, SXT_E_NOT_POSITIVE_DEFINITE);
}

TEST(BlockJacobi, ReadsItsSizeFromTheMethod) {
  EXPECT_EQ(refusal(kernel(), ""), "");
  EXPECT_EQ(refusal(kernel(), "block-jacobi"), "");
  EXPECT_EQ(refusal(kernel(), "block-jacobi:2"), "");
  EXPECT_EQ(refusal(kernel(), "block-jacobi:32"), "");
  for (const char *wrong : {"block-jacobi:1", "block-jacobi:33", "block-jacobi:2.5", "block-jacobi:", "block-jacobi:8x",
                            "block-jacobi:nan"})
    EXPECT_NE(refusal(kernel(), wrong).find("whole number from 2 to 32"), std::string::npos) << wrong;
  for (const char *other : {"jacobi", "block-jacobian", "block"})
    EXPECT_NE(refusal(kernel(), other).find("the query asks for"), std::string::npos) << other;
  EXPECT_NE(refusal(kernel(), "", 5, 6).find("5 rows, 6 columns"), std::string::npos);
  EXPECT_NE(refusal(kernel(), "", 1ll << 31, 1ll << 31).find("32-bit"), std::string::npos);
}

}  // namespace
