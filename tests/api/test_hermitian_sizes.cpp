// SPDX-License-Identifier: BSD-3-Clause
// Numbers of every size by every method: info 0 means a solution that is right as far as the digits of matrix and
// right-hand side go, or for one beyond the range, which is infinite or NaN. Checked in extended precision, whose
// exponents hold all of it.
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "hermitian_support.hpp"

namespace api_test {
namespace {

using Wide = std::complex<long double>;

template <class T>
Wide wide(T v) {
  return {std::real(v), std::imag(v)};
}
template <class T>
bool is_finite(T v) {
  return std::isfinite(std::real(v)) && std::isfinite(std::imag(v));
}

struct Method {
  const char *name;
  sxt_definiteness definiteness;
  bool equilibrate;
  int refine;
  const char *kernel;
  bool indefinite;  // the member
};
constexpr Method methods[] = {
    {"Cholesky by LAPACK", SXT_DEFINITE, false, 0, "hermitian.lapack.cpu", false},
    {"Cholesky by the reference", SXT_DEFINITE, false, 0, "hermitian.reference.cpu", false},
    {"Cholesky in lanes", SXT_DEFINITE, false, 0, "hermitian.interleaved.cpu", false},
    {"L D L^H by LAPACK", SXT_INDEFINITE, false, 0, "hermitian.lapack.cpu", true},
    {"L D L^H by the reference", SXT_INDEFINITE, false, 0, "hermitian.reference.cpu", true},
    {"L D L^H of a definite member", SXT_INDEFINITE, false, 0, nullptr, false},
    {"definite first", SXT_TRY_DEFINITE, false, 0, nullptr, true},
    {"definite first, of a definite member", SXT_TRY_DEFINITE, false, 0, nullptr, false},
    {"equilibrated Cholesky", SXT_DEFINITE, true, 0, nullptr, false},
    {"equilibrated L D L^H", SXT_INDEFINITE, true, 0, nullptr, false},
    {"refined Cholesky", SXT_DEFINITE, false, 2, nullptr, false},
    {"refined L D L^H", SXT_INDEFINITE, false, 2, nullptr, true},
    {"equilibrated and refined Cholesky", SXT_DEFINITE, true, 2, nullptr, false},
};

// Whole numbers, far from singular, times a size: exact at the end of the range as well. An indefinite one has zeros on
// its diagonal but for the last of an odd order.
template <class T>
std::vector<T> member(std::int64_t n, bool indefinite, double size) {
  std::vector<T> a(static_cast<std::size_t>(n * n));
  const auto large = static_cast<double>(n + 2);
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = j; i < n; ++i) {
      const double re = (i + 2 * j) % 3 - 1, im = (2 * i + j) % 3 - 1;
      T v = Scalar<T>::make(re * size, i == j ? 0 : im * size);
      if (i == j) v = T(static_cast<typename Scalar<T>::Real>(indefinite && (i ^ 1) < n ? 0 : large * size));
      if (indefinite && i == j + 1 && j % 2 == 0) v = Scalar<T>::make(2 * large * size, large * size);
      a[i + j * n] = v, a[j + i * n] = Scalar<T>::conj(v);
    }
  return a;
}

// A^-1 b by elimination with interchanges.
std::vector<Wide> solution(std::vector<Wide> a, std::vector<Wide> x) {
  const auto n = static_cast<std::int64_t>(x.size());
  for (std::int64_t k = 0; k < n; ++k) {
    std::int64_t p = k;
    for (std::int64_t i = k; i < n; ++i)
      if (std::abs(a[i + k * n]) > std::abs(a[p + k * n])) p = i;
    for (std::int64_t j = 0; j < n; ++j) std::swap(a[k + j * n], a[p + j * n]);
    std::swap(x[k], x[p]);
    for (std::int64_t i = k + 1; i < n; ++i) {
      const Wide by = a[i + k * n] / a[k + k * n];
      for (std::int64_t j = k; j < n; ++j) a[i + j * n] -= by * a[k + j * n];
      x[i] -= by * x[k];
    }
  }
  for (std::int64_t i = n - 1; i >= 0; --i) {
    for (std::int64_t j = i + 1; j < n; ++j) x[i] -= a[i + j * n] * x[j];
    x[i] /= a[i + i * n];
  }
  return x;
}

template <class T>
struct Problem {
  using R = typename Scalar<T>::Real;
  std::int64_t n;
  std::vector<T> a, b, x;
  std::int32_t info = 99;

