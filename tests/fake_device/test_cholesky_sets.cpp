// SPDX-License-Identifier: BSD-3-Clause
// Sets of one pattern over the fake libraries, through the C interface: what they enqueue waits where it must, each
// vendor call may fail, memory may be short, and calls from memory of the device copy no values.
#include <cstdint>
#include <string>
#include <vector>

#include "sextant/cholesky_sets.h"
#include "tests/fake_device/fixture.hpp"

namespace {

using fake_test::FakeDevice;
using fake_test::faults;
using fake_test::left_behind;

// Everything a program does with sets, on a grid whose fronts need several levels.
class Program {
 public:
  Program(const char *scheduler, std::int64_t sets, std::int64_t side) : scheduler_(scheduler), sets_(sets) {
    for (std::int64_t i = 0; i < side * side; ++i) {
      const auto put = [&](bool there, std::int64_t j) {
        if (there) col_.push_back(static_cast<std::int32_t>(j)), values_.push_back(j == i ? 5.0 : -1.0);
      };
      const std::int64_t x = i % side, y = i / side;
      put(y > 0, i - side), put(x > 0, i - 1), put(true, i), put(x + 1 < side, i + 1), put(y + 1 < side, i + side);
      ptr_.push_back(static_cast<std::int32_t>(col_.size()));
    }
    nnz_ = static_cast<std::int64_t>(values_.size());
    for (std::int64_t set = 1; set < sets; ++set)
      values_.insert(values_.end(), values_.begin(), values_.begin() + nnz_);
  }
  // SXT_OK, or the status of the first step that failed, which has a sentence.
  sxt_status run() {
    sxt_context *context = nullptr;
    sxt_matrix *matrix = nullptr;
    sxt_analysis *analysis = nullptr;
    sxt_cholesky_sets *all = nullptr;
    sxt_vector *there = nullptr;
    sxt_status status = fake_test::open(&context);
    const auto n = static_cast<std::int64_t>(ptr_.size()) - 1;
    const auto step = [&](auto &&f) {
      if (status == SXT_OK) status = f();
    };
    step(
        [&] { return sxt_matrix_from_csr(context, n, n, ptr_.data(), col_.data(), values_.data(), nullptr, &matrix); });
    sxt_analysis_options options;
    sxt_analysis_options_init(&options, sizeof options);
    options.scheduler = scheduler_, options.order = "natural";
    step([&] { return sxt_analysis_create(matrix, &options, &analysis); });
    step([&] { return sxt_cholesky_sets_create(analysis, sets_, &all); });
    step([&] { return sxt_vector_create(context, sets_ * nnz_, SXT_F64, &there); });
    const auto factor = [&](const void *values) {
      return sxt_cholesky_sets_factor(all, 0, sets_, nnz_, values, nnz_, nullptr);
    };
    step([&] { return factor(values_.data()); });
    step([&] { return factor(sxt_vector_data(there)); });
    std::vector<double> b(static_cast<std::size_t>(3 * n * sets_), 1), logs(static_cast<std::size_t>(sets_));
    step([&] { return sxt_cholesky_sets_solve(all, 0, sets_, n, 3, b.data(), n, 3 * n, b.data(), n, 3 * n, nullptr); });
    sxt_cholesky_sets_outcomes to;
    sxt_cholesky_sets_outcomes_init(&to, sizeof to);
    to.log_determinant = logs.data();
    step([&] { return sxt_cholesky_sets_get_outcomes(all, 0, sets_, &to); });
    if (status != SXT_OK) {
      EXPECT_NE(std::string(sxt_last_error(context)), "") << "without a sentence: " << fake_failed_call();
    }
    sxt_cholesky_sets_destroy(all), sxt_vector_destroy(there), sxt_analysis_destroy(analysis);
    sxt_matrix_destroy(matrix), sxt_context_destroy(context);
    return status;
  }

 private:
  const char *scheduler_;
  std::int64_t sets_, nnz_ = 0;
  std::vector<std::int32_t> ptr_{0}, col_;
  std::vector<double> values_;
};

constexpr const char *schedulers[] = {"cholesky.streams.cuda", "cholesky.levels.cuda"};

class CholeskySetsCuda : public FakeDevice {};

TEST_F(CholeskySetsCuda, WaitWhereTheyMustAndLeaveNothingBehind) {
  for (const char *scheduler : schedulers)
    for (const std::int64_t sets : {1, 7}) {
      EXPECT_EQ(Program(scheduler, sets, 20).run(), SXT_OK) << scheduler << ": " << sxt_last_error(nullptr);
      EXPECT_EQ(left_behind(), "") << scheduler;
      EXPECT_EQ(faults(), "") << scheduler;
    }
}

TEST_F(CholeskySetsCuda, EveryCallMayFail) {
  for (const char *scheduler : schedulers) {
    Program program(scheduler, 5, 12);
    ASSERT_EQ(program.run(), SXT_OK) << sxt_last_error(nullptr);
    int failed = 0;
    for (std::int64_t n = 1, failures = 1; failures > 0; n += 1 + n / 12) {
      ASSERT_LT(n, 100000);
      fake_fail(n, FAKE_NO_MEMORY);
      const sxt_status status = program.run();
      failures = fake_failures();
      fake_fail(0, 0);
      failed += status < 0;
      EXPECT_EQ(left_behind(), "") << scheduler << ", call " << n << ", " << fake_failed_call();
    }
    EXPECT_GE(failed, 10) << scheduler;
  }
}

// Levels factor all sets by the launches of one.
TEST_F(CholeskySetsCuda, LevelsShareTheirLaunches) {
  const auto launches = [&](std::int64_t sets) {
    const std::int64_t before = fake_count("calls");
    EXPECT_EQ(Program("cholesky.levels.cuda", sets, 12).run(), SXT_OK) << sxt_last_error(nullptr);
    return fake_count("calls") - before;
  };
  launches(2);  // warm
  const std::int64_t few = launches(2), many = launches(40);
  EXPECT_LT(many, few + 6 * 40) << "pivots of each set take a launch, and nothing else does";
}

}  // namespace
