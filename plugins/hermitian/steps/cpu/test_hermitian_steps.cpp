// SPDX-License-Identifier: BSD-3-Clause
// The butterfly of hermitian_step.systems.cpu against its definition, entry by entry, and against its purpose: a mixed
// system has the solution of the original one.
#include <cmath>
#include <complex>
#include <cstdint>
#include <random>

#include "tests/plugins/conformance.hpp"

#include "plugins/hermitian/shared/butterfly.hpp"
#include "sextant/plugin/kinds/hermitian_step.h"

namespace plugin_test {
namespace {

using Complex = std::complex<double>;
using Matrix = std::vector<Complex>;  // column-major, ld = n
namespace steps = sextant::plugin::hermitian_steps;

const std::int64_t orders[] = {1, 2, 3, 4, 5, 7, 12, 33, 350};

// Runs one step on one system of order n.
void run_step(std::int32_t step, std::int32_t variant, std::int64_t n, std::int64_t n_rhs, sxt_triangle triangle,
              Matrix *a, Matrix *b, Matrix *c) {
  const sxt_kernel &kernel = find_kernel(load_own("hermitian-steps"), "hermitian_step.systems.cpu");
  sxt_hermitian_step_query query{};
  query.q = {{sizeof query, SXT_KIND_HERMITIAN_STEP}, 1, 0, SXT_C128};
  query.batch = 1;
  query.n_max = n;
  query.n_rhs = n_rhs;
  sxt_hermitian_step_args args{};
  args.h = {sizeof args, SXT_KIND_HERMITIAN_STEP};
  args.step = step;
  args.variant = variant;
  args.value_type = SXT_C128;
  args.triangle = triangle;
  args.batch = 1;
  args.n_max = n;
  args.n_rhs = n_rhs;
  if (a) args.a.data = a->data(), args.a.ld = n;
  if (b) args.b.data = b->data(), args.b.ld = n;
  if (c) args.c.data = c->data(), args.c.ld = n;
  Ready ready(kernel, &query.q, candidate_of(kernel, &query.q, 1));
  ASSERT_EQ(ready.run(&args.h), SXT_OK) << Host::sentence;
}

Matrix product(const Matrix &a, const Matrix &b, std::int64_t n, bool transpose_a = false) {
  Matrix c(a.size());
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t k = 0; k < n; ++k) {
      const Complex v = b[k + j * n];
      if (v == 0.0) continue;
      for (std::int64_t i = 0; i < n; ++i) c[i + j * n] += (transpose_a ? a[k + i * n] : a[i + k * n]) * v;
    }
  return c;
}

// One level, as the header defines it: pairs of elements `apart` from each other, the first ones without that bit.
Matrix level(std::int64_t n, int number, int apart) {
  Matrix u(static_cast<std::size_t>(n * n));
  const std::int64_t quarter = (n + 3) / 4;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t k = i / quarter, partner = (k ^ apart) * quarter + i % quarter;
    if (partner >= n) {
      u[i + i * n] = 1;
      continue;
    }
    const double by = steps::butterfly_number(i, number);
    u[i + i * n] = k & apart ? -by : by;
    u[partner + i * n] = by;
  }
  return u;
}

Matrix butterfly(std::int64_t n) { return product(level(n, 2, 1), level(n, 1, 2), n); }

Matrix random_hermitian(std::int64_t n) {
  std::mt19937_64 random(static_cast<std::uint64_t>(n));
  std::uniform_real_distribution<double> uniform(-1, 1);
  Matrix a(static_cast<std::size_t>(n * n));
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = j; i < n; ++i) {
      a[i + j * n] = {uniform(random), i == j ? 0 : uniform(random)};
      a[j + i * n] = std::conj(a[i + j * n]);
    }
  return a;
}

double largest_difference(const Matrix &a, const Matrix &b) {
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a[i] - b[i]));
  return most;
}

// x = A^-1 x by elimination with row interchanges.
void solve(Matrix a, Matrix &x, std::int64_t n) {
  for (std::int64_t k = 0; k < n; ++k) {
    std::int64_t pivot = k;
    for (std::int64_t i = k; i < n; ++i)
      if (std::abs(a[i + k * n]) > std::abs(a[pivot + k * n])) pivot = i;
    for (std::int64_t j = 0; j < n; ++j) std::swap(a[k + j * n], a[pivot + j * n]);
    std::swap(x[k], x[pivot]);
    for (std::int64_t i = k + 1; i < n; ++i) {
      const Complex by = a[i + k * n] / a[k + k * n];
      for (std::int64_t j = k; j < n; ++j) a[i + j * n] -= by * a[k + j * n];
      x[i] -= by * x[k];
    }
  }
  for (std::int64_t k = n; k-- > 0;) {
    for (std::int64_t j = k + 1; j < n; ++j) x[k] -= a[k + j * n] * x[j];
    x[k] /= a[k + k * n];
  }
}