  Problem(std::int64_t order, bool indefinite, double size, double rhs_size)
      : n(order), a(member<T>(order, indefinite, size)) {
    for (std::int64_t i = 0; i < n; ++i) b.push_back(Scalar<T>::make((i % 5 - 1.0) * rhs_size, i % 2 * rhs_size));
    b[0] = Scalar<T>::make(3 * rhs_size, 0);
    x = b;
  }
  void solve(const Context &context, const Method &method, sxt_triangle triangle) {
    sxt_hermitian_options options = hermitian_options(Scalar<T>::code, 1, n);
    options.definiteness = method.definiteness, options.equilibrate = method.equilibrate;
    options.refine_steps = method.refine, options.kernel = method.kernel, options.triangle = triangle;
    const Hermitian handle = hermitian(context, options);
    std::vector<T> factor = a;
    std::vector<std::int32_t> pivots(static_cast<std::size_t>(n));
    sxt_hermitian_set set = hermitian_set();
    set.a = factor.data(), set.b = x.data(), set.pivots = pivots.data(), set.info = &info;
    EXPECT_EQ(sxt_hermitian_factor_solve(handle.get(), &set), SXT_OK) << last_error(context);
  }
  // Whether the largest of the true solution is at least a hundredth of the largest number.
  bool leaves_range() const {
    std::vector<Wide> wide_a, wide_b;
    for (const T v : a) wide_a.push_back(wide(v));
    for (const T v : b) wide_b.push_back(wide(v));
    long double most = 0;
    for (const Wide v : solution(wide_a, wide_b)) most = std::max(most, std::abs(v));
    return most > static_cast<long double>(std::numeric_limits<R>::max()) / 100;
  }
  // |b - A x| over the bound of roundings: those of the type's precision, and a few of its smallest number in A, b and
  // x.
  long double error() const {
    const auto eps = static_cast<long double>(std::numeric_limits<R>::epsilon()),
               least = static_cast<long double>(std::numeric_limits<R>::denorm_min());
    long double residual = 0, norm = 0, x_most = 0, b_most = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      Wide rest = wide(b[i]);
      long double row = 0;
      for (std::int64_t j = 0; j < n; ++j) {
        rest -= wide(a[i + j * n]) * wide(x[j]);
        row += std::abs(wide(a[i + j * n]));
      }
      residual = std::max(residual, std::abs(rest)), norm = std::max(norm, row);
      x_most = std::max(x_most, std::abs(wide(x[i]))), b_most = std::max(b_most, std::abs(wide(b[i])));
    }
    const auto order = static_cast<long double>(n);
    return residual / (4 * order * (eps * (norm * x_most + b_most) + least * (norm + order * x_most + 1)));
  }
};

template <class T>
void every_size(const std::vector<double> &sizes, double least_pivot) {
  const Context context = cpu();
  for (const Method &method : methods)
    for (const std::int64_t n : {1, 2, 5, 40})
      for (const double size : sizes)
        for (const double rhs_size : sizes) {
          Problem<T> problem(n, method.indefinite, size, rhs_size);
          problem.solve(context, method, n == 5 ? SXT_UPPER : SXT_LOWER);
          const std::string where = std::string(method.name) + ", order " + std::to_string(n) + ", " +
                                    std::to_string(std::log10(size)) + ", " + std::to_string(std::log10(rhs_size));
          const bool may_fail = method.definiteness != SXT_DEFINITE && !method.equilibrate && size < least_pivot;
          if (problem.info != 0) {
            EXPECT_TRUE(may_fail) << where << ": " << problem.info;
            EXPECT_EQ(problem.info, SXT_INFO_NOT_FINITE) << where;
            EXPECT_EQ(problem.x, problem.b) << where << ": b of a system that failed";
            continue;
          }
          bool finite = true;
          for (const T v : problem.x) finite = finite && is_finite(v);
          if (finite)
            EXPECT_LE(problem.error(), 1) << where;
          else
            EXPECT_TRUE(problem.leaves_range()) << where;
        }
}
TEST(HermitianSizes, OfF64) { every_size<double>({5e-324, 1e-310, 1e-300, 1e-150, 1, 1e150, 1e300}, 1e-307); }
TEST(HermitianSizes, OfC128) {
  every_size<std::complex<double>>({5e-324, 1e-310, 1e-300, 1e-150, 1, 1e150, 1e300}, 1e-307);
}
TEST(HermitianSizes, OfF32) { every_size<float>({1.4e-45, 1e-40, 1e-37, 1e-19, 1, 1e19, 1e35}, 1e-37); }
TEST(HermitianSizes, OfC64) { every_size<std::complex<float>>({1.4e-45, 1e-40, 1e-37, 1e-19, 1, 1e19, 1e35}, 1e-37); }

}  // namespace
}  // namespace api_test
