// SPDX-License-Identifier: BSD-3-Clause
// Batches of Hermitian systems through the C interface: backward errors from well to ill conditioned, layouts, copies,
// masks, bits, and a fuzz over shapes.
#include <cstdint>
#include <cstring>

#include "hermitian_support.hpp"

namespace api_test {
namespace {

template <class T>
class HermitianTypes : public testing::Test {};
using Types = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(HermitianTypes, Types);

// Backward errors of a stable method do not grow with the condition number.
TYPED_TEST(HermitianTypes, BackwardErrorsStaySmallFromWellToIllConditioned) {
  const Context context = cpu();
  const bool single = Systems<TypeParam>::epsilon() > 1e-10;
  for (const double digits : {0.0, 3.0, 5.0, 8.0, 11.0, 14.0}) {
    for (const sxt_triangle triangle : {SXT_LOWER, SXT_UPPER})
      for (const bool indefinite : {false, true}) {
        if (single && digits > 5 && !indefinite) continue;  // rounding alone makes these indefinite
        Systems<TypeParam> systems(5, 43, 2, triangle, std::pow(10.0, digits), indefinite, 7);
        sxt_hermitian_options options = systems.options();
        options.definiteness = indefinite ? SXT_INDEFINITE : SXT_DEFINITE;
        const Hermitian batch = hermitian(context, options);
        sxt_hermitian_set set = systems.set();
        std::vector<double> residual(5, -1);
        set.residual = residual.data();
        ASSERT_EQ(sxt_hermitian_factor_solve(batch.get(), &set), SXT_OK) << last_error(context);
        for (std::int64_t s = 0; s < 5; ++s) {
          ASSERT_EQ(systems.info[s], 0) << "system " << s << ", 10^" << digits;
          const double error = systems.backward_error(s, systems.b);
          EXPECT_LE(error, 10 * 43 * systems.epsilon()) << "system " << s << ", 10^" << digits;
          EXPECT_NEAR(residual[s], error, 0.1 * error + 1e-16) << "the residual reported is another";
        }
        systems.expect_rest_untouched();
      }
  }
}

TYPED_TEST(HermitianTypes, FactorThenSolveIsFactorAndSolve) {
  const Context context = cpu();
  for (const sxt_definiteness definiteness : {SXT_DEFINITE, SXT_INDEFINITE, SXT_TRY_DEFINITE}) {
    Systems<TypeParam> apart(4, 29, 3, SXT_UPPER, 100, definiteness == SXT_INDEFINITE, 3);
    Systems<TypeParam> at_once = apart;
    sxt_hermitian_options options = apart.options();
    options.definiteness = definiteness;
    const Hermitian batch = hermitian(context, options);
    const sxt_hermitian_set first = apart.set(), both = at_once.set();
    ASSERT_EQ(sxt_hermitian_factor(batch.get(), &first), SXT_OK) << last_error(context);
    EXPECT_EQ(apart.b, apart.b_before);
    ASSERT_EQ(sxt_hermitian_solve(batch.get(), &first), SXT_OK) << last_error(context);
    ASSERT_EQ(sxt_hermitian_factor_solve(batch.get(), &both), SXT_OK) << last_error(context);
    for (std::int64_t s = 0; s < 4; ++s) {
      EXPECT_EQ(apart.info[s], 0);
      EXPECT_LE(apart.backward_error(s, apart.b), 300 * apart.epsilon());
      EXPECT_LE(at_once.backward_error(s, at_once.b), 300 * apart.epsilon());
    }
  }
}

TEST(Hermitian, CopiesLeaveTheInputAlone) {
  const Context context = cpu();
  Systems<std::complex<double>> systems(3, 20, 2, SXT_LOWER, 1e4, false, 5);
  const auto a_before = systems.a;
  std::vector<std::complex<double>> factor(systems.a.size(), systems.untouched()), x(systems.b.size());
  const Hermitian batch = hermitian(context, systems.options());
  sxt_hermitian_set set = systems.set();
  set.factor = factor.data();
  set.x = x.data();
  ASSERT_EQ(sxt_hermitian_factor_solve(batch.get(), &set), SXT_OK) << last_error(context);
  EXPECT_EQ(systems.a, a_before);
  EXPECT_EQ(systems.b, systems.b_before);
  for (std::int64_t s = 0; s < 3; ++s) EXPECT_LE(systems.backward_error(s, x), 1e-13);
  // Solving again with the factor alone, refined with the matrix beside it.
  std::vector<double> residual(3, -1);
  set.residual = residual.data();
  std::fill(x.begin(), x.end(), 0);
  ASSERT_EQ(sxt_hermitian_solve(batch.get(), &set), SXT_OK) << last_error(context);
  for (std::int64_t s = 0; s < 3; ++s) {
    EXPECT_LE(systems.backward_error(s, x), 1e-13);
    EXPECT_LE(residual[s], 1e-13);
    EXPECT_GE(residual[s], 0);
  }
  systems.a = factor;
  systems.expect_rest_untouched();
}

TEST(Hermitian, PointersMixedOrdersAndLeadingDimensions) {
  const Context context = cpu();
  const std::vector<std::int32_t> orders{4, 0, 17, 1, 30, 9};
  std::vector<Systems<double>> each;
  std::vector<void *> a, b;
  std::vector<std::int64_t> lda, ldb;
  for (std::size_t s = 0; s < orders.size(); ++s)
    each.emplace_back(1, orders[s], 2, SXT_LOWER, 50, false, 100 + s, static_cast<std::int64_t>(s));
  for (Systems<double> &one : each) {
    a.push_back(one.a.data());
    b.push_back(one.b.data());
    lda.push_back(one.lda);
    ldb.push_back(one.lda);
  }
  sxt_hermitian_options options = hermitian_options(SXT_F64, 6, 30);
  options.orders = orders.data();
  options.n_rhs = 2;
  options.pointer_array = options.leading_vary = 1;
  const Hermitian batch = hermitian(context, options);
  std::vector<std::int32_t> info(6, 99);
  sxt_hermitian_set set = hermitian_set();
  set.a_array = a.data();
  set.b_array = b.data();
  set.lda_each = lda.data();
  set.ldb_each = ldb.data();
  set.info = info.data();
  std::vector<double> residual(6, -1);
  set.residual = residual.data();
  ASSERT_EQ(sxt_hermitian_factor_solve(batch.get(), &set), SXT_OK) << last_error(context);
  for (std::size_t s = 0; s < orders.size(); ++s) {
    EXPECT_EQ(info[s], 0);
    EXPECT_LE(each[s].backward_error(0, each[s].b), 1e-14) << s;
    EXPECT_LE(residual[s], 1e-14);
    each[s].expect_rest_untouched();
  }
}

TEST(Hermitian, SystemsThatAreSwitchedOffAreLeftAlone) {
  const Context context = cpu();
  Systems<double> systems(6, 12, 1, SXT_LOWER, 10, false, 9);
  systems.at(4, 3, 3) = -5;  // leading minor 4
  const auto a_before = systems.a;
  std::vector<std::uint8_t> active{1, 0, 1, 1, 1, 0};
  const Hermitian batch = hermitian(context, systems.options());
  sxt_hermitian_set set = systems.set();
  set.active = set.active_out = active.data();  // one array in and out
  ASSERT_EQ(sxt_hermitian_factor_solve(batch.get(), &set), SXT_OK) << last_error(context);
  EXPECT_EQ(systems.info, (std::vector<std::int32_t>{0, SXT_INFO_NOT_ACTIVE, 0, 0, 4, SXT_INFO_NOT_ACTIVE}));
  EXPECT_EQ(active, (std::vector<std::uint8_t>{1, 0, 1, 1, 0, 0}));
  for (const std::int64_t s : {0, 2, 3}) EXPECT_LE(systems.backward_error(s, systems.b), 1e-14);
  for (const std::int64_t s : {1, 5}) {
    EXPECT_EQ(0, std::memcmp(&systems.a[s * systems.stride_a], &a_before[s * systems.stride_a], 8 * systems.stride_a));
    EXPECT_EQ(0, std::memcmp(&systems.b[s * systems.stride_b], &systems.b_before[s * systems.stride_b],
                             8 * systems.stride_b));
  }
  // A solve skips the systems that were not factored.
  systems.b = systems.b_before;
  ASSERT_EQ(sxt_hermitian_solve(batch.get(), &set), SXT_OK) << last_error(context);
  EXPECT_EQ(systems.info, (std::vector<std::int32_t>{0, SXT_INFO_NOT_ACTIVE, 0, 0, 4, SXT_INFO_NOT_ACTIVE}));
  EXPECT_EQ(
      0, std::memcmp(&systems.b[4 * systems.stride_b], &systems.b_before[4 * systems.stride_b], 8 * systems.stride_b));
  EXPECT_LE(systems.backward_error(3, systems.b), 1e-14);
}

TYPED_TEST(HermitianTypes, EqualBitsInRepeatedRunsAndOnAnyNumberOfThreads) {
  for (const sxt_definiteness definiteness : {SXT_DEFINITE, SXT_TRY_DEFINITE, SXT_INDEFINITE}) {
    const Systems<TypeParam> original(23, 37, 2, SXT_LOWER, 1e3, definiteness != SXT_DEFINITE, 11);
    std::vector<TypeParam> a, b;
    for (const int threads : {1, 2, 2}) {
      const Context context = cpu(threads);
      Systems<TypeParam> systems = original;
      sxt_hermitian_options options = systems.options();
      options.definiteness = definiteness;
      options.refine_steps = 1;
      const Hermitian batch = hermitian(context, options);
      const sxt_hermitian_set set = systems.set();
      ASSERT_EQ(sxt_hermitian_factor_solve(batch.get(), &set), SXT_OK) << last_error(context);
      if (a.empty()) a = systems.a, b = systems.b;
      EXPECT_EQ(0, std::memcmp(a.data(), systems.a.data(), a.size() * sizeof(TypeParam)));
      EXPECT_EQ(0, std::memcmp(b.data(), systems.b.data(), b.size() * sizeof(TypeParam)));
    }
  }
}

// Shapes at random, from a fixed seed: the requested results must be returned for every layout.
TYPED_TEST(HermitianTypes, Fuzz) {
  const Context context = cpu();
  std::mt19937_64 random(20260);
  const auto below = [&](std::int64_t most) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most));
  };
  for (int round = 0; round < 40; ++round) {
    const std::int64_t n = below(round % 4 ? 40 : 140), batch = below(9), n_rhs = 1 + below(5);
    const sxt_triangle triangle = below(2) ? SXT_LOWER : SXT_UPPER;
    const auto definiteness = static_cast<sxt_definiteness>(1 + below(3));
    const bool indefinite = definiteness != SXT_DEFINITE && below(2);
    Systems<TypeParam> systems(batch, n, n_rhs, triangle, std::pow(10.0, static_cast<double>(below(4))), indefinite,
                               random(), below(4));
    sxt_hermitian_options options = systems.options();
    options.definiteness = definiteness;
    options.equilibrate = static_cast<std::int32_t>(below(2));
    options.refine_steps = static_cast<std::int32_t>(below(3));
    const Hermitian made = hermitian(context, options);
    const sxt_hermitian_set set = systems.set();
    ASSERT_EQ(sxt_hermitian_factor_solve(made.get(), &set), SXT_OK) << last_error(context) << ", round " << round;
    for (std::int64_t s = 0; s < batch; ++s) {
      EXPECT_EQ(systems.info[s], 0) << "round " << round << ", system " << s << " of order " << n;
      EXPECT_LE(systems.backward_error(s, systems.b), 8 * static_cast<double>(n + 8) * systems.epsilon())
          << "round " << round << ", system " << s << " of order " << n;
    }
    systems.expect_rest_untouched();
  }
}

}  // namespace
}  // namespace api_test
