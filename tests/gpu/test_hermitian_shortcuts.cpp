// SPDX-License-Identifier: BSD-3-Clause
// Shortcuts on a GPU: Toeplitz systems among others by recursion, in every type, triangle and number of right-hand
// sides; ill-conditioned and singular ones left to a factorisation; double precision through single precision;
// indefinite systems mixed by butterflies; and the same on host sets that pass through device memory in pieces.
#include <algorithm>
#include <complex>
#include <cstdint>

#include "support.hpp"
#include "tests/api/toeplitz_systems.hpp"

namespace gpu_test {
namespace {

using api_test::falling;
using api_test::make_toeplitz;
using api_test::Scalar;
using api_test::Systems;
using Batch = api_test::Hermitian;
using Complex = std::complex<double>;
using Bytes = std::vector<std::uint8_t>;
using Numbers = std::vector<std::int32_t>;

class HermitianShortcutsGpu : public Gpu {
 protected:
  // A set in host memory is factored and solved: the work on the device and the transfers.
  template <class T>
  Bytes solve(Systems<T> &systems, sxt_hermitian_options options, std::vector<double> *residual = nullptr) {
    options.space = SXT_SPACE_HOST;
    sxt_hermitian *made = nullptr;
    EXPECT_EQ(sxt_hermitian_create(context_.get(), &options, &made), SXT_OK) << sxt_last_error(context_.get());
    const Batch batch(made);
    Bytes shortcut(static_cast<std::size_t>(systems.batch), 9);
    sxt_hermitian_set set = systems.set();
    set.shortcut = shortcut.data();
    if (residual) set.residual = residual->data();
    EXPECT_EQ(sxt_hermitian_factor_solve(batch.get(), &set), SXT_OK) << sxt_last_error(context_.get());
    sxt_hermitian_report report{};
    report.struct_size = sizeof report;
    EXPECT_EQ(sxt_hermitian_get_report(batch.get(), &report), SXT_OK);
    toeplitz_kernel_ = report.toeplitz_kernel;
    butterfly_kernel_ = report.butterfly_kernel;
    return shortcut;
  }

  template <class T>
  void toeplitz_among_others() {
    for (const std::int64_t n : {1, 2, 31, 45, 200, 520})
      for (const sxt_triangle triangle : {SXT_LOWER, SXT_UPPER}) {
        const std::int64_t n_rhs = n % 2 ? 3 : 1;
        Systems<T> systems(9, n, n_rhs, triangle, 10, false, 5);
        for (const std::int64_t s : {0, 3, 4, 8})
          make_toeplitz(systems, s, [&](std::int64_t k) { return falling<T>(k, 0.2 * static_cast<double>(s)); });
        sxt_hermitian_options options = systems.options();
        options.shortcuts = SXT_SHORTCUT_TOEPLITZ | SXT_SHORTCUT_ALWAYS;
        const Bytes shortcut = solve(systems, options);
        EXPECT_EQ(toeplitz_kernel_, "hermitian_toeplitz.recursion.cuda");
        if (n > 2) {  // those of one number are Toeplitz, and of order 2 nearly so
          EXPECT_EQ(shortcut, (Bytes{1, 0, 0, 1, 1, 0, 0, 0, 1})) << n;
        }
        for (std::int64_t s = 0; s < 9; ++s) {
          ASSERT_EQ(systems.info[s], 0) << "order " << n << ", system " << s;
          const double bound = shortcut[s] ? 16 : 10 * static_cast<double>(n + 8);
          ASSERT_LE(systems.backward_error(s, systems.b), bound * systems.epsilon())
              << "order " << n << ", system " << s;
        }
      }
  }

