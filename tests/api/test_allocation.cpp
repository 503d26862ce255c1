// SPDX-License-Identifier: BSD-3-Clause
// No failed allocation crashes, leaks or corrupts: the N-th allocation through the caller's hooks fails, once or for
// ever, for N = 1, 2, ... until everything succeeds.
#include <cstdint>
#include <cstdlib>

#include "tests/api/support.hpp"

namespace api_test {
namespace {

// The whole job; returns the first status that is not SXT_OK. After any failure everything is destroyed.
sxt_status solve_with(Lender &lender) {
  const sxt_context_options options = lender.options();
  sxt_context *context = nullptr;
  sxt_matrix *matrix = nullptr;
  sxt_pcg *pcg = nullptr;
  const Csr a = laplacian(6, 0.5);
  std::vector<std::int32_t> rows;
  for (std::int64_t i = 0; i < a.rows; ++i)
    rows.insert(rows.end(), a.ptr[i + 1] - a.ptr[i], static_cast<std::int32_t>(i));
  std::vector<double> b(36, 1), x(36), doubled(a.values);
  sxt_pcg_options jacobi = pcg_options();
  jacobi.preconditioner = "jacobi";
  jacobi.format = "coo";
  sxt_status status = sxt_context_create(&options, &context);
  if (status == SXT_OK)
    status = sxt_matrix_from_coo(context, 36, 36, static_cast<std::int64_t>(rows.size()), rows.data(), a.col.data(),
                                 a.values.data(), nullptr, &matrix);
  if (status == SXT_OK) status = sxt_pcg_create(matrix, &jacobi, &pcg);
  if (status == SXT_OK) status = sxt_pcg_solve_array(pcg, 36, b.data(), x.data(), nullptr, nullptr);
  if (status == SXT_OK)
    status = sxt_matrix_update_values(matrix, doubled.data(), static_cast<std::int64_t>(doubled.size()));
  if (status == SXT_OK) status = sxt_pcg_solve_array(pcg, 36, b.data(), x.data(), nullptr, nullptr);
  sxt_pcg_destroy(pcg);
  sxt_matrix_destroy(matrix);
  sxt_context_destroy(context);
  return status;
}

class AllocationTest : public testing::TestWithParam<bool> {};

TEST_P(AllocationTest, EveryFailureIsAStatusAndNothingLeaks) {
  Lender counting;
  ASSERT_EQ(solve_with(counting), SXT_OK) << sxt_last_error(nullptr);
  ASSERT_GT(counting.calls, 10);
  EXPECT_EQ(counting.held, 0);
  for (std::int64_t n = 1; n <= counting.calls; ++n) {
    Lender failing;
    failing.fail_at = n;
    failing.for_ever = GetParam();
    // Where memory is short only once, a smaller request may succeed.
    const sxt_status status = solve_with(failing);
    EXPECT_TRUE(status == SXT_E_MEMORY || (status == SXT_OK && !failing.for_ever))
        << "allocation " << n << ": " << status << ", " << sxt_last_error(nullptr);
    EXPECT_EQ(failing.held, 0) << "allocation " << n;
  }
}

INSTANTIATE_TEST_SUITE_P(OnceAndForEver, AllocationTest, testing::Bool());

// A choice that ran out of memory while it computed features does not affect later ones.
TEST(ShortMemoryTest, FeaturesThatFailedAreRequestedAgain) {
  Lender lender;
  const Context context = lender.context();
  const Csr a = shuffled(laplacian(60));
  std::vector<double> x(static_cast<std::size_t>(a.rows), 1), y(x);
  int known = 0;
  const auto features = [&](const Matrix &matrix) {
    std::vector<double> values;
    for (std::int64_t i = 0; const char *name = sxt_feature_name(i); ++i) {
      values.push_back(0);
      const sxt_status status = sxt_matrix_feature(matrix.get(), name, &values.back());
      if (status == SXT_E_UNKNOWN_NAME) continue;  // of another device's kernels
      EXPECT_EQ(status, SXT_OK) << name << last_error(context);
      ++known;
    }
    return values;
  };
  const std::vector<double> wanted = features(a.matrix(context));
  EXPECT_GT(known, 30);
  int failed = 0;
  for (std::int64_t n = 1; n < 1000; ++n) {
    const Matrix matrix = a.matrix(context);
    lender.fail_at = lender.calls + n;
    sxt_spmv_array(SXT_NO_TRANSPOSE, nullptr, matrix.get(), x.data(), nullptr, y.data());
    const bool reached = lender.calls >= lender.fail_at;
    lender.fail_at = 0;
    if (!reached) break;
    ++failed;
    const std::vector<double> found = features(matrix);
    for (std::size_t i = 0; i < wanted.size(); ++i)
      EXPECT_EQ(std::isnan(found[i]), std::isnan(wanted[i])) << sxt_feature_name(static_cast<std::int64_t>(i)) << n;
  }
  EXPECT_GT(failed, 0);
}

}  // namespace
}  // namespace api_test
