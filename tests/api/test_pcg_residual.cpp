// SPDX-License-Identifier: BSD-3-Clause
// The promise "converged means |b - A x| <= max(rtol |b|, atol) for the x returned", tested by exact arithmetic
// (tests/exact.hpp) on systems whose scales are so far apart that b - A x is dominated by its own rounding.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <map>
#include <random>

#include "tests/api/support.hpp"
#include "tests/exact.hpp"

namespace api_test {
namespace {

// A small dense Hermitian matrix, as CSR.
template <class T>
struct Dense {
  std::int32_t n = 0;
  std::vector<std::int32_t> ptr{0}, col;
  std::vector<T> values;
  Matrix matrix(const Context &context) const {
    sxt_matrix_options options = matrix_options();
    constexpr bool single = sizeof(decltype(std::abs(T{}))) == 4;
    constexpr bool real = sizeof(T) == sizeof(decltype(std::abs(T{})));
    options.value_type = real ? (single ? SXT_F32 : SXT_F64) : single ? SXT_C64 : SXT_C128;
    return make<Matrix>([&](sxt_matrix **out) {
      return sxt_matrix_from_csr(context.get(), n, n, ptr.data(), col.data(), values.data(), &options, out);
    });
  }
};

template <class T>
double re(T v) {
  return static_cast<double>(std::real(v));
}
template <class T>
double im(T v) {
  return static_cast<double>(std::imag(v));
}

// |b - A x| and |b|, exact but for a rounding of 2^-60 at the end.
struct Truth {
  long double residual = 0, rhs = 0;
};
template <class T>
Truth truth(const Dense<T> &a, const std::vector<T> &b, const std::vector<T> &x) {
  Truth out;
  for (std::int32_t i = 0; i < a.n; ++i) {
    exact::Sum real, imaginary;
    real.add(re(b[i]), 1);
    imaginary.add(im(b[i]), 1);
    for (std::int32_t k = a.ptr[i]; k < a.ptr[i + 1]; ++k) {
      const T v = a.values[k], w = x[a.col[k]];
      real.add(re(v), re(w), -1);
      real.add(im(v), im(w));
      imaginary.add(re(v), im(w), -1);
      imaginary.add(im(v), re(w), -1);
    }
    out.residual += real.value() * real.value() + imaginary.value() * imaginary.value();
    out.rhs += static_cast<long double>(re(b[i])) * re(b[i]) + static_cast<long double>(im(b[i])) * im(b[i]);
  }
  return {std::sqrt(out.residual), std::sqrt(out.rhs)};
}

// The result of a solve, compared with the exact one.
template <class T>
sxt_reason judge(const Context &context, const Dense<T> &a, const std::vector<T> &b, double rtol,
                 const char *preconditioner = nullptr) {
  const Matrix matrix = a.matrix(context);
  sxt_pcg_options options = pcg_options();
  options.rtol = rtol;
  options.max_iterations = 200;
  options.preconditioner = preconditioner;
  sxt_pcg *made = nullptr;
  EXPECT_EQ(sxt_pcg_create(matrix.get(), &options, &made), SXT_OK) << last_error(context);
  const Pcg pcg(made);
  std::vector<T> x(b.size());
  sxt_pcg_report report = new_report();
  const sxt_status status = sxt_pcg_solve_array(pcg.get(), a.n, b.data(), x.data(), nullptr, &report);
  EXPECT_TRUE(status == SXT_OK || status == SXT_NOT_CONVERGED) << last_error(context);
  EXPECT_EQ(status == SXT_OK, report.reason == SXT_REASON_CONVERGED);
  const Truth exactly = truth(a, b, x);
  constexpr long double rounding = 1e-17L;
  if (report.reason == SXT_REASON_CONVERGED) {
    EXPECT_LE(exactly.residual * (1 - rounding), rtol * exactly.rhs * (1 + rounding))
        << "called converged at " << report.true_relative_residual << ", exactly "
        << static_cast<double>(exactly.residual / exactly.rhs);
  }
  EXPECT_LE(std::fabs(exactly.residual - report.residual_norm), report.residual_bound * (1 + 1e-9L))
      << report.residual_norm;
  EXPECT_LE(std::fabs(exactly.rhs - report.rhs_norm), 1e-14L * exactly.rhs);
  return report.reason;
}

TEST(PcgResidual, ExactSumsAreExact) {
  exact::Sum sum;
  sum.add(1e300, 1e300);
  sum.add(1e-300, 1e-300);
  sum.add(-1e300, 1e300);
  EXPECT_NEAR(static_cast<double>(sum.value() / (static_cast<long double>(1e-300) * 1e-300)), 1, 1e-15);
  sum.add(1e-300, 1e-300, -1);
  EXPECT_EQ(sum.value(), 0);
  sum.add(5e-324, 5e-324, -1);
  EXPECT_EQ(sum.value(), -static_cast<long double>(5e-324) * 5e-324);
  sum.add(3, 7);
  EXPECT_EQ(sum.value(), 21);
}

// Condition 3 after scaling by the diagonal; in working precision b - A x looks like 2e-16 where it is 12.65.
TEST(PcgResidual, ARoundedResidualIsNotTheExactOne) {
  const Context context = cpu(1);
  const double first = 3.5450131539352958e-19, last = 6.1640802824532467e+17, across = -0.23372925406979947;
  const Dense<double> a = {2, {0, 2, 4}, {0, 1, 0, 1}, {first, across, across, last}};
  for (const char *preconditioner : {"auto", "jacobi", "none"}) {
    SCOPED_TRACE(preconditioner);
    const sxt_reason reason = judge<double>(context, a, {1, 0}, 1e-8, preconditioner);
    EXPECT_NE(reason, SXT_REASON_NONE);
    if (reason == SXT_REASON_STAGNATED) {
      EXPECT_NE(last_error(context).find("rounding"), std::string::npos) << last_error(context);
    }
  }
}

// D L D with L = I + G G^H of order 2 to 6, D = 10^(anything up to `decades` either way), rounded; b is a unit vector.
template <class T>
Dense<T> badly_scaled(std::mt19937_64 &random, double decades) {
  using Real = decltype(std::abs(T{}));
  const auto uniform = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  Dense<T> a;
  a.n = 2 + static_cast<std::int32_t>(random() % 5);
  const auto n = static_cast<std::size_t>(a.n);
  std::vector<std::complex<double>> g(n * n);
  std::vector<double> d(n);
  for (auto &each : g) each = {2 * uniform() - 1, std::is_same_v<T, Real> ? 0 : 2 * uniform() - 1};
  for (double &each : d) each = std::pow(10.0, decades * (2 * uniform() - 1));
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      // The same operations for both mirror images, so that they are equal.
      const std::size_t low = std::min(i, j), high = std::max(i, j);
      std::complex<double> sum = i == j ? 1 : 0;
      for (std::size_t k = 0; k < n; ++k) sum += g[low * n + k] * std::conj(g[high * n + k]);
      sum *= d[low] * d[high];
      a.col.push_back(static_cast<std::int32_t>(j));
      if constexpr (std::is_same_v<T, Real>)
        a.values.push_back(static_cast<T>(sum.real()));
      else
        a.values.push_back(T(static_cast<Real>(sum.real()), static_cast<Real>(i == j  ? 0
                                                                              : i < j ? sum.imag()
                                                                                      : -sum.imag())));
    }
    a.ptr.push_back(static_cast<std::int32_t>(a.col.size()));
  }
  return a;
}

