// SPDX-License-Identifier: BSD-3-Clause
// Combinations of a set's arrays: leading dimensions that vary without pointers, factors in separate memory, shifts of
// factors, and right-hand sides beside one that is not finite.
#include <cmath>
#include <cstdint>

#include "hermitian_support.hpp"

namespace api_test {
namespace {

class HermitianTogether : public testing::Test {
 protected:
  void refused(sxt_status got, sxt_status wanted, const char *word) {
    EXPECT_EQ(got, wanted) << word;
    EXPECT_NE(last_error(context_).find(word), std::string::npos) << last_error(context_);
  }
  Context context_ = cpu();
};

TEST_F(HermitianTogether, LeadingDimensionsVaryInOneArray) {
  const Systems<double> like(3, 6, 1, SXT_LOWER, 10, false, 40);
  const std::int64_t stride_a = 100, stride_b = 10, ld[] = {6, 16, 9};
  std::vector<double> a(3 * stride_a, -7), b(3 * stride_b, -7);
  for (std::int64_t s = 0; s < 3; ++s)
    for (std::int64_t j = 0; j < 6; ++j) {
      for (std::int64_t i = j; i < 6; ++i) a[s * stride_a + i + j * ld[s]] = like.full[s][i + 6 * j];
      b[s * stride_b + j] = like.b_before[s * like.stride_b + j];
    }
  sxt_hermitian_options options = like.options();
  options.leading_vary = 1;
  const Hermitian batch = hermitian(context_, options);
  std::vector<std::int32_t> info(3, 9);
  sxt_hermitian_set set = hermitian_set();
  set.a = a.data(), set.lda_each = set.ldb_each = ld, set.b = b.data(), set.info = info.data();
  refused(sxt_hermitian_factor_solve(batch.get(), &set), SXT_E_ARGUMENT, "stride_a is 0");
  set.stride_a = stride_a;
  refused(sxt_hermitian_factor_solve(batch.get(), &set), SXT_E_ARGUMENT, "stride_b is 0");
  set.stride_b = stride_b;
  set.lda_each = reinterpret_cast<const std::int64_t *>(reinterpret_cast<const char *>(ld) + 4);
  refused(sxt_hermitian_factor_solve(batch.get(), &set), SXT_E_ARGUMENT, "leading dimensions is not aligned");
  set.lda_each = ld;
  ASSERT_EQ(sxt_hermitian_factor_solve(batch.get(), &set), SXT_OK) << last_error(context_);
  EXPECT_EQ(info, std::vector<std::int32_t>(3, 0));
  std::vector<double> x(like.b_before.size());
  for (std::int64_t s = 0; s < 3; ++s) {
    for (std::int64_t i = 0; i < 6; ++i) x[s * like.stride_b + i] = b[s * stride_b + i];
    EXPECT_LE(like.backward_error(s, x), 1e-14) << s;
  }
}

TEST_F(HermitianTogether, ASolveWithAFactorElsewhereNeedsTheMatrixForResidualsAlone) {
  Systems<double> systems(2, 8, 1, SXT_UPPER, 10, false, 41);
  std::vector<double> factor(systems.a.size());
  const Hermitian plain = hermitian(context_, systems.options());
  sxt_hermitian_set set = systems.set();
  set.factor = factor.data();
  ASSERT_EQ(sxt_hermitian_factor(plain.get(), &set), SXT_OK) << last_error(context_);
  void *const matrix = set.a;
  set.a = nullptr;
  ASSERT_EQ(sxt_hermitian_solve(plain.get(), &set), SXT_OK) << last_error(context_);
  for (std::int64_t s = 0; s < 2; ++s) EXPECT_LE(systems.backward_error(s, systems.b), 1e-14) << s;
  std::vector<double> residual(2, -1);
  set.residual = residual.data();
  refused(sxt_hermitian_solve(plain.get(), &set), SXT_E_ARGUMENT, "a is NULL");
  set.a = matrix;
  systems.b = systems.b_before;
  ASSERT_EQ(sxt_hermitian_solve(plain.get(), &set), SXT_OK) << last_error(context_);
  for (const double each : residual) EXPECT_TRUE(each >= 0 && each < 1e-14) << each;
}

TEST_F(HermitianTogether, RefinementOfASolveAsksForTheShiftOfItsFactor) {
  Systems<double> systems(2, 8, 1, SXT_LOWER, 10, false, 42);
  const double shifts[] = {0.5};
  sxt_hermitian_options options = systems.options();
  options.shifts = shifts, options.n_shifts = 1, options.refine_steps = 3;
  const Hermitian batch = hermitian(context_, options);
  std::vector<double> factor(systems.a.size()), shift(2, -1);
  sxt_hermitian_set set = systems.set();
  set.factor = factor.data();
  set.shift = shift.data();
  ASSERT_EQ(sxt_hermitian_factor(batch.get(), &set), SXT_OK) << last_error(context_);
  set.shift = nullptr;
  refused(sxt_hermitian_solve(batch.get(), &set), SXT_E_ARGUMENT, "shift is NULL");
  set.shift = shift.data();
  ASSERT_EQ(sxt_hermitian_solve(batch.get(), &set), SXT_OK) << last_error(context_);
  for (std::int64_t s = 0; s < 2; ++s) EXPECT_LE(systems.backward_error(s, systems.b, 0.5), 1e-15) << s;
}

TEST_F(HermitianTogether, ConditionNumbersOfSetsWithoutRightHandSides) {
  Systems<double> systems(3, 12, 0, SXT_LOWER, 1000, false, 43);
  const Hermitian batch = hermitian(context_, systems.options());
  std::vector<double> rcond(3, -1);
  sxt_hermitian_set set = systems.set();
  set.rcond = rcond.data();
  ASSERT_EQ(sxt_hermitian_factor(batch.get(), &set), SXT_OK) << last_error(context_);
  for (const double each : rcond) EXPECT_TRUE(each > 1e-5 && each < 1e-2) << each;
  EXPECT_EQ(sxt_hermitian_solve(batch.get(), &set), SXT_E_STATE);
}

// A right-hand side that is not finite has no solution; the one beside it is refined as if it were alone.
TEST_F(HermitianTogether, ARightHandSideThatIsNotFiniteLeavesTheOthersAlone) {
  Systems<double> alone(2, 10, 2, SXT_LOWER, 1e3, false, 44);
  Systems<double> beside = alone;
  for (std::int64_t s = 0; s < 2; ++s) beside.b[s * beside.stride_b + 3] = NAN;
  sxt_hermitian_options options = alone.options();
  options.refine_steps = 2;
  const Hermitian batch = hermitian(context_, options);
  std::vector<double> residual(2, -1);
  for (Systems<double> *systems : {&alone, &beside}) {
    sxt_hermitian_set set = systems->set();
    set.residual = residual.data();
    ASSERT_EQ(sxt_hermitian_factor_solve(batch.get(), &set), SXT_OK) << last_error(context_);
  }
  for (std::int64_t s = 0; s < 2; ++s) {
    EXPECT_TRUE(std::isnan(residual[s])) << residual[s];
    for (std::int64_t i = 0; i < 10; ++i) {
      const std::size_t at = static_cast<std::size_t>(s * alone.stride_b + alone.lda + i);
      EXPECT_NEAR(beside.b[at], alone.b[at], 1e-12 * std::abs(alone.b[at]) + 1e-14) << s << ", " << i;
    }
  }
}

TEST_F(HermitianTogether, AWorkspaceLimitBelowOneSystemIsReportedInBytes) {
  Systems<double> systems(4, 20, 1, SXT_LOWER, 10, false, 45);
  const auto before = systems.a;
  sxt_hermitian_options options = systems.options();
  options.refine_steps = 1;
  options.workspace_limit = 1000;
  const Hermitian batch = hermitian(context_, options);
  const sxt_hermitian_set set = systems.set();
  refused(sxt_hermitian_factor_solve(batch.get(), &set), SXT_E_MEMORY, "workspace_limit leaves 1000");
  EXPECT_EQ(systems.a, before);
}

}  // namespace
}  // namespace api_test
