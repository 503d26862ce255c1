// SPDX-License-Identifier: BSD-3-Clause
// Both CUDA schedulers over the fake libraries, through the C interface: tasks wait for one another, nothing is left
// behind, each vendor call may fail, memory may be short at each allocation, and what candidates and refusals say.
#include <chrono>
#include <cmath>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "plugins/cholesky/shared/structure.hpp"
#include "sextant/cholesky.h"
#include "tests/fake_device/fixture.hpp"
#include "tests/plugins/support.hpp"

namespace {

using fake_test::FakeDevice;
using fake_test::faults;
using fake_test::left_behind;
using plugin_test::ask_candidates;
using plugin_test::make_gpu;
using testing::HasSubstr;

// Everything a program does with a factor, on a cube that has fronts of all widths.
class Program {
 public:
  Program(const char *scheduler, std::int64_t side, std::int64_t block,
          sxt_factor_precision precision = SXT_PRECISION_WORKING)
      : scheduler_(scheduler), block_(block), precision_(precision) {
    for (std::int64_t i = 0; i < side * side * side; ++i) {
      const auto put = [&](bool there, std::int64_t j) {
        if (there) col_.push_back(static_cast<std::int32_t>(j)), values_.push_back(j == i ? 7.0 : -1.0);
      };
      const std::int64_t x = i % side, y = i / side % side, z = i / side / side;
      put(z > 0, i - side * side), put(y > 0, i - side), put(x > 0, i - 1), put(true, i);
      put(x + 1 < side, i + 1), put(y + 1 < side, i + side), put(z + 1 < side, i + side * side);
      ptr_.push_back(static_cast<std::int32_t>(col_.size()));
    }
  }
  // SXT_OK, or the status of the first step that failed, which has a sentence.
  sxt_status run() {
    sxt_context *context = nullptr;
    sxt_matrix *matrix = nullptr;
    sxt_analysis *analysis = nullptr;
    sxt_cholesky *cholesky = nullptr;
    sxt_status status = fake_test::open(&context);
    const auto n = static_cast<std::int64_t>(ptr_.size()) - 1;
    const auto step = [&](auto &&f) {
      if (status == SXT_OK) status = f();
    };
    step(
        [&] { return sxt_matrix_from_csr(context, n, n, ptr_.data(), col_.data(), values_.data(), nullptr, &matrix); });
    sxt_analysis_options options;
    sxt_analysis_options_init(&options, sizeof options);
    options.scheduler = scheduler_;
    options.order = "natural";
    options.block = block_;
    options.factor_precision = precision_;
    step([&] { return sxt_analysis_create(matrix, &options, &analysis); });
    step([&] { return sxt_cholesky_create(analysis, &cholesky); });
    for (int round = 0; round < 2; ++round) step([&] { return sxt_cholesky_factor(cholesky, nullptr, nullptr); });
    std::vector<double> b(static_cast<std::size_t>(2 * n), 1);
    step([&] { return sxt_cholesky_solve(cholesky, n, 2, b.data(), n, b.data(), n, nullptr, nullptr); });
    if (status != SXT_OK) {
      EXPECT_NE(std::string(sxt_last_error(context)), "") << "without a sentence: " << fake_failed_call();
    }
    sxt_cholesky_destroy(cholesky), sxt_analysis_destroy(analysis);
    sxt_matrix_destroy(matrix), sxt_context_destroy(context);
    return status;
  }

