// SPDX-License-Identifier: BSD-3-Clause
// Systems at the ends of the range of their type: info 0 means a finite x with a small residual, and a system that
// cannot be solved is returned unchanged.
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "hermitian_support.hpp"

namespace api_test {
namespace {

const char *const kernels[] = {"hermitian.lapack.cpu", "hermitian.reference.cpu"};

template <class T>
struct Answer {
  std::vector<T> b;
  std::int32_t info = 9;
  double residual = -1;
};

template <class T>
Answer<T> solve(const Context &context, const char *kernel, sxt_definiteness definiteness, std::vector<T> a,
                std::vector<T> b, bool equilibrate = false) {
  const auto n = static_cast<std::int64_t>(b.size());
  sxt_hermitian_options options = hermitian_options(Scalar<T>::code, 1, n);
  options.definiteness = definiteness;
  options.equilibrate = equilibrate;
  options.kernel = kernel;
  const Hermitian handle = hermitian(context, options);
  Answer<T> out{std::move(b)};
  std::vector<std::int32_t> pivots(static_cast<std::size_t>(n));
  sxt_hermitian_set set = hermitian_set();
  set.a = a.data();
  set.b = out.b.data();
  set.pivots = pivots.data();
  set.info = &out.info;
  set.residual = &out.residual;
  EXPECT_EQ(sxt_hermitian_factor_solve(handle.get(), &set), SXT_OK) << last_error(context);
  return out;
}

// Pivots whose inverse overflows.
template <class T>
void tiny(double size) {
  const Context context = cpu();
  const auto s = static_cast<T>(size);
  for (const char *kernel : kernels) {
    const Answer<T> two = solve<T>(context, kernel, SXT_INDEFINITE, {2 * s, s, s, 3 * s}, {3 * s, 4 * s});
    EXPECT_EQ(two.info, SXT_INFO_NOT_FINITE) << kernel;
    EXPECT_EQ(two.b, (std::vector<T>{3 * s, 4 * s})) << kernel;
    EXPECT_EQ(solve<T>(context, kernel, SXT_INDEFINITE, {s}, {s}).info, SXT_INFO_NOT_FINITE) << kernel;
    const Answer<T> definite = solve<T>(context, kernel, SXT_DEFINITE, {4 * s, 0, 0, 4 * s}, {4 * s, 8 * s});
    EXPECT_EQ(definite.info, 0) << kernel;
    EXPECT_NEAR(static_cast<double>(definite.b[1]), 2, 1e-3) << kernel;
  }
}
TEST(HermitianRange, PivotsWithoutAnInverse) {
  tiny<double>(1e-310);
  tiny<float>(1e-40);
}

// The second pivot is -2e308.
TEST(HermitianRange, ASumBeyondTheRange) {
  const Context context = cpu();
  for (const char *kernel : kernels) {
    const auto answer = solve<double>(context, kernel, SXT_INDEFINITE, {1e308, 1e308, 1e308, -1e308}, {1, -1});
    EXPECT_EQ(answer.info, SXT_INFO_NOT_FINITE) << kernel;
    EXPECT_EQ(answer.b, (std::vector<double>{1, -1})) << kernel;
    const auto scaled = solve<double>(context, kernel, SXT_INDEFINITE, {1e308, 1e308, 1e308, -1e308}, {1, -1}, true);
    EXPECT_EQ(scaled.info, 0) << kernel;
    EXPECT_NEAR(scaled.b[1], 1e-308, 1e-320) << kernel;
    EXPECT_FALSE(scaled.residual < 1e-10 && std::abs(scaled.b[0]) > 1e-310) << kernel;
  }
}

// |re| + |im| of entries beyond the range, or near its end: refused, or right.
template <class R>
void large_complex(R most) {
  using T = std::complex<R>;
  const Context context = cpu();
  std::mt19937 random(3);
  const auto part = [&](R up_to) { return up_to * (static_cast<R>(random() % 2001) / 1000 - 1); };
  int solved = 0;
  for (const char *kernel : kernels)
    for (const double size : {1.0, 0.45, 0.2, 0.01})
      for (int k = 0; k < 60; ++k) {
        const R s = most * static_cast<R>(size);
        const R first = part(s), second = part(s);
        const T below(part(s * R(0.7)), part(s * R(0.7)));
        const std::vector<T> b{T(part(s / 1000), 0), T(0, part(s / 1000))};
        const auto answer =
            solve<T>(context, kernel, SXT_INDEFINITE, {T(first), below, std::conj(below), T(second)}, b);
        if (answer.info != 0) {
          EXPECT_EQ(answer.info, SXT_INFO_NOT_FINITE) << kernel;
          continue;
        }
        using W = std::complex<long double>;
        const W x0(answer.b[0]), x1(answer.b[1]);
        if (!std::isfinite(std::abs(x0)) || !std::isfinite(std::abs(x1))) continue;
        ++solved;
        const W r0 = W(b[0]) - W(first) * x0 - std::conj(W(below)) * x1, r1 = W(b[1]) - W(below) * x0 - W(second) * x1;
        const long double a = std::abs(W(below)) + std::max(std::abs(W(first)), std::abs(W(second)));
        const long double around =
            a * std::max(std::abs(x0), std::abs(x1)) + std::max(std::abs(W(b[0])), std::abs(W(b[1])));
        EXPECT_LE(std::max(std::abs(r0), std::abs(r1)), 1000 * std::numeric_limits<R>::epsilon() * around)
            << kernel << ", entries up to " << size << " of the largest";
      }
  EXPECT_GT(solved, 60);
}
TEST(HermitianRange, SumsOfPartsBeyondTheRange) {
  large_complex(std::numeric_limits<double>::max());
  large_complex(std::numeric_limits<float>::max());
}

// Row sums of 1.9e308: how large the residual is beside them is not known, and not called 0.
TEST(HermitianRange, AResidualBesideRowsBeyondTheRangeIsNotCalledZero) {
  const Context context = cpu();
  const auto answer = solve<double>(context, nullptr, SXT_DEFINITE, {1e308, 9e307, 9e307, 1e308}, {1e300, 2e300});
  EXPECT_EQ(answer.info, 0);
  EXPECT_TRUE(std::isnan(answer.residual)) << answer.residual;
}

TEST(HermitianRange, RightHandSidesOfSystemsThatFailAreNotScaled) {
  const Context context = cpu();
  for (const char *kernel : kernels) {
    const auto answer = solve<double>(context, kernel, SXT_DEFINITE, {16, 32, 32, 16}, {5, 7}, true);
    EXPECT_EQ(answer.info, 2) << kernel;
    EXPECT_EQ(answer.b, (std::vector<double>{5, 7})) << kernel;
  }
}

const char *const definite_kernels[] = {"hermitian.lapack.cpu", "hermitian.reference.cpu", "hermitian.interleaved.cpu"};

// Row 2 of L squared is beyond the range: pivot 2 is not positive, which is no flaw of the numbers given.
template <class T>
void a_pivot_below_the_range() {
  using R = typename Scalar<T>::Real;
  const Context context = cpu();
  const R most = std::numeric_limits<R>::max();
  const T diagonal = T(most / 20), beside = T(most / 2);
  const std::vector<T> a = {diagonal, beside, beside, diagonal}, b = {beside, diagonal};
  for (const char *kernel : definite_kernels) {
    const Answer<T> answer = solve<T>(context, kernel, SXT_DEFINITE, a, b);
    EXPECT_EQ(answer.info, 2) << kernel;
    EXPECT_EQ(answer.b, b) << kernel;
    for (const R flaw : {std::numeric_limits<R>::quiet_NaN(), std::numeric_limits<R>::infinity()}) {
      EXPECT_EQ(solve<T>(context, kernel, SXT_DEFINITE, {diagonal, T(flaw), T(flaw), diagonal}, b).info,
                SXT_INFO_NOT_FINITE)
          << kernel;
      EXPECT_EQ(solve<T>(context, kernel, SXT_DEFINITE, {diagonal, T(0), T(0), T(flaw)}, b).info, SXT_INFO_NOT_FINITE)
          << kernel;
    }
  }
  const Answer<T> answer = solve<T>(context, nullptr, SXT_TRY_DEFINITE, a, b);
  EXPECT_EQ(answer.info, 0);
  EXPECT_NEAR(std::real(answer.b[0]), 0, 1e-5);
  EXPECT_NEAR(std::real(answer.b[1]), 1, 1e-5);
}
TEST(HermitianRange, APivotBelowTheRangeIsNotPositive) {
  a_pivot_below_the_range<float>();
  a_pivot_below_the_range<double>();
  a_pivot_below_the_range<std::complex<float>>();
  a_pivot_below_the_range<std::complex<double>>();
}

// Scales of 2^537, whose product is beyond the range.
TEST(HermitianRange, EquilibrationOfTheSmallestNumbers) {
  const Context context = cpu();
  for (const double s : {4e-309, 5e-324})
    for (const sxt_definiteness definiteness : {SXT_DEFINITE, SXT_INDEFINITE, SXT_TRY_DEFINITE}) {
      const auto answer = solve<double>(context, nullptr, definiteness, {4 * s, s, s, 3 * s}, {5 * s, 4 * s}, true);
      EXPECT_EQ(answer.info, 0) << s;
      EXPECT_NEAR(answer.b[0], 1, 1e-15) << s;
      EXPECT_NEAR(answer.b[1], 1, 1e-15) << s;
    }
}

// Beside diagonal entries so small scaling up would take the others out of the range.
TEST(HermitianRange, EquilibrationLeavesLargeEntriesInTheRange) {
  const Context context = cpu();
  const auto wide =
      solve<double>(context, nullptr, SXT_INDEFINITE, {5e-324, 1e308, 1e308, 5e-324}, {1e308, 5e307}, true);
  EXPECT_EQ(wide.info, 0);
  EXPECT_EQ(wide.b, (std::vector<double>{0.5, 1}));
  const auto narrow =
      solve<float>(context, nullptr, SXT_INDEFINITE, {1e-45F, 1e38F, 1e38F, 1e-45F}, {1e38F, 5e37F}, true);
  EXPECT_EQ(narrow.info, 0);
  EXPECT_EQ(narrow.b, (std::vector<float>{0.5, 1}));
}

// The sum of the diagonal is beyond the range, its mean is not.
TEST(HermitianRange, AMeanWhoseSumLeavesTheRange) {
  const Context context = cpu();
  for (const double shift : {0.0, 0.5}) {
    sxt_hermitian_options options = hermitian_options(SXT_F64, 1, 2);
    options.shifts = &shift, options.n_shifts = 1, options.shift_relative = 1;
    const Hermitian handle = hermitian(context, options);
    std::vector<double> a = {1e308, 0, 0, 1e308}, b = {1e307, 1e307};
    std::int32_t info = 9;
    double taken = -1;
    sxt_hermitian_set set = hermitian_set();
    set.a = a.data(), set.b = b.data(), set.info = &info, set.shift = &taken;
    EXPECT_EQ(sxt_hermitian_factor_solve(handle.get(), &set), SXT_OK) << last_error(context);
    EXPECT_EQ(info, 0) << shift;
    EXPECT_DOUBLE_EQ(taken, shift * 1e308);
    EXPECT_DOUBLE_EQ(b[0], 0.1 / (1 + shift));
  }
}

// A x is beyond the range on the way to b: the residual is NaN, and x keeps the solution.
TEST(HermitianRange, RefinementKeepsASolutionWhoseResidualLeavesTheRange) {
  const Context context = cpu();
  sxt_hermitian_options options = hermitian_options(SXT_F64, 1, 3);
  options.refine_steps = 2;
  const Hermitian handle = hermitian(context, options);
  const double s = 0x1p1023;  // x = (2.2, 2.2, 2.2)
  std::vector<double> a = {s, -0.4 * s, -0.4 * s, -0.4 * s, s, -0.4 * s, -0.4 * s, -0.4 * s, s};
  std::vector<double> b = {0.44 * s, 0.44 * s, 0.44 * s};
  std::int32_t info = 9;
  double residual = 0;
  sxt_hermitian_set set = hermitian_set();
  set.a = a.data(), set.b = b.data(), set.info = &info, set.residual = &residual;
  EXPECT_EQ(sxt_hermitian_factor_solve(handle.get(), &set), SXT_OK) << last_error(context);
  EXPECT_EQ(info, 0);
  EXPECT_TRUE(std::isnan(residual));
  EXPECT_NEAR(b[0], 2.2, 1e-14);
  EXPECT_NEAR(b[2], 2.2, 1e-14);
}

// 1e-60 / 1e210 times 1e-60 is 0, and so is the pivot beside it, which must not be taken.
TEST(HermitianRange, AZeroIsNoPivotForAnySizeOfItsNeighbours) {
  const Context context = cpu();
  const double c = 1e-60, r = 1e210;
  for (const char *kernel : kernels) {
    const auto answer = solve<double>(context, kernel, SXT_INDEFINITE, {0, c, 0, c, 0, r, 0, r, 1}, {0, c, 0});
    if (answer.info == 0)
      EXPECT_EQ(answer.b, (std::vector<double>{1, 0, 0})) << kernel;
    else
      EXPECT_EQ(answer.info, SXT_INFO_NOT_FINITE) << kernel;
  }
  const auto answer = solve<double>(context, kernels[1], SXT_INDEFINITE, {0, c, 0, c, 0, r, 0, r, 1}, {0, c, 0});
  EXPECT_EQ(answer.info, 0);
}

}  // namespace
}  // namespace api_test
