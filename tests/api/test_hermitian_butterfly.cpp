// SPDX-License-Identifier: BSD-3-Clause
// Indefinite systems mixed by random butterflies and factored without interchanges: as good as pivoted, or pivoted.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "hermitian_support.hpp"

namespace api_test {
namespace {

using Complex = std::complex<double>;
using Numbers = std::vector<std::int32_t>;
using Bytes = std::vector<std::uint8_t>;

constexpr std::int32_t kAlways = SXT_SHORTCUT_BUTTERFLY | SXT_SHORTCUT_ALWAYS;

sxt_hermitian_report report_of(const Hermitian &batch) {
  sxt_hermitian_report report{};
  report.struct_size = sizeof report;
  EXPECT_EQ(sxt_hermitian_get_report(batch.get(), &report), SXT_OK);
  return report;
}

template <class T>
sxt_hermitian_options indefinite(const Systems<T> &systems, std::int32_t shortcuts) {
  sxt_hermitian_options options = systems.options();
  options.definiteness = SXT_INDEFINITE;
  options.shortcuts = shortcuts;
  return options;
}

// Factors and solves; which systems a shortcut solved.
template <class T>
Bytes solve(const Context &context, Systems<T> &systems, const sxt_hermitian_options &options) {
  const Hermitian batch = hermitian(context, options);
  Bytes shortcut(static_cast<std::size_t>(systems.batch), 9);
  sxt_hermitian_set set = systems.set();
  set.shortcut = shortcut.data();
  EXPECT_EQ(sxt_hermitian_factor_solve(batch.get(), &set), SXT_OK) << last_error(context);
  return shortcut;
}

template <class T>
class HermitianButterflies : public testing::Test {};
using Types = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(HermitianButterflies, Types);

TYPED_TEST(HermitianButterflies, AnswersAreAsGoodAsPivotedOnes) {
  const Context context = cpu();
  for (const sxt_triangle triangle : {SXT_LOWER, SXT_UPPER})
    for (const std::int64_t n : {1, 2, 3, 5, 33, 100}) {
      Systems<TypeParam> systems(6, n, 2, triangle, 50, true, 17), pivoted = systems;
      const auto before = systems.a;
      const double epsilon = systems.epsilon();
      const Hermitian batch = hermitian(context, indefinite(systems, kAlways));
      Bytes shortcut(6, 9);
      std::vector<double> residual(6, -1);
      sxt_hermitian_set set = systems.set();
      set.shortcut = shortcut.data();
      set.residual = residual.data();
      ASSERT_EQ(sxt_hermitian_factor_solve(batch.get(), &set), SXT_OK) << last_error(context);
      EXPECT_EQ(shortcut, Bytes(6, 1)) << n;
      EXPECT_EQ(systems.info, Numbers(6, 0)) << n;
      EXPECT_EQ(solve(context, pivoted, indefinite(pivoted, 0)), Bytes(6, 0));
      for (std::int64_t s = 0; s < 6; ++s) {
        EXPECT_LE(residual[s], 8 * epsilon) << n;
        EXPECT_LE(systems.backward_error(s, systems.b), 9 * epsilon) << n;
      }
      for (std::size_t i = 0; i < systems.b.size(); ++i)  // the condition number times the backward error
        ASSERT_LE(std::abs(systems.b[i] - pivoted.b[i]), 50 * 50 * static_cast<double>(n + 8) * epsilon) << n;
      for (std::int64_t s = 0; s < 6; ++s)  // no factor: the matrix stands, but for its diagonal's imaginary parts
        for (std::int64_t j = 0; j < n; ++j)
          for (std::int64_t i = 0; i < n; ++i)
            if (systems.held(i, j)) {
              ASSERT_EQ(systems.at(s, i, j), systems.full[s][i + j * n]);
            }
      systems.expect_rest_untouched();
      EXPECT_STREQ(report_of(batch).butterfly_kernel, "hermitian.reference.cpu");
      EXPECT_STREQ(report_of(batch).mixed_kernel, "");
    }
}

// Order 2 is mixed to a leading entry of (a11 + a22 + 2 a21) / 2, but for R^2: with 3, -1 and -1 the first pivot is
// exactly zero, and nearly so beside it.
TEST(HermitianButterfly, WhatNeedsInterchangesIsPivoted) {
  const Context context = cpu();
  Systems<double> systems(6, 2, 1, SXT_LOWER, 3, true, 5);
  const auto put = [&](std::int64_t s, double first, double below, double second) {
    systems.full[s] = {first, below, below, second};
    systems.store(s);
  };
  put(1, 3, -1, -1);
  put(2, 0, 0, 0);
  put(3, 3 + 0x1p-50, -1, -1);
  put(4, 1, NAN, -1);
  Systems<double> pivoted = systems;
  const Bytes shortcut = solve(context, systems, indefinite(systems, kAlways));
  solve(context, pivoted, indefinite(pivoted, 0));
  EXPECT_EQ(systems.info, pivoted.info);
  EXPECT_EQ(systems.info, (Numbers{0, 0, 1, 0, SXT_INFO_NOT_FINITE, 0}));
  EXPECT_EQ((Bytes{shortcut[0], shortcut[1], shortcut[2], shortcut[4], shortcut[5]}), (Bytes{1, 0, 0, 0, 1}));
  for (const std::int64_t s : {0, 1, 3, 5}) EXPECT_LE(systems.backward_error(s, systems.b), 1e-15) << s;
  EXPECT_EQ(0, std::memcmp(&systems.b[systems.stride_b], &pivoted.b[systems.stride_b], 2 * sizeof(double)));
  EXPECT_EQ(systems.at(1, 0, 0), pivoted.at(1, 0, 0)) << "its factor stands";
  EXPECT_EQ((Numbers{systems.pivots[2], systems.pivots[3]}), (Numbers{pivoted.pivots[2], pivoted.pivots[3]}));
  systems.expect_rest_untouched();
}

// A singular matrix is mixed to one whose last pivot is the rounding of zero: a solution of it may have any size, with
// a small residual. Such systems are pivoted and get the infos of pivoting; a regular one among them is not pivoted.
TYPED_TEST(HermitianButterflies, SingularSystemsGetTheInfosOfPivoting) {
  const Context context = cpu();
  for (const sxt_triangle triangle : {SXT_LOWER, SXT_UPPER})
    for (const std::int64_t n : {6, 20, 33, 60}) {
      Systems<TypeParam> systems(5, n, 1, triangle, 10, true, 23);
      const auto singular = api_test::singular_matrices<TypeParam>(n, 29);
      for (std::size_t s = 0; s < singular.size(); ++s) {
        systems.full[s] = singular[s];
        systems.store(static_cast<std::int64_t>(s));
      }
      Systems<TypeParam> pivoted = systems;
      EXPECT_EQ(solve(context, systems, indefinite(systems, kAlways)), (Bytes{0, 0, 0, 0, 1})) << n;
      solve(context, pivoted, indefinite(pivoted, 0));
      EXPECT_EQ(systems.info, pivoted.info) << n;
      EXPECT_EQ(systems.info[0], n);
      EXPECT_EQ(systems.info[4], 0);
      for (std::int64_t s = 0; s < 4;
           ++s)  // systems in which rounding hides the zero from pivoting, too, have the bits of pivoting
        if (systems.info[s] == 0) {
          EXPECT_EQ(0, std::memcmp(&systems.b[s * systems.stride_b], &pivoted.b[s * systems.stride_b],
                                   static_cast<std::size_t>(n) * sizeof(TypeParam)))
              << n << ", system " << s;
        }
    }
}

// Conditions up to the type's own: every answer of a shortcut is within the tolerance, and the rest is pivoted.
TEST(HermitianButterfly, IllConditionedSystems) {
  const Context context = cpu();
  const std::vector<double> digits{0, 4, 8, 12, 15, 18};
  Systems<Complex> systems(6, 60, 2, SXT_UPPER, 1, true, 3);
  for (std::size_t s = 0; s < digits.size(); ++s) {
    systems.full[s] = Systems<Complex>(1, 60, 1, SXT_LOWER, std::pow(10.0, digits[s]), true, 30 + s).full[0];
    systems.store(static_cast<std::int64_t>(s));
  }
  const Bytes shortcut = solve(context, systems, indefinite(systems, kAlways));
  EXPECT_EQ((Bytes{shortcut[0], shortcut[1]}), (Bytes{1, 1}));
  for (std::int64_t s = 0; s < 6; ++s) {
    EXPECT_EQ(systems.info[s], 0) << digits[s];
    EXPECT_LE(systems.backward_error(s, systems.b), (shortcut[s] ? 9 : 8 * 68) * systems.epsilon()) << digits[s];
  }
}

// Mixed orders behind pointers, copies of factor and solution, a mask, a shift, and pieces.
TEST(HermitianButterfly, OrdersPointersCopiesAndPieces) {
  const Context context = cpu();
  constexpr std::int64_t n = 33, batch = 7;
  Systems<Complex> systems(batch, n, 2, SXT_UPPER, 10, true, 7);
  const auto before_a = systems.a;
  const Numbers orders{33, 0, 1, 6, 17, 32, 5};
  const double shift = 0.25;
  sxt_hermitian_options options = indefinite(systems, kAlways);
  options.orders = orders.data();
  options.pointer_array = options.leading_vary = 1;
  options.shifts = &shift;
  options.n_shifts = 1;
  options.workspace_limit = 130000;
  std::vector<Complex> factor(systems.a.size()), x(systems.b.size());
  std::vector<void *> a_at, b_at, factor_at, x_at;
  const std::vector<std::int64_t> ld(batch, systems.lda);
  for (std::int64_t s = 0; s < batch; ++s) {
    a_at.push_back(&systems.a[s * systems.stride_a]), factor_at.push_back(&factor[s * systems.stride_a]);
    b_at.push_back(&systems.b[s * systems.stride_b]), x_at.push_back(&x[s * systems.stride_b]);
  }
  const Bytes active{1, 1, 1, 1, 0, 1, 1};
  Bytes shortcut(batch, 9);
  sxt_hermitian_set set = systems.set();
  set.a_array = a_at.data(), set.b_array = b_at.data();
  set.factor_array = factor_at.data(), set.x_array = x_at.data();
  set.lda_each = set.ldb_each = ld.data();
  set.active = active.data();
  set.shortcut = shortcut.data();
  const Hermitian hermitian_batch = hermitian(context, options);
  ASSERT_EQ(sxt_hermitian_factor_solve(hermitian_batch.get(), &set), SXT_OK) << last_error(context);
  EXPECT_EQ(shortcut, active);
  EXPECT_EQ(systems.info, (Numbers{0, 0, 0, 0, SXT_INFO_NOT_ACTIVE, 0, 0}));
  EXPECT_EQ(systems.a, before_a);
  EXPECT_EQ(systems.b, systems.b_before);
  EXPECT_LT(report_of(hermitian_batch).piece, batch);
  for (std::int64_t s = 0; s < batch; ++s)
    for (std::int64_t r = 0; r < 2 && active[s]; ++r)
      for (std::int64_t i = 0; i < orders[s]; ++i) {
        Complex left = systems.b_before[s * systems.stride_b + r * systems.lda + i];
        for (std::int64_t j = 0; j < orders[s]; ++j)
          left -= (systems.full[s][i + j * n] + (i == j ? shift : 0)) * x[s * systems.stride_b + r * systems.lda + j];
        ASSERT_LE(std::abs(left), 1e-12) << "order " << orders[s] << ", row " << i;
      }
}

// Of the two shortcuts that factor a copy one is taken; the Toeplitz shortcut comes before it.
TEST(HermitianButterfly, BesideOtherShortcuts) {
  const Context context = cpu();
  Systems<double> systems(4, 40, 1, SXT_LOWER, 20, true, 3);
  for (std::int64_t j = 0; j < 40; ++j)
    for (std::int64_t i = 0; i < 40; ++i) systems.full[2][i + j * 40] = -std::pow(0.5, std::abs(i - j));
  systems.store(2);
  const sxt_hermitian_options options = indefinite(systems, kAlways | SXT_SHORTCUT_MIXED | SXT_SHORTCUT_TOEPLITZ);
  const Hermitian batch = hermitian(context, options);
  const sxt_hermitian_report report = report_of(batch);
  EXPECT_NE(report.mixed_kernel[0] == 0, report.butterfly_kernel[0] == 0);
  EXPECT_STREQ(report.toeplitz_kernel, "hermitian_toeplitz.recursion.cpu");
  EXPECT_EQ(solve(context, systems, options), Bytes(4, 1));
  for (std::int64_t s = 0; s < 4; ++s) EXPECT_LE(systems.backward_error(s, systems.b), 16 * systems.epsilon());
}

TEST(HermitianButterfly, WhereItIsNotTaken) {
  const Context context = cpu();
  Systems<float> systems(2, 30, 1, SXT_LOWER, 20, false, 3);
  sxt_hermitian_options options = systems.options();
  for (const sxt_definiteness definiteness : {SXT_DEFINITE, SXT_TRY_DEFINITE}) {
    options.definiteness = definiteness;
    options.shortcuts = kAlways;
    EXPECT_STREQ(report_of(hermitian(context, options)).butterfly_kernel, "") << "it is for indefinite sets";
  }
  options = indefinite(systems, SXT_SHORTCUT_BUTTERFLY);
  EXPECT_STREQ(report_of(hermitian(context, options)).butterfly_kernel, "") << "it does not pay by the reference";
  options.shortcuts = kAlways;
  const Hermitian batch = hermitian(context, options);
  Numbers inertia(6);
  Bytes shortcut(2, 9);
  sxt_hermitian_set set = systems.set();
  set.inertia = inertia.data();
  set.shortcut = shortcut.data();
  ASSERT_EQ(sxt_hermitian_factor_solve(batch.get(), &set), SXT_OK) << last_error(context);
  EXPECT_EQ(shortcut, (Bytes{0, 0})) << "it leaves no factor that tells an inertia";
  EXPECT_EQ(inertia, (Numbers{30, 0, 0, 30, 0, 0}));
}

}  // namespace
}  // namespace api_test
