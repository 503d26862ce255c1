// SPDX-License-Identifier: BSD-3-Clause
// Both CUDA schedulers over the fake libraries, through the C interface: tasks wait for one another, nothing is left
// behind, each vendor call may fail, memory may be short at each allocation, and what candidates and refusals say.
#include <cmath>
#include <cstdint>
#include <string>
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
  Program(const char *scheduler, std::int64_t side, std::int64_t block) : scheduler_(scheduler), block_(block) {
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
  q.height = 30000;
  EXPECT_THAT(plugin_test::refusal(kernel("levels"), &q.m.q, make_gpu()), HasSubstr("30000 levels"));
  q.height = 40, q.factors = SXT_FACTORS_LDLH;
  EXPECT_EQ(ask_candidates(kernel("levels"), &q.m.q, make_gpu()).size(), 6u);
  q.phase = SXT_CHOLESKY_INVERSE;
  EXPECT_THAT(plugin_test::refusal(kernel("levels"), &q.m.q, make_gpu()), HasSubstr("no entries of the inverse"));
}

}  // namespace
