// SPDX-License-Identifier: BSD-3-Clause
// Operations of a batch of Hermitian systems beside factoring and solving: second attempts, shifts, scaling,
// refinement, inertia, condition numbers, pieces, reports.
#include <dlfcn.h>

#include <cstdint>
#include <cstring>

#include "hermitian_support.hpp"

namespace api_test {
namespace {

using Complex = std::complex<double>;
using Numbers = std::vector<std::int32_t>;

TEST(HermitianOptions, OnlyTheSystemsThatAreNotDefiniteArePivoted) {
  const Context context = cpu();
  Systems<Complex> systems(7, 21, 2, SXT_LOWER, 100, false, 1), indefinite(7, 21, 2, SXT_LOWER, 100, true, 2);
  for (const std::int64_t s : {1, 4}) {
    systems.full[s] = indefinite.full[s];
    systems.store(s);
  }
  Systems<Complex> alone = systems;
  sxt_hermitian_options options = systems.options();
  options.definiteness = SXT_TRY_DEFINITE;
  const Hermitian batch = hermitian(context, options);
  sxt_hermitian_set set = systems.set();
  Numbers inertia(21, -1);
  set.inertia = inertia.data();
  ASSERT_EQ(sxt_hermitian_factor_solve(batch.get(), &set), SXT_OK) << last_error(context);
  for (std::int64_t s = 0; s < 7; ++s) {
    const bool pivoted = s == 1 || s == 4;
    EXPECT_EQ(systems.info[s], 0);
    EXPECT_LE(systems.backward_error(s, systems.b), 1e-13) << s;
    EXPECT_EQ(systems.pivots[21 * s] != 0, pivoted) << s;
    EXPECT_EQ(inertia[3 * s], pivoted ? 14 : 21) << s;
    EXPECT_EQ(inertia[3 * s + 1], pivoted ? 7 : 0) << s;
    EXPECT_EQ(inertia[3 * s + 2], 0) << s;
  }
  // Definite ones have the same results as without the others.
  options.definiteness = SXT_DEFINITE;
  const Hermitian definite = hermitian(context, options);
  sxt_hermitian_set plain = alone.set();
  ASSERT_EQ(sxt_hermitian_factor_solve(definite.get(), &plain), SXT_OK);
  for (const std::int64_t s : {0, 2, 3, 5, 6})
    for (std::int64_t i = 0; i < 21; ++i)
      EXPECT_LE(std::abs(alone.b[s * alone.stride_b + i] - systems.b[s * systems.stride_b + i]), 1e-9);
  EXPECT_GT(alone.info[1], 0);
}

TEST(HermitianOptions, AFullSetOfFailuresAndNone) {
  const Context context = cpu();
  for (const bool indefinite : {true, false}) {
    Systems<double> systems(3, 10, 1, SXT_UPPER, 10, indefinite, 4);
    sxt_hermitian_options options = systems.options();
    options.definiteness = SXT_TRY_DEFINITE;
    const Hermitian batch = hermitian(context, options);
    sxt_hermitian_set set = systems.set();
    set.pivots = nullptr;  // factored and solved at once: they are not requested
    ASSERT_EQ(sxt_hermitian_factor_solve(batch.get(), &set), SXT_OK) << last_error(context);
    for (std::int64_t s = 0; s < 3; ++s) EXPECT_LE(systems.backward_error(s, systems.b), 1e-14);
  }
}

// A ladder of shifts: the first for all, each further one for those that failed.
TEST(HermitianOptions, ShiftsRiseUntilASystemIsDefinite) {
  const Context context = cpu();
  Systems<double> systems(4, 8, 1, SXT_LOWER, 1, false, 6);  // A = I, but for
  for (std::int64_t i = 0; i < 8; ++i) systems.full[1][i + 8 * i] = -0.005;
  for (std::int64_t i = 0; i < 8; ++i) systems.full[3][i + 8 * i] = -5;
  systems.store(1);
  systems.store(3);
  const double shifts[] = {0, 0.01, 1};
  sxt_hermitian_options options = systems.options();
  options.shifts = shifts;
  options.n_shifts = 3;
  const Hermitian batch = hermitian(context, options);
  std::vector<double> shift(4, -1), residual(4, -1);
  sxt_hermitian_set set = systems.set();
  set.shift = shift.data();
  set.residual = residual.data();
  ASSERT_EQ(sxt_hermitian_factor_solve(batch.get(), &set), SXT_OK) << last_error(context);
  EXPECT_EQ(systems.info, (Numbers{0, 0, 0, 1}));
  EXPECT_EQ(shift, (std::vector<double>{0, 0.01, 0, 1}));  // the last one failed with all of them
  for (const std::int64_t s : {0, 1, 2}) {
    EXPECT_LE(systems.backward_error(s, systems.b, shift[s]), 1e-14);
    EXPECT_LE(residual[s], 1e-14);
  }
}

TEST(HermitianOptions, ARelativeShiftIsOfTheMeanDiagonal) {
  const Context context = cpu();
  Systems<Complex> systems(2, 3, 1, SXT_UPPER, 1, false, 6);
  const double diagonal[] = {1, 2, 6};
  for (std::int64_t i = 0; i < 3; ++i)
    for (std::int64_t j = 0; j < 3; ++j) systems.full[1][i + 3 * j] = i == j ? diagonal[i] : 0;
  systems.store(1);
  const double tenth = 0.1;
  sxt_hermitian_options options = systems.options();
  options.shifts = &tenth;
  options.n_shifts = options.shift_relative = 1;
  const Hermitian batch = hermitian(context, options);
  std::vector<double> shift(2);
  sxt_hermitian_set set = systems.set();
  set.shift = shift.data();
  ASSERT_EQ(sxt_hermitian_factor_solve(batch.get(), &set), SXT_OK) << last_error(context);
  EXPECT_NEAR(shift[0], 0.1, 1e-15);
  EXPECT_NEAR(shift[1], 0.3, 1e-15);
  EXPECT_LE(systems.backward_error(1, systems.b, 0.3), 1e-15);
}

// D A D with a badly scaled diagonal D is as accurate as A after equilibration.
TEST(HermitianOptions, EquilibrationBringsBackABadlyScaledSystem) {
  const Context context = cpu();
  Systems<float> systems(2, 30, 1, SXT_LOWER, 10, false, 8);
  for (std::int64_t s = 0; s < 2; ++s) {
    for (std::int64_t j = 0; j < 30; ++j)
      for (std::int64_t i = 0; i < 30; ++i)
        systems.full[s][i + 30 * j] =
            std::ldexp(systems.full[s][i + 30 * j], static_cast<int>((i % 7 + j % 7) * 7 - 42));
    systems.store(s);
  }
  sxt_hermitian_options options = systems.options();
  options.equilibrate = 1;
  const Hermitian batch = hermitian(context, options);
  std::vector<double> scale(60), rcond(2);
  sxt_hermitian_set set = systems.set();
  set.scale = scale.data();
  ASSERT_EQ(sxt_hermitian_factor(batch.get(), &set), SXT_OK) << last_error(context);
  ASSERT_EQ(sxt_hermitian_solve(batch.get(), &set), SXT_OK) << last_error(context);
  for (std::int64_t s = 0; s < 2; ++s) {
    EXPECT_EQ(systems.info[s], 0);
    for (std::int64_t i = 0; i < 30; ++i) {
      const double scaled = scale[30 * s + i] * scale[30 * s + i] * systems.full[s][31 * i];
      EXPECT_GE(scaled, 0.49) << i;
      EXPECT_LE(scaled, 2.01) << i;
      int exponent = 0;
      EXPECT_EQ(std::frexp(scale[30 * s + i], &exponent), 0.5) << "no power of two";
    }
    // Row by row: |b - A x|_i against (|A| |x| + |b|)_i, which no scaling changes.
    for (std::int64_t i = 0; i < 30; ++i) {
      double sum = systems.b_before[s * systems.stride_b + i], size = std::abs(sum);
      for (std::int64_t j = 0; j < 30; ++j) {
        const double term = double(systems.full[s][i + 30 * j]) * systems.b[s * systems.stride_b + j];
        sum -= term, size += std::abs(term);
      }
      EXPECT_LE(std::abs(sum), 2e-6 * size) << i;
    }
  }
}

// Refinement with the true matrix corrects a slightly wrong factor.
TEST(HermitianOptions, RefinementRepairsASpoiltFactor) {
  const Context context = cpu();
  Systems<double> systems(3, 25, 2, SXT_LOWER, 20, false, 12);
  std::vector<double> factor(systems.a.size()), x(systems.b.size()), residual(3);
  sxt_hermitian_options options = systems.options();
  const Hermitian plain = hermitian(context, options);
  options.refine_steps = 20;
  const Hermitian refined = hermitian(context, options);
  sxt_hermitian_set set = systems.set();
  set.factor = factor.data();
  set.x = x.data();
  ASSERT_EQ(sxt_hermitian_factor(plain.get(), &set), SXT_OK) << last_error(context);
  for (double &value : factor) value *= 1.003;
  set.residual = residual.data();
  ASSERT_EQ(sxt_hermitian_solve(plain.get(), &set), SXT_OK) << last_error(context);
  for (std::int64_t s = 0; s < 3; ++s) EXPECT_GT(residual[s], 1e-5);
  ASSERT_EQ(sxt_hermitian_solve(refined.get(), &set), SXT_OK) << last_error(context);
  for (std::int64_t s = 0; s < 3; ++s) {
    EXPECT_LE(residual[s], 3e-16);
    EXPECT_LE(systems.backward_error(s, x), 3e-16);
  }
}

TEST(HermitianOptions, ConditionNumbersAreEstimatedFromBelow) {
  const Context context = cpu();
  for (const double digits : {0.0, 2.0, 6.0, 10.0})
    for (const sxt_definiteness definiteness : {SXT_DEFINITE, SXT_INDEFINITE, SXT_TRY_DEFINITE}) {
      const double condition = std::pow(10.0, digits);
      Systems<Complex> systems(3, 24, 1, SXT_LOWER, condition, definiteness != SXT_DEFINITE, 13);
      sxt_hermitian_options options = systems.options();
      options.definiteness = definiteness;
      options.equilibrate = definiteness == SXT_DEFINITE;
      const Hermitian batch = hermitian(context, options);
      std::vector<double> rcond(3, -1), scale(3 * 24);
      sxt_hermitian_set set = systems.set();
      set.rcond = rcond.data();
      set.scale = scale.data();
      ASSERT_EQ(sxt_hermitian_factor(batch.get(), &set), SXT_OK) << last_error(context);
      for (const double r : rcond) {  // the 1-norm's condition number is within n of the 2-norm's
        EXPECT_GE(r, 1 / condition / 24);
        EXPECT_LE(r, 24 / condition);
      }
    }
}

// The inertia of a matrix with known eigenvalues, and LAPACK's own eigenvalues where LAPACK is there.
TEST(HermitianOptions, InertiaIsThatOfTheEigenvalues) {
  const Context context = cpu();
  void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
  using Heev = void(const char *, const char *, const int *, void *, const int *, double *, void *, const int *,
                    double *, int *, std::size_t, std::size_t);
  auto *heev = library ? reinterpret_cast<Heev *>(dlsym(library, "zheev_")) : nullptr;
  std::mt19937_64 random(99);
  std::uniform_real_distribution<double> uniform(-1, 1);
  constexpr int n = 33;
  Systems<Complex> systems(4, n, 1, SXT_UPPER, 1, false, 3);
  for (std::int64_t s = 0; s < 4; ++s) {  // random Hermitian matrices: eigenvalues of both signs
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = j; i < n; ++i) {
        const Complex v(uniform(random), i == j ? 0 : uniform(random));
        systems.full[s][i + n * j] = v;
        systems.full[s][j + n * i] = std::conj(v);
      }
    systems.store(s);
  }
  sxt_hermitian_options options = systems.options();
  options.definiteness = SXT_INDEFINITE;
  const Hermitian batch = hermitian(context, options);
  Numbers inertia(12, -1);
  sxt_hermitian_set set = systems.set();
  set.inertia = inertia.data();
  ASSERT_EQ(sxt_hermitian_factor(batch.get(), &set), SXT_OK) << last_error(context);
  if (!heev) GTEST_SKIP() << "no OpenBLAS to compare with";
  for (std::int64_t s = 0; s < 4; ++s) {
    std::vector<double> values(n), real_work(3 * n);
    std::vector<Complex> work(10 * n), a = systems.full[s];
    const int size = 10 * n;
    int info = 1;
    heev("N", "L", &n, a.data(), &n, values.data(), work.data(), &size, real_work.data(), &info, 1, 1);
    ASSERT_EQ(info, 0);
    const auto positive = std::count_if(values.begin(), values.end(), [](double v) { return v > 0; });
    EXPECT_EQ(inertia[3 * s], positive);
    EXPECT_EQ(inertia[3 * s + 1], n - positive);
    EXPECT_EQ(inertia[3 * s + 2], 0);
  }
}

// With little work memory a set is done in pieces: the same bits.
TEST(HermitianOptions, PiecesChangeNothing) {
  const Context context = cpu();
  const Systems<double> original(9, 18, 2, SXT_LOWER, 10, true, 15);
  Systems<double> whole = original, pieces = original;
  sxt_hermitian_options options = whole.options();
  options.definiteness = SXT_TRY_DEFINITE;
  options.equilibrate = options.refine_steps = 1;
  std::vector<double> scale[2] = {std::vector<double>(9 * 18), std::vector<double>(9 * 18)};
  std::vector<double> residual[2] = {std::vector<double>(9), std::vector<double>(9)};
  std::vector<std::uint8_t> done[2] = {std::vector<std::uint8_t>(9), std::vector<std::uint8_t>(9)};
  int turn = 0;
  for (Systems<double> *systems : {&whole, &pieces}) {
    options.workspace_limit = turn ? 15000 : 0;
    const Hermitian batch = hermitian(context, options);
    sxt_hermitian_set set = systems->set();
    set.scale = scale[turn].data();
    set.residual = residual[turn].data();
    set.active_out = done[turn].data();
    ASSERT_EQ(sxt_hermitian_factor_solve(batch.get(), &set), SXT_OK) << last_error(context);
    sxt_hermitian_report report{};
    report.struct_size = sizeof report;
    ASSERT_EQ(sxt_hermitian_get_report(batch.get(), &report), SXT_OK);
    EXPECT_EQ(report.piece, turn ? 3 : 9);
    EXPECT_GT(report.workspace_bytes, 0u);
    EXPECT_LE(report.workspace_bytes, turn ? 15000u : 60000u);
    ++turn;
  }
  EXPECT_EQ(whole.a, pieces.a);
  EXPECT_EQ(whole.b, pieces.b);
  EXPECT_EQ(whole.pivots, pieces.pivots);
  EXPECT_EQ(scale[0], scale[1]);
  EXPECT_EQ(residual[0], residual[1]);
  EXPECT_EQ(done[1], std::vector<std::uint8_t>(9, 1));
}

TEST(HermitianOptions, ReportAndExplanation) {
  const Context context = cpu();
  sxt_hermitian_options options = hermitian_options(SXT_C64, 10, 50);
  options.kernel = "hermitian.reference.cpu";
  const Hermitian forced = hermitian(context, options);
  sxt_hermitian_report report{};
  report.struct_size = sizeof report;
  ASSERT_EQ(sxt_hermitian_get_report(forced.get(), &report), SXT_OK);
  EXPECT_STREQ(report.factor_kernel, "hermitian.reference.cpu");
  EXPECT_STREQ(report.pivoting_kernel, "");
  EXPECT_GT(report.predicted_factor_s, 0);
  EXPECT_NEAR(report.flops, 10 * (4.0 / 3 * 50 * 50 * 50 + 8 * 50 * 50), 1);
  std::int64_t length = 0;
  ASSERT_EQ(sxt_hermitian_explain(forced.get(), SXT_JSON, nullptr, 0, &length), SXT_OK);
  std::string text(static_cast<std::size_t>(length) + 1, ' ');
  ASSERT_EQ(sxt_hermitian_explain(forced.get(), SXT_JSON, text.data(), length + 1, nullptr), SXT_OK);
  EXPECT_NE(text.find("hermitian.lapack.cpu"), std::string::npos) << text;
  options.kernel = "hermitian.lapak.cpu";
  hermitian(context, options, SXT_E_UNKNOWN_NAME);
  EXPECT_NE(last_error(context).find("hermitian.lapack.cpu"), std::string::npos) << last_error(context);
}

}  // namespace
}  // namespace api_test
