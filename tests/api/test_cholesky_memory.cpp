// SPDX-License-Identifier: BSD-3-Clause
// Memory of factorisations: what an analysis states is what is taken, and factors beyond 2^31 numbers.
#include <gmock/gmock.h>

#include <cstdlib>

#include "tests/api/cholesky_support.hpp"
#include "tests/live_bytes.hpp"

namespace {

using namespace api_test;
using testing::HasSubstr;

// A 7-point stencil on a cube.
Sparse<double> cube(std::int32_t side) {
  Sparse<double> a;
  const std::int32_t n = side * side * side;
  a.pattern.rows = a.pattern.cols = n;
  for (std::int32_t i = 0; i < n; ++i) {
    const auto put = [&](bool there, std::int32_t j) {
      if (!there) return;
      a.pattern.entry(j, 0);
      a.values.push_back(i == j ? 7 : -1);
    };
    const std::int32_t x = i % side, y = i / side % side, z = i / side / side;
    put(z > 0, i - side * side), put(y > 0, i - side), put(x > 0, i - 1), put(true, i);
    put(x + 1 < side, i + 1), put(y + 1 < side, i + side), put(z + 1 < side, i + side * side);
    a.pattern.end_row();
  }
  return a;
}

TEST(CholeskyMemory, AnAnalysisStatesWhatIsTaken) {
  if (!test::counts_live_bytes()) GTEST_SKIP() << "this allocator does not count";
  for (const char *scheduler : {"cholesky.tasks.cpu", "cholesky.columns.cpu", "cholesky.reference.cpu"}) {
    const Sparse<double> a = cube(scheduler[9] == 't' ? 26 : 14);
    const Context context = cpu();
    const Matrix matrix = a.matrix(context, [](sxt_matrix_options &o) { o.symmetry = SXT_SYMMETRIC; });
    sxt_analysis_options options = analysis_options();
    options.scheduler = scheduler;
    analyse(matrix, &options);  // what the process takes once
    const std::int64_t before = test::live_bytes();
    const Analysis analysis = analyse(matrix, &options);
    const Cholesky cholesky = factored(analysis);
    std::vector<double> x(static_cast<std::size_t>(a.n()), 1);
    ASSERT_EQ(sxt_cholesky_solve(cholesky.get(), a.n(), 1, x.data(), a.n(), x.data(), a.n(), nullptr, nullptr), SXT_OK);
    const auto taken = static_cast<double>(test::live_bytes() - before - static_cast<std::int64_t>(8 * x.capacity()));
    const auto stated = static_cast<double>(info_of(analysis).host_bytes);
    EXPECT_NEAR(stated / taken, 1, 0.02) << scheduler << ": " << stated << " stated, " << taken << " taken";
  }
}

// Stars of `points` rows, each with its hub eliminated first, so that L is full on each: few entries of A, many of L.
template <class T>
Sparse<T> stars(std::int32_t count, std::int32_t points) {
  Sparse<T> a;
  a.pattern.rows = a.pattern.cols = std::int64_t{count} * points;
  for (std::int32_t star = 0; star < count; ++star)
    for (std::int32_t i = 0; i < points; ++i) {
      const std::int32_t hub = star * points;
      const auto put = [&](std::int32_t j, int value) {
        a.pattern.entry(hub + j, 0);
        a.values.push_back(static_cast<T>(value));
      };
      if (i == 0) {
        put(0, points + 1);
        for (std::int32_t j = 1; j < points; ++j) put(j, -1);
      } else {
        put(0, -1), put(i, 2);
      }
      a.pattern.end_row();
    }
  return a;
}

sxt_analysis_options as_it_stands() {
  sxt_analysis_options options = analysis_options();
  options.order = "natural";
  return options;
}

TEST(CholeskyMemory, AnAnalysisCountsBeyondThirtyTwoBits) {
  constexpr std::int64_t count = 17, points = 16384;
  const Sparse<double> a = stars<double>(count, points);
  const Context context = cpu();
  const Matrix matrix = a.matrix(context, [](sxt_matrix_options &o) { o.symmetry = SXT_SYMMETRIC; });
  sxt_analysis_options options = as_it_stands();
  options.memory_limit = std::uint64_t{1} << 30;
  const Analysis analysis = analyse(matrix, &options);
  const sxt_analysis_info info = info_of(analysis);
  EXPECT_EQ(info.nnz_l, count * points * (points + 1) / 2);
  EXPECT_GT(info.nnz_l, std::int64_t{1} << 31);
  EXPECT_EQ(info.stored_values, count * points * points);
  EXPECT_EQ(info.factor_bytes, static_cast<std::uint64_t>(8 * count * points * points));
  EXPECT_EQ(info.supernodes, count);
  EXPECT_EQ(info.largest_front, points);
  EXPECT_GE(info.host_bytes, info.factor_bytes);
  sxt_cholesky *cholesky = nullptr;
  EXPECT_EQ(sxt_cholesky_create(analysis.get(), &cholesky), SXT_E_MEMORY);
  const std::string sentence = sxt_last_error(context.get());
  EXPECT_THAT(sentence, HasSubstr(std::to_string(info.host_bytes)));
  EXPECT_THAT(sentence, HasSubstr(std::to_string(info.host_bytes - options.memory_limit) + " bytes are missing"));
}

// 9 GB and about a minute: where SEXTANT_TEST_LARGE is set.
TEST(CholeskyMemory, AFactorBeyondTwoToTheThirtyOneNumbers) {
  if (!std::getenv("SEXTANT_TEST_LARGE")) GTEST_SKIP() << "SEXTANT_TEST_LARGE is not set";
  constexpr std::int64_t count = 8200, points = 512;
  static_assert(count * points * points > std::int64_t{1} << 31);
  const Sparse<float> a = stars<float>(count, points);
  const Context context = cpu();
  const Matrix matrix = a.matrix(context, [](sxt_matrix_options &o) { o.symmetry = SXT_SYMMETRIC; });
  const sxt_analysis_options options = as_it_stands();
  const Analysis analysis = analyse(matrix, &options);
  EXPECT_EQ(info_of(analysis).stored_values, count * points * points);
  const Cholesky cholesky = factored(analysis);
  // A times ones: hubs have 2, the others 1.
  std::vector<float> x(static_cast<std::size_t>(a.n()), 1);
  for (std::size_t hub = 0; hub < x.size(); hub += points) x[hub] = 2;
  ASSERT_EQ(sxt_cholesky_solve(cholesky.get(), a.n(), 1, x.data(), a.n(), x.data(), a.n(), nullptr, nullptr), SXT_OK);
  float worst = 0;
  for (const float each : x) worst = std::max(worst, std::abs(each - 1));
  EXPECT_LE(worst, 1e-3f);
  EXPECT_EQ(info_of(cholesky).positive, a.n());
}

}  // namespace
