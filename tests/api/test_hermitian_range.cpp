// SPDX-License-Identifier: BSD-3-Clause
// Systems at the ends of the range of their type: info 0 stands for a finite x with a small residual, and what cannot
// be solved comes back as it was.
#include <cmath>
#include <cstdint>
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

}  // namespace
}  // namespace api_test