  // Well conditioned, so that very few need pivoting; two runs give the same bits.
  template <class T>
  void butterflies() {
    for (const std::int64_t n : {1, 5, 64, 128, 200, 350}) {
      const sxt_triangle triangle = n % 3 ? SXT_LOWER : SXT_UPPER;
      Systems<T> systems(40, n, n == 128 ? 3 : 1, triangle, 100, true, 11), again = systems;
      sxt_hermitian_options options = systems.options();
      options.definiteness = SXT_INDEFINITE;
      options.shortcuts = SXT_SHORTCUT_BUTTERFLY | SXT_SHORTCUT_ALWAYS;
      std::vector<double> residual(40, -1);
      const Bytes shortcut = solve(systems, options, &residual);
      ASSERT_NE(butterfly_kernel_, "") << "order " << n;
      EXPECT_GE(std::count(shortcut.begin(), shortcut.end(), 1), 36) << "order " << n;
      for (std::int64_t s = 0; s < 40; ++s) {
        ASSERT_EQ(systems.info[s], 0) << "order " << n << ", system " << s;
        const double bound = shortcut[s] ? 9 : 10 * static_cast<double>(n + 8);
        ASSERT_LE(systems.backward_error(s, systems.b), bound * systems.epsilon()) << "order " << n << ", system " << s;
      }
      EXPECT_EQ(solve(again, options), shortcut);
      EXPECT_EQ(again.b, systems.b) << "order " << n;
    }
  }
  std::string toeplitz_kernel_, butterfly_kernel_;
};

// A zero that rounding in a butterfly made nonzero is no pivot: singular members are factored with interchanges.
TEST_F(HermitianShortcutsGpu, SingularSystemsLeaveTheButterfly) {
  for (const std::int64_t n : {20, 200}) {
    Systems<double> systems(5, n, 1, SXT_LOWER, 10, true, 23);
    const auto singular = api_test::singular_matrices<double>(n, 29);
    for (std::size_t s = 0; s < singular.size(); ++s) {
      systems.full[s] = singular[s];
      systems.store(static_cast<std::int64_t>(s));
    }
    Systems<double> pivoted = systems;
    sxt_hermitian_options options = systems.options();
    options.definiteness = SXT_INDEFINITE;
    solve(pivoted, options);
    options.shortcuts = SXT_SHORTCUT_BUTTERFLY | SXT_SHORTCUT_ALWAYS;
    EXPECT_EQ(solve(systems, options), (Bytes{0, 0, 0, 0, 1})) << n;
    EXPECT_EQ(systems.info, pivoted.info) << n;
    EXPECT_GT(systems.info[0], 0);
    EXPECT_EQ(systems.info[4], 0);
  }
}

TEST_F(HermitianShortcutsGpu, ToeplitzF32) { toeplitz_among_others<float>(); }
TEST_F(HermitianShortcutsGpu, ToeplitzF64) { toeplitz_among_others<double>(); }
TEST_F(HermitianShortcutsGpu, ToeplitzC64) { toeplitz_among_others<std::complex<float>>(); }
TEST_F(HermitianShortcutsGpu, ToeplitzC128) { toeplitz_among_others<Complex>(); }
TEST_F(HermitianShortcutsGpu, ButterfliesF32) { butterflies<float>(); }
TEST_F(HermitianShortcutsGpu, ButterfliesF64) { butterflies<double>(); }
TEST_F(HermitianShortcutsGpu, ButterfliesC64) { butterflies<std::complex<float>>(); }
TEST_F(HermitianShortcutsGpu, ButterfliesC128) { butterflies<Complex>(); }

// Prolate matrices become numerically singular: the recursion leaves those to the factorisation.
TEST_F(HermitianShortcutsGpu, IllConditionedToeplitzSystemsAreFactored) {
  const double pi = std::acos(-1.0);
  const std::vector<double> widths{0.49, 0.45, 0.4, 0.3, 0.2, 0.1, 0.05};
  Systems<double> systems(7, 40, 1, SXT_LOWER, 1, false, 2);
  for (std::int64_t s = 0; s < 7; ++s)
    make_toeplitz(systems, s, [&](std::int64_t k) {
      const double w = widths[s], at = static_cast<double>(k);
      return k == 0 ? 2 * w : std::sin(2 * pi * w * at) / (pi * at);
    });
  sxt_hermitian_options options = systems.options();
  options.definiteness = SXT_TRY_DEFINITE;
  options.shortcuts = SXT_SHORTCUT_TOEPLITZ | SXT_SHORTCUT_ALWAYS;
  const Bytes shortcut = solve(systems, options);
  EXPECT_EQ(shortcut.front(), 1);
  EXPECT_EQ(shortcut.back(), 0);
  for (std::int64_t s = 0; s < 7; ++s) {
    EXPECT_EQ(systems.info[s], 0) << widths[s];
    EXPECT_LE(systems.backward_error(s, systems.b), 1e-13) << widths[s];
  }
}

template <class T>
void spread_conditions(Systems<T> &systems, const std::vector<double> &digits, bool indefinite) {
  for (std::size_t s = 0; s < digits.size(); ++s) {
    systems.full[s] = Systems<T>(1, systems.n, 1, SXT_LOWER, std::pow(10.0, digits[s]), indefinite, 30 + s).full[0];
    systems.store(static_cast<std::int64_t>(s));
  }
}

TEST_F(HermitianShortcutsGpu, MixedPrecisionWhereTheConditionAllows) {
  const std::vector<double> digits{0, 2, 4, 9, 13};
  for (const sxt_definiteness definiteness : {SXT_DEFINITE, SXT_INDEFINITE, SXT_TRY_DEFINITE})
    for (const std::int64_t n : {40, 150}) {
      Systems<Complex> systems(5, n, 2, SXT_UPPER, 1, false, 3);
      spread_conditions(systems, digits, definiteness == SXT_INDEFINITE);
      sxt_hermitian_options options = systems.options();
      options.definiteness = definiteness;
      options.shortcuts = SXT_SHORTCUT_MIXED | SXT_SHORTCUT_ALWAYS;
      std::vector<double> residual(5, -1);
      const Bytes shortcut = solve(systems, options, &residual);
      for (std::int64_t s = 0; s < 5; ++s) {
        EXPECT_EQ(systems.info[s], 0) << "10^" << digits[s];
        const double error = systems.backward_error(s, systems.b);
        EXPECT_LE(error, (shortcut[s] ? 10 : 10 * static_cast<double>(n + 8)) * systems.epsilon())
            << "10^" << digits[s];
        EXPECT_NEAR(residual[s], error, 0.1 * error + 1e-16);
      }
      EXPECT_EQ((Bytes{shortcut[0], shortcut[1]}), (Bytes{1, 1}));
      EXPECT_EQ((Bytes{shortcut[3], shortcut[4]}), (Bytes{0, 0}));
    }
}

}  // namespace
}  // namespace gpu_test