 private:
  const char *scheduler_;
  std::int64_t block_;
  sxt_factor_precision precision_;
  std::vector<std::int32_t> ptr_{0}, col_;
  std::vector<double> values_;
};

constexpr const char *schedulers[] = {"cholesky.streams.cuda", "cholesky.levels.cuda"};

class CholeskyCuda : public FakeDevice {
 protected:
  const sxt_kernel &kernel(const char *name = "streams") {
    return plugin_test::find_kernel(plugin_test::load_own(std::string("cholesky-") + name + "-cuda", "cuda"),
                                    std::string("cholesky.") + name + ".cuda");
  }
};

// A chain of so many rows, as a query.
sxt_cholesky_query chain(std::int32_t n, sxt_value_type type = SXT_F64) {
  sextant_cholesky::LowerPattern a;
  a.n = n;
  for (std::int32_t i = 0; i < a.n; ++i) {
    if (i) a.col.push_back(i - 1), a.from.push_back(static_cast<std::int64_t>(a.from.size()));
    a.col.push_back(i), a.from.push_back(static_cast<std::int64_t>(a.from.size()));
    a.row_ptr.push_back(static_cast<std::int64_t>(a.col.size()));
  }
  std::vector<std::int32_t> order(static_cast<std::size_t>(n));
  for (std::int32_t k = 0; k < n; ++k) order[static_cast<std::size_t>(k)] = k;
  const sextant_cholesky::Structure structure(a, order, {});
  return sextant_cholesky::query_of(structure.view(), 2 * n - 1, type, SXT_CHOLESKY_FACTOR);
}

TEST_F(CholeskyCuda, WaitsWhereItMustAndLeavesNothingBehind) {
  for (const char *scheduler : schedulers)
    for (const std::int64_t block : {16, 1024}) {
      EXPECT_EQ(Program(scheduler, 9, block).run(), SXT_OK) << scheduler << ": " << sxt_last_error(nullptr);
      EXPECT_EQ(left_behind(), "") << scheduler;
      EXPECT_EQ(faults(), "") << scheduler;
    }
}

// The first calls one by one, later ones here and there: events are made by the hundred.
TEST_F(CholeskyCuda, EveryCallMayFail) {
  for (const char *scheduler : schedulers) {
    Program program(scheduler, 6, 16);
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

// In single precision: scales, vectors and states of both types. Residuals of a fake device are 0, so nothing is
// corrected.
TEST_F(CholeskyCuda, EveryCallMayFailInSinglePrecision) {
  for (const sxt_factor_precision precision : {SXT_PRECISION_SINGLE, SXT_PRECISION_ROUNDED}) {
    Program program("cholesky.levels.cuda", 5, 16, precision);
    ASSERT_EQ(program.run(), SXT_OK) << sxt_last_error(nullptr);
    EXPECT_EQ(left_behind(), "");
    EXPECT_EQ(faults(), "");
    int failed = 0;
    for (std::int64_t n = 1, failures = 1; failures > 0; n += 1 + n / 12) {
      ASSERT_LT(n, 100000);
      fake_fail(n, FAKE_NO_MEMORY);
      const sxt_status status = program.run();
      failures = fake_failures();
      fake_fail(0, 0);
      failed += status < 0;
      EXPECT_EQ(left_behind(), "") << precision << ", call " << n << ", " << fake_failed_call();
    }
    EXPECT_GE(failed, 10);
  }
}

// A hundred rounds take no memory of the device, nor pinned memory.
TEST_F(CholeskyCuda, RoundsOfFactorAndSolveTakeNoMemory) {
  sxt_context *context = nullptr;
  ASSERT_EQ(fake_test::open(&context), SXT_OK);
  const std::vector<std::int32_t> ptr = {0, 2, 5, 7}, col = {0, 1, 0, 1, 2, 1, 2};
  const std::vector<double> values = {4, -1, -1, 4, -1, -1, 4};
  sxt_matrix *matrix = nullptr;
  sxt_analysis *analysis = nullptr;
  sxt_cholesky *cholesky = nullptr;
  ASSERT_EQ(sxt_matrix_from_csr(context, 3, 3, ptr.data(), col.data(), values.data(), nullptr, &matrix), SXT_OK);
  sxt_analysis_options options;
  sxt_analysis_options_init(&options, sizeof options);
  options.scheduler = "cholesky.levels.cuda";
  ASSERT_EQ(sxt_analysis_create(matrix, &options, &analysis), SXT_OK);
  ASSERT_EQ(sxt_cholesky_create(analysis, &cholesky), SXT_OK);
  void *x = fake_allocate(FAKE_DEVICE, 3 * sizeof(double));
  std::int64_t before = 0;
  for (int round = 0; round < 101; ++round) {
    if (round == 1) before = fake_count("requests");  // the first solve opens a session
    ASSERT_EQ(sxt_cholesky_factor(cholesky, nullptr, nullptr), SXT_OK) << sxt_last_error(context);
    ASSERT_EQ(sxt_cholesky_solve(cholesky, 3, 1, x, 3, x, 3, nullptr, nullptr), SXT_OK) << sxt_last_error(context);
  }
  EXPECT_GT(before, 0);
  EXPECT_EQ(fake_count("requests"), before);
  fake_free(x);
  sxt_cholesky_destroy(cholesky), sxt_analysis_destroy(analysis);
  sxt_matrix_destroy(matrix), sxt_context_destroy(context);
}

// The device is at work, and another thread cancels: the call ends, and the next one works.
TEST_F(CholeskyCuda, IsCancelledWhileTheDeviceWorks) {
  sxt_context *context = nullptr;
  ASSERT_EQ(fake_test::open(&context), SXT_OK);
  const std::vector<std::int32_t> ptr = {0, 1, 2}, col = {0, 1};
  const std::vector<double> values = {4, 4};
  sxt_matrix *matrix = nullptr;
  sxt_analysis *analysis = nullptr;
  sxt_cholesky *cholesky = nullptr;
  ASSERT_EQ(sxt_matrix_from_csr(context, 2, 2, ptr.data(), col.data(), values.data(), nullptr, &matrix), SXT_OK);
  sxt_analysis_options options;
  sxt_analysis_options_init(&options, sizeof options);
  options.scheduler = "cholesky.levels.cuda";
  ASSERT_EQ(sxt_analysis_create(matrix, &options, &analysis), SXT_OK);
  ASSERT_EQ(sxt_cholesky_create(analysis, &cholesky), SXT_OK);
  std::int32_t cancel = 0;
  sxt_factor_options factor;
  sxt_factor_options_init(&factor, sizeof factor);
  factor.cancel = &cancel;
  EXPECT_EQ(sxt_cholesky_factor(cholesky, nullptr, &factor), SXT_OK) << "an idle device is not cancelled";
  fake_busy(1);
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    __atomic_store_n(&cancel, 1, __ATOMIC_RELEASE);
  });
  EXPECT_EQ(sxt_cholesky_factor(cholesky, nullptr, &factor), SXT_NOT_CONVERGED) << sxt_last_error(context);
  other.join();
  fake_busy(0);
  EXPECT_EQ(sxt_cholesky_factor(cholesky, nullptr, nullptr), SXT_OK) << sxt_last_error(context);
  EXPECT_EQ(faults(), "");
  sxt_cholesky_destroy(cholesky), sxt_analysis_destroy(analysis);
  sxt_matrix_destroy(matrix), sxt_context_destroy(context);
  EXPECT_EQ(left_behind(), "");
}

TEST_F(CholeskyCuda, HasCandidatesForEachMappingAndRefusesTheInverse) {
  sxt_cholesky_query q = chain(40);
  const auto list = ask_candidates(kernel(), &q.m.q, make_gpu());
  ASSERT_EQ(list.size(), 8u);
  for (const sxt_candidate &each : list)
    for (std::uint32_t t = 0; t < each.n_terms; ++t)
      EXPECT_TRUE(std::isfinite(each.terms[t]) && each.terms[t] >= 0) << t;
  EXPECT_GT(list[4].terms[1], list[0].terms[1]) << "a task each takes more launches";
  q.phase = SXT_CHOLESKY_INVERSE;
  EXPECT_THAT(plugin_test::refusal(kernel(), &q.m.q, make_gpu()), HasSubstr("no entries of the inverse"));
}

TEST_F(CholeskyCuda, LevelsHaveCandidatesForEachWidthAndRefuseWhatTheyCannot) {
  sxt_cholesky_query q = chain(40);
  const auto list = ask_candidates(kernel("levels"), &q.m.q, make_gpu());
  ASSERT_EQ(list.size(), 6u);
  for (const sxt_candidate &each : list)
    for (std::uint32_t t = 0; t < each.n_terms; ++t)
      EXPECT_TRUE(std::isfinite(each.terms[t]) && each.terms[t] >= 0) << t;
  // f32: three TF32 products for one, multiply-adds, and one product where the answer is corrected.
  sxt_cholesky_query single = chain(40, SXT_F32);
  const auto exact = ask_candidates(kernel("levels"), &single.m.q, make_gpu());
  ASSERT_EQ(exact.size(), 12u);
  for (const sxt_candidate &each : exact) EXPECT_TRUE(each.launch[2] == 0 || each.launch[2] == 3);
  single.m.q.flags |= SXT_QUERY_ROUNDED;
  const auto rounded = ask_candidates(kernel("levels"), &single.m.q, make_gpu());
  ASSERT_EQ(rounded.size(), 18u);
  EXPECT_EQ(rounded.back().launch[2], 1);
  const auto operations = [](const sxt_candidate &c) { return c.terms[8] + c.terms[9] + c.terms[10]; };  // flops.*
  EXPECT_LT(operations(rounded.back()), operations(exact.front()));
  q.height = 30000;
  EXPECT_THAT(plugin_test::refusal(kernel("levels"), &q.m.q, make_gpu()), HasSubstr("30000 levels"));
  q.height = 40, q.factors = SXT_FACTORS_LDLH;
  EXPECT_EQ(ask_candidates(kernel("levels"), &q.m.q, make_gpu()).size(), 6u);
  q.phase = SXT_CHOLESKY_INVERSE;
  EXPECT_THAT(plugin_test::refusal(kernel("levels"), &q.m.q, make_gpu()), HasSubstr("no entries of the inverse"));
}

}  // namespace
