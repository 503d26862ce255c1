// SPDX-License-Identifier: BSD-3-Clause
// Several right-hand sides in one call: each column as if it were solved alone, with its own end and report.
#include <cmath>
#include <cstdint>
#include <vector>

#include "tests/api/support.hpp"

namespace api_test {
namespace {

constexpr std::int64_t kGap = 7;  // values between columns that must not be touched

class PcgBlockTest : public testing::Test {
 protected:
  // Column j of b oscillates j times as fast, so that columns need different numbers of iterations.
  void SetUp() override {
    for (std::int64_t j = 0; j < columns; ++j)
      for (std::int64_t i = 0; i < n; ++i)
        b[j * (n + kGap) + i] = std::sin(0.01 * static_cast<double>((j * j + 1) * (i + 1)));
  }
  sxt_status solve(sxt_solve_options *options = nullptr) {
    return sxt_pcg_solve_block(pcg.get(), n, columns, b.data(), n + kGap, x.data(), n + 2 * kGap, options,
                               reports.data());
  }
  static constexpr std::int64_t n = 400, columns = 5;
  Context context = cpu();
  Csr a = laplacian(20);
  Matrix matrix = a.matrix(context);
  // An engine that takes one right-hand side at a time; those that go together are in test_pcg_columns.cpp.
  Pcg pcg = make<Pcg>([&](sxt_pcg **out) {
    sxt_pcg_options options = pcg_options();
    options.engine = "pcg.team.predict-recompute.cpu";
    return sxt_pcg_create(matrix.get(), &options, out);
  });
  std::vector<double> b = std::vector<double>(columns * (n + kGap), 1e30);
  std::vector<double> x = std::vector<double>(columns * (n + 2 * kGap), -3);
  std::vector<sxt_pcg_report> reports = std::vector<sxt_pcg_report>(columns, new_report());
};

TEST_F(PcgBlockTest, ColumnsEqualSingleSolves) {
  ASSERT_EQ(solve(), SXT_OK) << last_error(context);
  for (std::int64_t j = 0; j < columns; ++j) {
    std::vector<double> alone(n);
    sxt_pcg_report report = new_report();
    ASSERT_EQ(sxt_pcg_solve_array(pcg.get(), n, b.data() + j * (n + kGap), alone.data(), nullptr, &report), SXT_OK);
    EXPECT_EQ(reports[j].iterations, report.iterations) << j;
    EXPECT_EQ(reports[j].reason, SXT_REASON_CONVERGED);
    const double *column = x.data() + j * (n + 2 * kGap);
    EXPECT_EQ(std::vector<double>(column, column + n), alone) << j;
    for (std::int64_t i = n; i < n + 2 * kGap; ++i) EXPECT_EQ(column[i], -3) << "between the columns";
  }
  EXPECT_NE(reports[0].iterations, reports[4].iterations) << "the columns should differ";
}

TEST_F(PcgBlockTest, EachColumnEndsIndependently) {
  for (std::int64_t i = 0; i < n; ++i) b[1 * (n + kGap) + i] = 0;  // needs no iteration
  std::vector<double> history(columns * 4, -1);
  std::vector<std::int64_t> lengths(columns, -1);
  sxt_solve_options options = solve_options();
  options.max_iterations = 3;
  options.history = history.data();
  options.history_capacity = 4;
  options.history_length = lengths.data();
  EXPECT_EQ(solve(&options), SXT_NOT_CONVERGED);
  EXPECT_NE(last_error(context).find("column"), std::string::npos) << last_error(context);
  for (std::int64_t j = 0; j < columns; ++j) {
    EXPECT_EQ(reports[j].reason, j == 1 ? SXT_REASON_CONVERGED : SXT_REASON_ITERATION_LIMIT) << j;
    EXPECT_EQ(lengths[j], j == 1 ? 0 : 4) << j;
    EXPECT_EQ(history[j * 4] > 0, j != 1) << j;
  }
}

TEST_F(PcgBlockTest, ACancelledColumnCancelsThoseAfterIt) {
  int asked = 0;
  sxt_solve_options options = solve_options();
  options.progress_user = &asked;
  options.progress = [](void *user, std::int64_t iteration, double) -> std::int32_t {
    auto &count = *static_cast<int *>(user);
    count += iteration == 0;
    return count == 2;  // in the second column
  };
  EXPECT_EQ(solve(&options), SXT_NOT_CONVERGED);
  EXPECT_EQ(asked, 2);
  EXPECT_EQ(reports[0].reason, SXT_REASON_CONVERGED);
  for (std::int64_t j = 1; j < columns; ++j) EXPECT_EQ(reports[j].reason, SXT_REASON_CANCELLED) << j;
}

TEST_F(PcgBlockTest, WrongShapesAreNamed) {
  const auto call = [&](std::int64_t rows, std::int64_t count, std::int64_t ldb, std::int64_t ldx) {
    return sxt_pcg_solve_block(pcg.get(), rows, count, b.data(), ldb, x.data(), ldx, nullptr, nullptr);
  };
  EXPECT_EQ(call(n - 1, 2, n, n), SXT_E_DIMENSION);
  EXPECT_EQ(call(n, 2, n - 1, n), SXT_E_DIMENSION);
  EXPECT_NE(last_error(context).find("ldb (399)"), std::string::npos) << last_error(context);
  EXPECT_EQ(call(n, 2, n, n - 1), SXT_E_DIMENSION);
  EXPECT_EQ(call(n, -1, n, n), SXT_E_ARGUMENT);
  EXPECT_EQ(call(n, INT64_MAX / 2, n, n), SXT_E_OVERFLOW);
  EXPECT_EQ(call(n, 0, n, n), SXT_OK);
  reports[3].struct_size = 5;
  EXPECT_EQ(solve(), SXT_E_ARGUMENT);
  EXPECT_NE(last_error(context).find("reports[3]"), std::string::npos) << last_error(context);
}

// A program built with an older header has shorter reports.
TEST_F(PcgBlockTest, ReportsMayBeShorter) {
  struct Old {
    std::uint64_t struct_size;
    sxt_reason reason;
    std::int32_t reserved0;
    std::int64_t iterations;
  };
  std::vector<Old> old(columns + 1, Old{sizeof(Old), 99, 0, -1});
  ASSERT_EQ(sxt_pcg_solve_block(pcg.get(), n, columns, b.data(), n + kGap, x.data(), n + 2 * kGap, nullptr,
                                reinterpret_cast<sxt_pcg_report *>(old.data())),
            SXT_OK);
  for (std::int64_t j = 0; j < columns; ++j) EXPECT_GT(old[j].iterations, 0) << j;
  EXPECT_EQ(old[columns].iterations, -1);
}

}  // namespace
}  // namespace api_test