// A tenth of the systems of a type.
template <class T>
void solve_systems(int systems, int tenth) {
  const bool single = sizeof(decltype(std::abs(T{}))) == 4;
  const Context context = cpu(1);
  std::mt19937_64 random((single ? 20260 : 20261) + 100 * tenth);
  std::map<sxt_reason, int> ended;
  for (int s = 0; s < systems && !testing::Test::HasFailure(); ++s) {
    SCOPED_TRACE("system " + std::to_string(s));
    const Dense<T> a = badly_scaled<T>(random, s % 10);
    std::vector<T> b(static_cast<std::size_t>(a.n));
    b[random() % b.size()] = 1;
    ++ended[judge(context, a, b, single ? 1e-4 : 1e-8)];
  }
  // Each ends with a reason, and those with moderate scales do converge.
  EXPECT_EQ(ended.count(SXT_REASON_NONE), 0u);
  EXPECT_GT(ended[SXT_REASON_CONVERGED], systems / 4);
  for (const auto &[reason, count] : ended) testing::Test::RecordProperty("reason_" + std::to_string(reason), count);
}

class PcgBadlyScaled : public testing::TestWithParam<int> {};
// No solve is called converged by mistake, and every reported residual is within its bound.
TEST_P(PcgBadlyScaled, F64) { solve_systems<double>(1050, GetParam()); }
TEST_P(PcgBadlyScaled, F32) { solve_systems<float>(1050, GetParam()); }
TEST_P(PcgBadlyScaled, C128) { solve_systems<std::complex<double>>(150, GetParam()); }
TEST_P(PcgBadlyScaled, C64) { solve_systems<std::complex<float>>(150, GetParam()); }
INSTANTIATE_TEST_SUITE_P(Tenths, PcgBadlyScaled, testing::Range(0, 10));

// Beyond the rounding of an engine's own residuals: corrections from those in twice the precision.
TEST(PcgResidual, CorrectionsReachThePrecisionOfX) {
  const Context context = cpu(1);
  const Csr a = laplacian(40, 0.0);
  const Matrix matrix = a.matrix(context);
  std::vector<double> b(static_cast<std::size_t>(a.rows)), x(b.size());
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = 0.3 + std::sin(2.3 * static_cast<double>(i));
  sxt_pcg_options options = pcg_options();
  options.rtol = 1e-20;  // out of reach: how far does it come?
  const Pcg pcg = make<Pcg>([&](sxt_pcg **out) { return sxt_pcg_create(matrix.get(), &options, out); });
  const sxt_pcg_report report = solve(pcg, b, x, SXT_NOT_CONVERGED);
  EXPECT_EQ(report.reason, SXT_REASON_STAGNATED);
  EXPECT_NE(last_error(context).find("rounding"), std::string::npos) << last_error(context);
  EXPECT_LE(report.residual_norm, 4 * report.rounding_limit);
  EXPECT_LE(report.residual_bound, 1e-12 * report.residual_norm);
}

// A force does not change the kernel that confirms answers; a message says so.
TEST(PcgResidual, AKernelThatIsForcedForConfirmationIsNamed) {
  const Context context = cpu();
  const Csr a = laplacian(5, 1);
  const Matrix matrix = a.matrix(context);
  ASSERT_EQ(sxt_context_force(context.get(), "sxt.residual/1", "residual.reference.cpu"), SXT_OK);
  const Pcg pcg = make<Pcg>([&](sxt_pcg **out) { return sxt_pcg_create(matrix.get(), nullptr, out); });
  EXPECT_NE(explain(pcg).find("kernel residual.reference.cpu was forced by call, and not taken"), std::string::npos)
      << explain(pcg);
}

}  // namespace
}  // namespace api_test