TEST(HermitianButterfly, NumbersAreNearOneAndKnown) {
  double least = 2, most = 0, sum = 0;
  for (std::int64_t i = 0; i < 2000; ++i)
    for (const int number : {1, 2}) {
      const double r = steps::butterfly_number(i, number) * std::sqrt(2.0);
      EXPECT_NEAR(std::ldexp(r, 20), std::round(std::ldexp(r, 20)), 1e-8);
      least = std::min(least, r), most = std::max(most, r), sum += r;
    }
  EXPECT_GE(least, 0.95);
  EXPECT_LE(most, 1.05);
  EXPECT_LT(least, 0.951);
  EXPECT_GT(most, 1.049);
  EXPECT_NEAR(sum / 4000, 1, 0.002);
}

TEST(HermitianButterfly, TheStepsAreItsDefinition) {
  for (const std::int64_t n : orders) {
    const Matrix u = butterfly(n), a = random_hermitian(n);
    Matrix unit(a.size()), columns(a.size()), added(a.size(), Complex(1, 2)), rows(a.size());
    for (std::int64_t i = 0; i < n; ++i) unit[i + i * n] = 1;
    run_step(SXT_HERMITIAN_UNMIX_RHS, 1, n, n, SXT_LOWER, nullptr, &columns, &unit);
    EXPECT_LE(largest_difference(columns, u), 1e-15) << n;
    run_step(SXT_HERMITIAN_UNMIX_RHS, 0, n, n, SXT_LOWER, nullptr, &added, &unit);
    for (Complex &value : added) value -= Complex(1, 2);
    EXPECT_LE(largest_difference(added, u), 1e-15) << n;
    run_step(SXT_HERMITIAN_MIX_RHS, 0, n, n, SXT_LOWER, nullptr, &unit, &rows);
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < n; ++i) ASSERT_NEAR(rows[i + j * n].real(), u[j + i * n].real(), 1e-15) << n;
    const Matrix want = product(u, product(a, u, n), n, true);
    for (const sxt_triangle triangle : {SXT_LOWER, SXT_UPPER}) {
      Matrix held = a, mixed(a.size(), Complex(-7, 7));
      for (std::int64_t j = 0; j < n; ++j) {
        held[j + j * n] += Complex(0, 9);  // must not be read
        for (std::int64_t i = 0; i < n; ++i)
          if (triangle == SXT_LOWER ? i < j : i > j) held[i + j * n] = NAN;
      }
      run_step(SXT_HERMITIAN_MIX, 0, n, 0, triangle, &held, nullptr, &mixed);
      for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t i = 0; i < n; ++i)
          ASSERT_LE(std::abs(mixed[i + j * n] - (i < j ? Complex(-7, 7) : want[i + j * n])), 1e-14)
              << "order " << n << ", row " << i << ", column " << j;
    }
  }
}

TEST(HermitianButterfly, AMixedSystemHasTheAnswerOfItsOriginal) {
  for (const std::int64_t n : orders) {
    const Matrix a = random_hermitian(n);
    Matrix held = a, mixed(a.size()), x(static_cast<std::size_t>(n)), b(x.size()), mixed_b(x.size());
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < n; ++j) b[i] += a[i + j * n];  // the answer is 1, 1, ..., 1
    run_step(SXT_HERMITIAN_MIX, 0, n, 0, SXT_LOWER, &held, nullptr, &mixed);
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < j; ++i) mixed[i + j * n] = std::conj(mixed[j + i * n]);
    run_step(SXT_HERMITIAN_MIX_RHS, 0, n, 1, SXT_LOWER, nullptr, &b, &mixed_b);
    solve(mixed, mixed_b, n);
    run_step(SXT_HERMITIAN_UNMIX_RHS, 1, n, 1, SXT_LOWER, nullptr, &x, &mixed_b);
    for (std::int64_t i = 0; i < n; ++i) EXPECT_LE(std::abs(x[i] - 1.0), 1e-10) << "order " << n << ", row " << i;
  }
}

}  // namespace
}  // namespace plugin_test
