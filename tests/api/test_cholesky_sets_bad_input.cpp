// SPDX-License-Identifier: BSD-3-Clause
// What calls on sets of one pattern refuse, by name; memory that there is not; calls that ask for none.
#include <gmock/gmock.h>

#include "tests/api/cholesky_sets_support.hpp"

namespace api_test {
namespace {

using testing::HasSubstr;

class SetsRefuse : public testing::Test {
 protected:
  static constexpr std::int64_t n = 12, count = 4;
  std::string said() { return sxt_last_error(nullptr); }
  sxt_status factor(std::int64_t first, std::int64_t sets, std::int64_t nnz, const double *values,
                    std::int64_t stride) {
    return sxt_cholesky_sets_factor(sets_.get(), first, sets, nnz, values, stride, nullptr);
  }
  Context context_ = cpu();
  Family<double> family_{random_sparse<double>(n, 3, 7), count};
  Matrix matrix_ = family_.first.matrix(context_);
  Analysis analysis_ = analyse(matrix_);
  Sets sets_ = sets_of(analysis_, count);
};

TEST_F(SetsRefuse, CountsAndPlacesOfHandles) {
  sets_of(analysis_, 0, SXT_E_ARGUMENT);
  EXPECT_THAT(said(), HasSubstr("count is 0"));
  sets_of(analysis_, -1, SXT_E_ARGUMENT);
  sets_of(analysis_, INT64_MAX / 8, SXT_E_OVERFLOW);
  EXPECT_THAT(said(), HasSubstr("do not fit the address space"));
  sxt_cholesky_sets *out = nullptr;
  EXPECT_EQ(sxt_cholesky_sets_create(nullptr, 3, &out), SXT_E_ARGUMENT);
  EXPECT_EQ(sxt_cholesky_sets_create(analysis_.get(), 3, nullptr), SXT_E_ARGUMENT);
  EXPECT_EQ(sxt_cholesky_sets_factor(nullptr, 0, 1, 1, nullptr, 1, nullptr), SXT_E_ARGUMENT);
  EXPECT_EQ(sxt_cholesky_sets_solve(nullptr, 0, 1, 1, 1, nullptr, 1, 1, nullptr, 1, 1, nullptr), SXT_E_ARGUMENT);
  EXPECT_EQ(sxt_cholesky_sets_get_outcomes(nullptr, 0, 1, nullptr), SXT_E_ARGUMENT);
  EXPECT_EQ(sxt_cholesky_sets_get_outcomes(sets_.get(), 0, 1, nullptr), SXT_E_ARGUMENT);
  EXPECT_EQ(sxt_cholesky_sets_get_info(sets_.get(), nullptr), SXT_E_ARGUMENT);
  sxt_cholesky_sets_info info{};
  EXPECT_EQ(sxt_cholesky_sets_get_info(sets_.get(), &info), SXT_E_ARGUMENT) << "struct_size is 0";
  EXPECT_EQ(sxt_cholesky_sets_explain(nullptr, SXT_TEXT, nullptr, 0, nullptr), SXT_E_ARGUMENT);
  sxt_cholesky_sets_destroy(nullptr);
}

TEST_F(SetsRefuse, ArgumentsOfFactorisations) {
  const double *const values = family_.values.data();
  const std::int64_t nnz = family_.nnz();
  EXPECT_EQ(factor(0, count, nnz, values, nnz), SXT_OK) << said();
  EXPECT_EQ(factor(-1, 2, nnz, values, nnz), SXT_E_INDEX);
  EXPECT_THAT(said(), HasSubstr("first is -1 and count 2; there are 4 sets"));
  EXPECT_EQ(factor(2, 3, nnz, values, nnz), SXT_E_INDEX);
  EXPECT_EQ(factor(1, INT64_MAX, nnz, values, nnz), SXT_E_INDEX);
  EXPECT_EQ(factor(0, -1, nnz, values, nnz), SXT_E_ARGUMENT);
  EXPECT_EQ(factor(0, count, nnz - 1, values, nnz), SXT_E_DIMENSION);
  EXPECT_THAT(said(), HasSubstr("nnz is "));
  EXPECT_EQ(factor(0, count, nnz, values, nnz - 1), SXT_E_DIMENSION);
  EXPECT_THAT(said(), HasSubstr("stride ("));
  EXPECT_EQ(factor(0, count, nnz, values, INT64_MAX / 2), SXT_E_OVERFLOW);
  EXPECT_EQ(factor(0, count, nnz, nullptr, nnz), SXT_E_ARGUMENT);
  EXPECT_THAT(said(), HasSubstr("values is NULL"));
  const auto *const beside = reinterpret_cast<const double *>(reinterpret_cast<const char *>(values) + 1);
  EXPECT_EQ(factor(0, 1, nnz, beside, nnz), SXT_E_ARGUMENT);
  sxt_cholesky_sets_options options{};
  EXPECT_EQ(sxt_cholesky_sets_factor(sets_.get(), 0, count, nnz, values, nnz, &options), SXT_E_ARGUMENT);
  EXPECT_THAT(said(), HasSubstr("options->struct_size"));
  EXPECT_EQ(info_of(sets_).factored, count) << "refused calls change nothing";
}

TEST_F(SetsRefuse, ArgumentsOfSolves) {
  ASSERT_EQ(family_.factor(sets_), SXT_OK);
  std::vector<double> b(200, 1), x(200);
  const auto solve = [&](std::int64_t first, std::int64_t sets, std::int64_t rows, std::int64_t n_rhs, const void *from,
                         std::int64_t ldb, std::int64_t stride_b, void *to, std::int64_t ldx, std::int64_t stride_x) {
    return sxt_cholesky_sets_solve(sets_.get(), first, sets, rows, n_rhs, from, ldb, stride_b, to, ldx, stride_x,
                                   nullptr);
  };
  EXPECT_EQ(solve(0, 4, n, 2, b.data(), n, 2 * n, x.data(), n, 2 * n), SXT_OK) << said();
  EXPECT_EQ(solve(0, 4, n, 2, b.data(), n, 2 * n, b.data(), n, 2 * n), SXT_OK) << "in place";
  EXPECT_EQ(solve(3, 2, n, 1, b.data(), n, n, x.data(), n, n), SXT_E_INDEX);
  EXPECT_EQ(solve(0, 4, n - 1, 1, b.data(), n, n, x.data(), n, n), SXT_E_DIMENSION);
  EXPECT_EQ(solve(0, 4, n, -1, b.data(), n, n, x.data(), n, n), SXT_E_ARGUMENT);
  EXPECT_EQ(solve(0, 4, n, 1, b.data(), n - 1, n, x.data(), n, n), SXT_E_DIMENSION);
  EXPECT_THAT(said(), HasSubstr("ldb ("));
  EXPECT_EQ(solve(0, 4, n, 1, b.data(), n, n, x.data(), n - 1, n), SXT_E_DIMENSION);
  EXPECT_THAT(said(), HasSubstr("ldx ("));
  EXPECT_EQ(solve(0, 4, n, 2, b.data(), n, 2 * n - 1, x.data(), n, 2 * n), SXT_E_DIMENSION);
  EXPECT_THAT(said(), HasSubstr("stride_b (23) and ldb (12) let columns of different sets overlap"));
  EXPECT_EQ(solve(0, 4, n, 2, b.data(), n, 2 * n, x.data(), n, 0), SXT_E_DIMENSION);
  EXPECT_EQ(solve(0, 4, n, 1, b.data(), n, -n, x.data(), n, n), SXT_E_ARGUMENT);
  EXPECT_EQ(solve(0, 4, n, 1, b.data(), n, INT64_MAX / 3, x.data(), n, n), SXT_E_OVERFLOW);
  EXPECT_EQ(solve(0, 4, n, INT64_MAX / n, b.data(), n, n, x.data(), n, n), SXT_E_OVERFLOW);
  EXPECT_EQ(solve(0, 4, n, 1, nullptr, n, n, x.data(), n, n), SXT_E_ARGUMENT);
  EXPECT_THAT(said(), HasSubstr("b is NULL"));
  EXPECT_EQ(solve(0, 4, n, 1, b.data(), n, n, nullptr, n, n), SXT_E_ARGUMENT);
  EXPECT_EQ(solve(0, 4, n, 1, b.data(), n, n, b.data() + 3, n, n), SXT_E_ARGUMENT);
  EXPECT_THAT(said(), HasSubstr("b and x overlap"));
  EXPECT_EQ(solve(0, 4, n, 1, b.data(), n, n, b.data(), n, n + 1), SXT_E_ARGUMENT) << "another stride";
  EXPECT_EQ(solve(0, 4, n, 1, reinterpret_cast<char *>(b.data()) + 1, n, n, x.data(), n, n), SXT_E_ARGUMENT);
  EXPECT_EQ(solve(0, 4, n, 0, nullptr, n, 0, nullptr, n, 0), SXT_OK) << said();
  EXPECT_EQ(solve(4, 0, n, 1, nullptr, n, n, nullptr, n, n), SXT_OK) << said();
  const Sets empty = sets_of(analysis_, 2);
  EXPECT_EQ(sxt_cholesky_sets_solve(empty.get(), 0, 2, n, 1, b.data(), n, n, x.data(), n, n, nullptr), SXT_E_STATE);
  EXPECT_THAT(said(), HasSubstr("sxt_cholesky_sets_factor"));
}

TEST_F(SetsRefuse, ArgumentsOfOutcomes) {
  sxt_cholesky_sets_outcomes to;
  sxt_cholesky_sets_outcomes_init(&to, sizeof to);
  EXPECT_EQ(sxt_cholesky_sets_get_outcomes(sets_.get(), 0, count, &to), SXT_OK);
  EXPECT_EQ(sxt_cholesky_sets_get_outcomes(sets_.get(), 0, count + 1, &to), SXT_E_INDEX);
  std::vector<double> logs(count + 1);
  to.log_determinant = reinterpret_cast<double *>(reinterpret_cast<char *>(logs.data()) + 1);
  EXPECT_EQ(sxt_cholesky_sets_get_outcomes(sets_.get(), 0, count, &to), SXT_E_ARGUMENT);
  EXPECT_THAT(said(), HasSubstr("outcomes->log_determinant"));
  to.struct_size = 3;
  EXPECT_EQ(sxt_cholesky_sets_get_outcomes(sets_.get(), 0, count, &to), SXT_E_ARGUMENT);
}

TEST_F(SetsRefuse, AnalysesThatAreNotForSets) {
  sxt_analysis_options options = analysis_options();
  const std::int64_t row = 3;
  options.schur_rows = &row, options.n_schur = 1;
  const Analysis schur = analyse(matrix_, &options);
  sets_of(schur, 2, SXT_E_NOT_SUPPORTED);
  EXPECT_THAT(said(), HasSubstr("Schur complement"));
  const std::vector<std::int32_t> rows = {0, 0, 1}, cols = {0, 0, 1};
  const std::vector<double> values = {1, 2, 3};
  const Matrix summed = make<Matrix>([&](sxt_matrix **out) {
    return sxt_matrix_from_coo(context_.get(), 2, 2, 3, rows.data(), cols.data(), values.data(), nullptr, out);
  });
  const Analysis of_summed = analyse(summed);
  sets_of(of_summed, 2, SXT_E_NOT_SUPPORTED);
  EXPECT_THAT(said(), HasSubstr("duplicates"));
}

TEST_F(SetsRefuse, MoreMemoryThanThereIs) {
  sxt_analysis_options options = analysis_options();
  options.memory_limit = 1 << 20;
  const Analysis analysis = analyse(matrix_, &options);
  const sxt_cholesky_sets_info few = info_of(sets_of(analysis, 3));
  EXPECT_GE(few.host_bytes, few.factor_bytes);
  EXPECT_EQ(few.factor_bytes, 3 * info_of(analysis).factor_bytes);
  sets_of(analysis, 100000, SXT_E_MEMORY);
  EXPECT_THAT(said(), HasSubstr("100000 factors of "));
  EXPECT_THAT(said(), HasSubstr("options->memory_limit is 1048576"));
}

// Every allocation through the caller's hooks fails once, and for ever.
TEST(SetsMemory, EveryFailureIsAStatusAndNothingLeaks) {
  const Family<double> family(random_sparse<double>(60, 3, 7), 5);
  std::vector<double> x(60 * 5 * 70, 1);
  const auto run = [&](Lender &lender) {
    const sxt_context_options options = lender.options();
    sxt_context *context = nullptr;
    sxt_matrix *matrix = nullptr;
    sxt_analysis *analysis = nullptr;
    sxt_cholesky_sets *sets = nullptr;
    const Csr &a = family.first.pattern;
    sxt_status status = sxt_context_create(&options, &context);
    if (status == SXT_OK)
      status = sxt_matrix_from_csr(context, 60, 60, a.ptr.data(), a.col.data(), family.first.values.data(), nullptr,
                                   &matrix);
    if (status == SXT_OK) status = sxt_analysis_create(matrix, nullptr, &analysis);
    if (status == SXT_OK) status = sxt_cholesky_sets_create(analysis, 5, &sets);
    if (status == SXT_OK)
      status = sxt_cholesky_sets_factor(sets, 0, 5, family.nnz(), family.values.data(), family.stride, nullptr);
    for (const std::int64_t n_rhs : {1, 70})
      if (status == SXT_OK)
        status =
            sxt_cholesky_sets_solve(sets, 0, 5, 60, n_rhs, x.data(), 60, 60 * n_rhs, x.data(), 60, 60 * n_rhs, nullptr);
    sxt_cholesky_sets_destroy(sets);
    sxt_analysis_destroy(analysis);
    sxt_matrix_destroy(matrix);
    sxt_context_destroy(context);
    return status;
  };
  Lender counting;
  ASSERT_EQ(run(counting), SXT_OK) << sxt_last_error(nullptr);
  EXPECT_EQ(counting.held, 0);
  ASSERT_GT(counting.calls, 5);
  for (const bool for_ever : {false, true})
    for (std::int64_t k = 1; k <= counting.calls; ++k) {
      Lender failing;
      failing.fail_at = k, failing.for_ever = for_ever;
      const sxt_status status = run(failing);
      EXPECT_TRUE(status == SXT_E_MEMORY || (status == SXT_OK && !for_ever))
          << "allocation " << k << ": " << status << ", " << sxt_last_error(nullptr);
      EXPECT_EQ(failing.held, 0) << "allocation " << k;
    }
}

}  // namespace
}  // namespace api_test
