// SPDX-License-Identifier: BSD-3-Clause
// Chebyshev on a matrix whose eigenvectors are known: the polynomial's effect on each of them.
#include "plugins/preconditioner/test_support.hpp"

#include <cstdint>

#include "plugins/preconditioner/shared/chebyshev.hpp"

using namespace preconditioner_test;
namespace precondition = sextant::plugin::precondition;

namespace {

const sxt_kernel &kernel() { return find_kernel(load_own("preconditioner-chebyshev"), "preconditioner.chebyshev.cpu"); }

// T_degree(x), also outside of [-1, 1].
double chebyshev_value(int degree, double x) {
  if (std::abs(x) <= 1) return std::cos(degree * std::acos(x));
  return std::cosh(degree * std::acosh(std::abs(x))) * (x < 0 && degree % 2 ? -1 : 1);
}

// Eigenvalue j of D^-1 A and its eigenvector for the tridiagonal -1 2 -1 of order n.
double eigenvalue(int n, int j) { return 1 - std::cos(M_PI * (j + 1) / (n + 1)); }
std::vector<double> eigenvector(int n, int j) {
  std::vector<double> v(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) v[i] = std::sin(M_PI * (j + 1) * (i + 1) / (n + 1));
  return v;
}

// 1 - lambda p(lambda) for every eigenvalue; each eigenvector of A must be one of M.
std::vector<double> residual_polynomial(int n, const char *method) {
  const Matrix<double> a = tridiagonal<double>(n, 2, -1);
  Prepared m(kernel(), a.view(), SXT_F64, 2, method);
  EXPECT_EQ(m.status, SXT_OK) << Host::sentence;
  std::vector<double> q;
  for (int j = 0; j < n; ++j) {
    const std::vector<double> v = eigenvector(n, j), z = m.apply(v);
    double share = 0, square = 0, off = 0;
    for (int i = 0; i < n; ++i) share += v[i] * z[i], square += v[i] * v[i];
    for (int i = 0; i < n; ++i) off = std::max(off, std::abs(z[i] - share / square * v[i]));
    EXPECT_LT(off, 1e-11);
    q.push_back(1 - 2 * eigenvalue(n, j) * share / square);  // A v = 2 lambda v
  }
  return q;
}

TEST(Chebyshev, IsTheChebyshevPolynomialOfSomeInterval) {
  constexpr int n = 60;
  for (const int degree : {3, 5, 7, 9}) {
    const std::vector<double> q = residual_polynomial(n, ("chebyshev:" + std::to_string(degree)).c_str());
    // The interval that explains two values explains all: found by a search over intervals.
    double best = 1e9, low = 0, high = 0;
    for (double b = 1.5; b <= 2.2; b += 0.002)
      for (double a = 0.001; a < 0.3; a += 0.0005) {
        const auto value = [&](int j) {
          return chebyshev_value(degree, (b + a - 2 * eigenvalue(n, j)) / (b - a)) /
                 chebyshev_value(degree, (b + a) / (b - a));
        };
        const double error =
            std::abs(value(n / 2) - q[n / 2]) + std::abs(value(5) - q[5]) + std::abs(value(n - 1) - q[n - 1]);
        if (error < best) best = error, low = a, high = b;
      }
    EXPECT_LT(best, 0.02) << degree;
    for (int j = 0; j < n; ++j) {
      const double want = chebyshev_value(degree, (high + low - 2 * eigenvalue(n, j)) / (high - low)) /
                          chebyshev_value(degree, (high + low) / (high - low));
      EXPECT_NEAR(q[j], want, 0.03) << "degree " << degree << ", eigenvalue " << j;
      EXPECT_LT(q[j], 1) << "M would not be positive definite";
    }
    EXPECT_GT(high, 1.9);  // the spectrum ends near 2
  }
}

TEST(Chebyshev, StaysDefiniteWhereTheIntervalIsTooShort) {
  // An interval that misses the upper half of the spectrum, as a probe might: odd degrees stay below 1 for all x > 0.
  for (const int degree : precondition::chebyshev_degrees)
    for (double x = 0.01; x < 20; x *= 1.01) {
      precondition::ChebyshevSteps steps({0.1, 1});
      double residual = 1, d = steps.first(), z = d;  // the recurrence with A = x, r = 1
      for (int k = 1; k < degree; ++k) {
        const auto [keep, take] = steps.next();
        residual -= x * d;
        d = keep * d + take * residual;
        z += d;
      }
      EXPECT_GT(z, 0) << "degree " << degree << " at " << x;
      const double want = chebyshev_value(degree, (1.1 - 2 * x) / 0.9) / chebyshev_value(degree, 1.1 / 0.9);
      EXPECT_NEAR(1 - x * z, want, 1e-9 * std::max(1.0, std::abs(want)));
    }
}

TEST(Chebyshev, FindsTheEigenvaluesOfATridiagonal) {
  precondition::Lanczos t;
  t.steps = 9;
  for (int i = 0; i < 9; ++i) t.alpha[i] = 2, t.beta[i] = 1;
  for (int k = 0; k < 9; ++k) EXPECT_NEAR(t.eigenvalue(k), 2 - 2 * std::cos(M_PI * (k + 1) / 10), 1e-10);
}

TEST(Chebyshev, NeedsFewerIterationsTheHigherTheDegree) {
  const Matrix<double> a = grid<double>(24, [](std::int32_t i) { return 1.5 + noise(i); });
  const int plain = iterations(a, jacobi());
  int before = plain;
  for (const char *method : {"chebyshev:3", "chebyshev:5", "chebyshev:7", "chebyshev:9"}) {
    const int count = iterations(a, kernel(), method);
    EXPECT_GT(count, 0);
    EXPECT_LT(count, before) << method;
    before = count;
  }
  EXPECT_LT(before, plain / 5);
}

TEST(Chebyshev, ChoosesADegreeThatSuitsTheRest) {
  // Where products cost nothing beside the rest, a high degree is best; where they cost everything, a low one.
  EXPECT_EQ(precondition::choose_degree(1e-6, 1), 9);
  EXPECT_EQ(precondition::choose_degree(1, 1e-6), 3);
  const Matrix<double> a = grid<double>(10);
  Prepared m(kernel(), a.view(), SXT_F64);
  EXPECT_EQ(m.candidate().launch[1] % 2, 1);
}

TEST(Chebyshev, RefusesWhatIsNotDefinite) {
  Matrix<double> negative = coupled<double>(6, 1);
  for (std::int32_t k = negative.row_ptr[3]; k < negative.row_ptr[4]; ++k)
    if (negative.col[k] == 3) negative.values[k] = 0;
  EXPECT_EQ(Prepared(kernel(), negative.view(), SXT_F64).status, SXT_E_DIAGONAL);
  EXPECT_NE(Host::sentence.find("row 3"), std::string::npos) << Host::sentence;
  const Matrix<double> indefinite = tridiagonal<double>(40, 1, -2);  // eigenvalues from -3 to 5
  EXPECT_EQ(Prepared(kernel(), indefinite.view(), SXT_F64).status, SXT_E_NOT_POSITIVE_DEFINITE);
  EXPECT_NE(refusal(kernel(), "chebyshev:4").find("even"), std::string::npos);
  EXPECT_NE(refusal(kernel(), "chebyshev:1").find("from 3 to 15"), std::string::npos);
  EXPECT_EQ(refusal(kernel(), "chebyshev:15"), "");
}

}  // namespace
