// SPDX-License-Identifier: BSD-3-Clause
// Alternatives to a whole factorisation: Toeplitz systems by recursion, double precision through single precision. A
// system that one does not solve well enough is factored as usual.
#include <cstdint>
#include <cstring>

#include "toeplitz_systems.hpp"

namespace api_test {
namespace {

using Complex = std::complex<double>;
using Numbers = std::vector<std::int32_t>;
using Bytes = std::vector<std::uint8_t>;

// The prolate matrix: the Toeplitz matrix of an ideal low pass filter of bandwidth w, whose condition number grows
// exponentially with the order.
double prolate(std::int64_t k, double w) {
  const double pi = std::acos(-1.0), at = static_cast<double>(k);
  return k == 0 ? 2 * w : std::sin(2 * pi * w * at) / (pi * at);
}

template <class T>
class HermitianShortcuts : public testing::Test {};
using Types = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(HermitianShortcuts, Types);

TYPED_TEST(HermitianShortcuts, ToeplitzSystemsAreFoundAmongOthersAndSolved) {
  const Context context = cpu();
  for (const sxt_triangle triangle : {SXT_LOWER, SXT_UPPER})
    for (const sxt_definiteness definiteness : {SXT_DEFINITE, SXT_INDEFINITE, SXT_TRY_DEFINITE}) {
      Systems<TypeParam> systems(7, 45, 2, triangle, 50, definiteness == SXT_INDEFINITE, 5);
      for (const std::int64_t s : {0, 3, 4})
        make_toeplitz(systems, s, [&](std::int64_t k) { return falling<TypeParam>(k, 0.2 * static_cast<double>(s)); });
      sxt_hermitian_options options = systems.options();
      options.definiteness = definiteness;
      options.shortcuts = SXT_SHORTCUT_TOEPLITZ | SXT_SHORTCUT_ALWAYS;
      const Hermitian batch = hermitian(context, options);
      Bytes shortcut(7, 9);
      sxt_hermitian_set set = systems.set();
      set.shortcut = shortcut.data();
      ASSERT_EQ(sxt_hermitian_factor_solve(batch.get(), &set), SXT_OK) << last_error(context);
      EXPECT_EQ(shortcut, (Bytes{1, 0, 0, 1, 1, 0, 0}));
      for (std::int64_t s = 0; s < 7; ++s) {
        EXPECT_EQ(systems.info[s], 0) << s;
        EXPECT_LE(systems.backward_error(s, systems.b), 8 * (45 + 8) * systems.epsilon()) << s;
      }
      for (const std::int64_t s : {0, 3, 4}) {
        EXPECT_LE(systems.backward_error(s, systems.b), 16 * systems.epsilon()) << s;
        for (std::int64_t j = 0; j < 45; ++j)  // no factor: the matrix stands, but for its diagonal's imaginary parts
          for (std::int64_t i = 0; i < 45; ++i)
            if (systems.held(i, j)) {
              EXPECT_EQ(systems.at(s, i, j), systems.full[s][i + j * 45]);
            }
      }
      systems.expect_rest_untouched();
      sxt_hermitian_report report{};
      report.struct_size = sizeof report;
      ASSERT_EQ(sxt_hermitian_get_report(batch.get(), &report), SXT_OK);
      EXPECT_STREQ(report.toeplitz_kernel, "hermitian_toeplitz.recursion.cpu");
      EXPECT_STREQ(report.mixed_kernel, "");
    }
}

// The answer is known: T (1, 1, ..., 1) has the sums of rows.
TEST(HermitianShortcut, AKnownToeplitzSystem) {
  const Context context = cpu();
  constexpr std::int64_t n = 350;
  Systems<Complex> systems(1, n, 1, SXT_LOWER, 1, false, 1);
  make_toeplitz(systems, 0, [](std::int64_t k) { return falling<Complex>(k, 0.4); });
  for (std::int64_t i = 0; i < n; ++i) {
    Complex sum = 0;
    for (std::int64_t j = 0; j < n; ++j) sum += systems.full[0][i + j * n];
    systems.b[i] = sum;
  }
  sxt_hermitian_options options = systems.options();
  options.shortcuts = SXT_SHORTCUT_TOEPLITZ;  // at this order it is faster
  const Hermitian batch = hermitian(context, options);
  std::uint8_t shortcut = 0;
  sxt_hermitian_set set = systems.set();
  set.shortcut = &shortcut;
  ASSERT_EQ(sxt_hermitian_factor_solve(batch.get(), &set), SXT_OK) << last_error(context);
  EXPECT_EQ(shortcut, 1);
  for (std::int64_t i = 0; i < n; ++i) EXPECT_LE(std::abs(systems.b[i] - 1.0), 1e-13) << i;
}

// Prolate matrices from harmless to numerically singular: a system that the recursion cannot solve well is factored,
// and one that is no longer definite gets its leading minor as info, as without the shortcut.
TEST(HermitianShortcut, IllConditionedToeplitzSystemsAreFactored) {
  const Context context = cpu();
  constexpr std::int64_t n = 40;
  const std::vector<double> widths{0.49, 0.45, 0.4, 0.3, 0.2, 0.1, 0.05};
  Systems<double> systems(static_cast<std::int64_t>(widths.size()), n, 1, SXT_LOWER, 1, false, 2);
  for (std::size_t s = 0; s < widths.size(); ++s)
    make_toeplitz(systems, static_cast<std::int64_t>(s), [&](std::int64_t k) { return prolate(k, widths[s]); });
  Systems<double> plain = systems;
  sxt_hermitian_options options = systems.options();
  const Hermitian usual = hermitian(context, options);
  options.shortcuts = SXT_SHORTCUT_TOEPLITZ | SXT_SHORTCUT_ALWAYS;
  const Hermitian batch = hermitian(context, options);
  Bytes shortcut(widths.size(), 9);
  sxt_hermitian_set set = systems.set(), plain_set = plain.set();
  set.shortcut = shortcut.data();
  ASSERT_EQ(sxt_hermitian_factor_solve(batch.get(), &set), SXT_OK) << last_error(context);
  ASSERT_EQ(sxt_hermitian_factor_solve(usual.get(), &plain_set), SXT_OK) << last_error(context);
  EXPECT_EQ(shortcut.front(), 1) << "a well conditioned one";
  EXPECT_EQ(shortcut.back(), 0) << "a numerically singular one";
  int factored = 0;
  for (std::size_t s = 0; s < widths.size(); ++s) {
    const auto at = static_cast<std::int64_t>(s);
    if (shortcut[s] == 0) {
      ++factored;
      EXPECT_EQ(systems.info[s], plain.info[s]) << widths[s];
      EXPECT_EQ(0, std::memcmp(&systems.b[at * systems.stride_b], &plain.b[at * plain.stride_b], n * sizeof(double)));
    } else {
      EXPECT_EQ(systems.info[s], 0) << widths[s];
    }
    if (systems.info[s] == 0) {
      EXPECT_LE(systems.backward_error(at, systems.b), 1e-14) << widths[s];
    }
  }
  EXPECT_GE(factored, 2);
}

// Indefinite ones whose leading minors vanish break the recursion down at once; pivoting solves them.
TEST(HermitianShortcut, AVanishingMinorIsPivoted) {
  const Context context = cpu();
  Systems<double> systems(2, 30, 1, SXT_UPPER, 1, true, 2);
  make_toeplitz(systems, 0, [](std::int64_t k) { return k == 0 ? 0.0 : falling<double>(k, 0); });
  make_toeplitz(systems, 1, [](std::int64_t k) { return k == 0 ? 1.0 : k == 1 ? 1.0 : falling<double>(k, 0.5); });
  sxt_hermitian_options options = systems.options();
  options.definiteness = SXT_TRY_DEFINITE;
  options.shortcuts = SXT_SHORTCUT_TOEPLITZ | SXT_SHORTCUT_ALWAYS;
  options.refine_steps = 1;
  const Hermitian batch = hermitian(context, options);
  Bytes shortcut(2, 9);
  sxt_hermitian_set set = systems.set();
  set.shortcut = shortcut.data();
  ASSERT_EQ(sxt_hermitian_factor_solve(batch.get(), &set), SXT_OK) << last_error(context);
  EXPECT_EQ(shortcut, (Bytes{0, 0}));
  for (std::int64_t s = 0; s < 2; ++s) {
    EXPECT_EQ(systems.info[s], 0);
    EXPECT_NE(systems.pivots[30 * s], 0);
    EXPECT_LE(systems.backward_error(s, systems.b), 1e-14);
  }
}

// A shift keeps a Toeplitz matrix Toeplitz; pieces, masks and copies work as usual.
TEST(HermitianShortcut, ShiftsMasksCopiesAndPieces) {
  const Context context = cpu();
  Systems<Complex> systems(6, 33, 2, SXT_LOWER, 10, false, 7);
  for (const std::int64_t s : {1, 2, 5})
    make_toeplitz(systems, s, [&](std::int64_t k) { return falling<Complex>(k, 0.1 * static_cast<double>(s)); });
  const auto before = systems.a;
  const double tenth = 0.1;
  sxt_hermitian_options options = systems.options();
  options.shortcuts = SXT_SHORTCUT_TOEPLITZ | SXT_SHORTCUT_MIXED | SXT_SHORTCUT_ALWAYS;
  options.shifts = &tenth;
  options.n_shifts = 1;
  options.workspace_limit = 40000;
  const Hermitian batch = hermitian(context, options);
  std::vector<Complex> factor(systems.a.size()), x(systems.b.size());
  std::vector<double> residual(6, -1), shift(6, -1);
  Bytes active{1, 1, 0, 1, 1, 1}, shortcut(6, 9), out(6, 9);
  sxt_hermitian_set set = systems.set();
  set.factor = factor.data(), set.x = x.data();
  set.residual = residual.data(), set.shift = shift.data();
  set.active = active.data(), set.active_out = out.data(), set.shortcut = shortcut.data();
  ASSERT_EQ(sxt_hermitian_factor_solve(batch.get(), &set), SXT_OK) << last_error(context);
  EXPECT_EQ(out, active);
  EXPECT_EQ(shortcut, active) << "well conditioned, all of them";
  EXPECT_EQ(systems.info, (Numbers{0, 0, SXT_INFO_NOT_ACTIVE, 0, 0, 0}));
  EXPECT_EQ(systems.a, before);
  EXPECT_EQ(systems.b, systems.b_before);
  for (const std::int64_t s : {0, 1, 3, 4, 5}) {
    EXPECT_LE(systems.backward_error(s, x, 0.1), 1e-14) << s;
    EXPECT_LE(residual[s], 1e-14) << s;
    EXPECT_EQ(shift[s], 0.1);
  }
  sxt_hermitian_report report{};
  report.struct_size = sizeof report;
  ASSERT_EQ(sxt_hermitian_get_report(batch.get(), &report), SXT_OK);
  EXPECT_LT(report.piece, 6);
}

// Conditions within the reach of single precision give answers of double precision; those beyond are factored.
template <class T>
void mixed_precision(sxt_definiteness definiteness) {
  const Context context = cpu();
  constexpr std::int64_t n = 60;
  const std::vector<double> digits{0, 2, 4, 5, 9, 13};
  Systems<T> systems(static_cast<std::int64_t>(digits.size()), n, 2, SXT_LOWER, 1, false, 3);
  for (std::size_t s = 0; s < digits.size(); ++s) {
    const bool indefinite = definiteness == SXT_INDEFINITE;
    systems.full[s] = Systems<T>(1, n, 1, SXT_LOWER, std::pow(10.0, digits[s]), indefinite, 30 + s).full[0];
    systems.store(static_cast<std::int64_t>(s));
  }
  sxt_hermitian_options options = systems.options();
  options.definiteness = definiteness;
  options.shortcuts = SXT_SHORTCUT_MIXED | SXT_SHORTCUT_ALWAYS;
  const Hermitian batch = hermitian(context, options);
  Bytes shortcut(digits.size(), 9);
  std::vector<double> residual(digits.size(), -1);
  sxt_hermitian_set set = systems.set();
  set.shortcut = shortcut.data();
  set.residual = residual.data();
  ASSERT_EQ(sxt_hermitian_factor_solve(batch.get(), &set), SXT_OK) << last_error(context);
  for (std::size_t s = 0; s < digits.size(); ++s) {
    const auto at = static_cast<std::int64_t>(s);
    EXPECT_EQ(systems.info[s], 0) << "10^" << digits[s];
    EXPECT_LE(systems.backward_error(at, systems.b), 8 * (n + 8) * systems.epsilon()) << "10^" << digits[s];
    EXPECT_NEAR(residual[s], systems.backward_error(at, systems.b), 0.1 * residual[s] + 1e-16);
    if (shortcut[s]) {
      EXPECT_LE(residual[s], 8 * systems.epsilon()) << "10^" << digits[s];
    }
  }
  EXPECT_EQ((Bytes{shortcut[0], shortcut[1], shortcut[2]}), (Bytes{1, 1, 1}));
  EXPECT_EQ((Bytes{shortcut[4], shortcut[5]}), (Bytes{0, 0}));
  systems.expect_rest_untouched();
}
TEST(HermitianShortcut, MixedPrecisionWhereTheConditionAllows) {
  for (const sxt_definiteness definiteness : {SXT_DEFINITE, SXT_INDEFINITE, SXT_TRY_DEFINITE}) {
    mixed_precision<double>(definiteness);
    mixed_precision<Complex>(definiteness);
  }
}

// Beyond single precision's range the copy overflows: no shortcut, the right answer.
TEST(HermitianShortcut, NumbersThatSinglePrecisionDoesNotHold) {
  const Context context = cpu();
  Systems<double> systems(2, 20, 1, SXT_LOWER, 10, false, 3);
  for (double &v : systems.full[1]) v *= 1e200;
  systems.store(1);
  sxt_hermitian_options options = systems.options();
  options.shortcuts = SXT_SHORTCUT_MIXED | SXT_SHORTCUT_ALWAYS;
  const Hermitian batch = hermitian(context, options);
  Bytes shortcut(2, 9);
  sxt_hermitian_set set = systems.set();
  set.shortcut = shortcut.data();
  ASSERT_EQ(sxt_hermitian_factor_solve(batch.get(), &set), SXT_OK) << last_error(context);
  EXPECT_EQ(shortcut, (Bytes{1, 0}));
  for (std::int64_t s = 0; s < 2; ++s) EXPECT_LE(systems.backward_error(s, systems.b), 1e-14);
}

// No shortcut is taken where a factor is requested, or where none is allowed; invalid options are refused.
TEST(HermitianShortcut, WhereNoneIsTaken) {
  const Context context = cpu();
  const Systems<double> toeplitz = [] {
    Systems<double> made(2, 25, 1, SXT_LOWER, 1, false, 3);
    for (std::int64_t s = 0; s < 2; ++s) make_toeplitz(made, s, [](std::int64_t k) { return falling<double>(k, 0.3); });
    return made;
  }();
  sxt_hermitian_options options = toeplitz.options();
  const auto factors_stand = [&](auto &&change) {
    Systems<double> systems = toeplitz;
    std::vector<double> rcond(2), scale(50);
    Numbers inertia(6);
    Bytes shortcut(2, 9);
    sxt_hermitian_set set = systems.set();
    set.scale = scale.data();
    set.shortcut = shortcut.data();
    change(set, rcond, inertia);
    const Hermitian batch = hermitian(context, options);
    EXPECT_EQ(sxt_hermitian_factor_solve(batch.get(), &set), SXT_OK) << last_error(context);
    EXPECT_EQ(shortcut, (Bytes{0, 0}));
    systems.b = systems.b_before;
    EXPECT_EQ(sxt_hermitian_solve(batch.get(), &set), SXT_OK);
    for (std::int64_t s = 0; s < 2; ++s) EXPECT_LE(systems.backward_error(s, systems.b), 1e-13);
  };
  const auto nothing = [](sxt_hermitian_set &, std::vector<double> &, Numbers &) {};
  factors_stand(nothing);
  options.shortcuts = SXT_SHORTCUT_TOEPLITZ | SXT_SHORTCUT_ALWAYS;
  factors_stand([](sxt_hermitian_set &set, std::vector<double> &rcond, Numbers &) { set.rcond = rcond.data(); });
  factors_stand([](sxt_hermitian_set &set, std::vector<double> &, Numbers &inertia) { set.inertia = inertia.data(); });
  options.equilibrate = 1;
  factors_stand(nothing);
  options.shortcuts = 16;
  hermitian(context, options, SXT_E_ARGUMENT);
  EXPECT_NE(last_error(context).find("shortcuts is 16"), std::string::npos) << last_error(context);
}

}  // namespace
}  // namespace api_test
