// SPDX-License-Identifier: BSD-3-Clause
// Measured candidates, races, feedback and the price of features, through the C interface.
#include <cstdint>
#include <cstdlib>
#include <map>
#include <set>
#include <vector>

#include "sextant/plugin/kinds/spmv.h"
#include "sextant/plugin/kinds/vector.h"
#include "tests/api/support.hpp"

namespace api_test {
namespace {

Context context_with(int race, int feedback, bool deterministic = false, int threads = 2) {
  sxt_context_options options;
  sxt_context_options_init(&options, sizeof options);
  options.device = "cpu";
  options.threads = threads;
  options.race = race;
  options.race_seconds = 0.01;
  options.feedback = feedback;
  options.deterministic = deterministic;
  return make<Context>([&](sxt_context **out) { return sxt_context_create(&options, out); });
}

Selection select(const Context &context, const Matrix &matrix, double runs) {
  const sxt_spmv_query query = product_query(runs);
  return make<Selection>(
      [&](sxt_selection **out) { return sxt_kernel_select(context.get(), &query.m.q, matrix.get(), out); });
}

std::vector<sxt_verify_line> verify(const Matrix &matrix, int stop_after = 1000) {
  sxt_verify_options options;
  sxt_verify_options_init(&options, sizeof options);
  options.candidate_seconds = 0.001;
  struct Sink {
    std::vector<sxt_verify_line> lines;
    int left;
  } sink{{}, stop_after};
  const auto take = [](void *user, const sxt_verify_line *line) -> int32_t {
    auto &to = *static_cast<Sink *>(user);
    to.lines.push_back(*line);
    return --to.left <= 0;
  };
  EXPECT_EQ(sxt_verify_model(matrix.get(), &options, take, &sink), SXT_OK) << sxt_last_error(nullptr);
  return sink.lines;
}

TEST(VerifyTest, EveryKernelIsMeasuredAndOneIsChosen) {
  const Context context = cpu();
  const Matrix matrix = laplacian(30).matrix(context);
  const std::vector<sxt_verify_line> lines = verify(matrix);
  std::set<std::string> kernels;
  int chosen = 0;
  for (const sxt_verify_line &line : lines) {
    kernels.insert(line.kernel);
    chosen += line.chosen;
    EXPECT_GT(line.measured_run_s, 0) << line.kernel;
    EXPECT_GE(line.measured_setup_s, 0) << line.kernel;
    EXPECT_GE(line.repeats, 3) << line.kernel;
    EXPECT_GE(line.select_s, 0) << line.kernel;  // 0 where building a storage, which is taken off, took all of it
    if (!line.chosen) {
      EXPECT_EQ(line.select_s, 0) << line.kernel;
    }
  }
  EXPECT_EQ(chosen, 1);
  EXPECT_TRUE(kernels.count("spmv.coo.serial.cpu"));
  EXPECT_TRUE(kernels.count("spmv.csr.rows.cpu"));
  EXPECT_FALSE(kernels.count("spmv.reference.cpu"));
  sxt_verify_summary summary{};
  summary.struct_size = sizeof summary;
  ASSERT_EQ(sxt_verify_summarise(lines.data(), static_cast<int64_t>(lines.size()), 1000, &summary), SXT_OK);
  EXPECT_EQ(summary.matrices, 1);
  EXPECT_EQ(summary.candidates, static_cast<int64_t>(lines.size()));
  EXPECT_GE(summary.regret_geomean, 1);
}

TEST(VerifyTest, TheCallerStopsIt) {
  const Context context = cpu();
  const Matrix matrix = laplacian(10).matrix(context);
  EXPECT_EQ(verify(matrix, 2).size(), 2u);
}

TEST(VerifyTest, ArgumentsThatCannotBeAreRefused) {
  const Context context = cpu();
  const Matrix matrix = laplacian(5).matrix(context);
  EXPECT_EQ(sxt_verify_model(matrix.get(), nullptr, nullptr, nullptr), SXT_E_ARGUMENT);
  sxt_verify_options options;
  sxt_verify_options_init(&options, sizeof options);
  options.applies = 0;
  const auto take = [](void *, const sxt_verify_line *) -> int32_t { return 0; };
  EXPECT_EQ(sxt_verify_model(matrix.get(), &options, take, nullptr), SXT_E_ARGUMENT);
  EXPECT_NE(last_error(context).find("applies"), std::string::npos);
  sxt_verify_summary summary{};
  summary.struct_size = sizeof summary;
  EXPECT_EQ(sxt_verify_summarise(nullptr, 1, 10, &summary), SXT_E_ARGUMENT);
}

TEST(RaceTest, TheClockDecidesAndExplainReportsIt) {
  const Context context = context_with(3, 0);
  const Matrix matrix = laplacian(60).matrix(context);
  const std::string text = explain(select(context, matrix, 1e6));
  EXPECT_NE(text.find("a race of "), std::string::npos) << text;
  EXPECT_NE(text.find("measured "), std::string::npos) << text;
}

TEST(RaceTest, NoRaceUnlessRequestedNorWhenDeterministic) {
  const Context plain = cpu(), strict = context_with(3, 1, true);
  for (const Context *context : {&plain, &strict}) {
    const Matrix matrix = laplacian(60).matrix(*context);
    EXPECT_EQ(explain(select(*context, matrix, 1e6)).find("a race of "), std::string::npos);
  }
}

TEST(RaceTest, NoRaceForRunsThatCannotRepayIt) {
  const Context context = context_with(3, 0);
  const Matrix matrix = laplacian(60).matrix(context);
  EXPECT_EQ(explain(select(context, matrix, 100)).find("a race of "), std::string::npos);
}

TEST(RaceTest, AForcedKernelDoesNotRace) {
  const Context context = context_with(3, 0);
  const Matrix matrix = laplacian(60).matrix(context);
  sxt_context_force(context.get(), "sxt.spmv/1", "spmv.coo.serial.cpu");
  const Selection selection = select(context, matrix, 1e6);
  EXPECT_STREQ(sxt_selection_kernel(selection.get()), "spmv.coo.serial.cpu");
  EXPECT_EQ(explain(selection).find("a race of "), std::string::npos);
}

TEST(RaceTest, TheEnvironmentRequestsAndOptionsOverrule) {
  setenv("SEXTANT_RACE", "3:0.01", 1);
  const Context asked = cpu(), overruled = context_with(-1, 0);
  setenv("SEXTANT_RACE", "fast", 1);
  sxt_context *none = nullptr;
  EXPECT_EQ(sxt_context_create(nullptr, &none), SXT_E_ARGUMENT);
  EXPECT_NE(std::string(sxt_last_error(nullptr)).find("SEXTANT_RACE"), std::string::npos);
  unsetenv("SEXTANT_RACE");
  EXPECT_NE(explain(select(asked, laplacian(60).matrix(asked), 1e6)).find("a race of "), std::string::npos);
  EXPECT_EQ(explain(select(overruled, laplacian(60).matrix(overruled), 1e6)).find("a race of "), std::string::npos);
}

// Memory up to a limit.
struct Purse {
  std::map<void *, std::uint64_t> pieces;
  std::uint64_t held = 0, limit = UINT64_MAX;

  static void *allocate(void *user, std::uint64_t bytes, std::uint64_t alignment) {
    auto &self = *static_cast<Purse *>(user);
    if (self.held + bytes > self.limit) return nullptr;
    void *memory = std::aligned_alloc(alignment, bytes);
    self.held += self.pieces[memory] = bytes;
    return memory;
  }
  static void release(void *user, void *memory) {
    auto &self = *static_cast<Purse *>(user);
    self.held -= self.pieces.at(memory);
    self.pieces.erase(memory);
    std::free(memory);
  }
};

// The choice for many products when this many bytes are left beside the matrix.
sxt_status choose_within(const Csr &a, int race, std::uint64_t bytes) {
  Purse purse;
  sxt_context_options options = context_options();
  options.device = "cpu";
  options.threads = 1;
  options.race = race;
  options.race_seconds = race > 0 ? 1 : 0;
  options.allocate = Purse::allocate;
  options.release = Purse::release;
  options.allocator_user = &purse;
  const Context context = make<Context>([&](sxt_context **out) { return sxt_context_create(&options, out); });
  const Matrix matrix = a.matrix(context);
  purse.limit = purse.held + bytes;
  const sxt_spmv_query query = product_query(1e5);
  sxt_selection *made = nullptr;
  const sxt_status status = sxt_kernel_select(context.get(), &query.m.q, matrix.get(), &made);
  sxt_selection_destroy(made);
  return status;
}

TEST(RaceTest, OnlyACandidateThatDoesNotFitIsLeftOut) {
  const Csr a = laplacian(60);
  int chosen = 0;
  for (std::uint64_t bytes = 0; bytes < (std::uint64_t{1} << 20); bytes += std::uint64_t{1} << 14) {
    if (choose_within(a, -1, bytes) != SXT_OK) continue;
    ++chosen;
    EXPECT_EQ(choose_within(a, 4, bytes), SXT_OK) << bytes << ": " << sxt_last_error(nullptr);
  }
  EXPECT_GT(chosen, 0);
}

TEST(FeedbackTest, MeasuredRunsCorrectLaterChoicesOnly) {
  // One thread leaves the kernel one launch: with two, the other one may be chosen once this one's prediction is
  // corrected.
  const Context context = context_with(0, 1, false, 1);
  const Matrix matrix = laplacian(40).matrix(context);
  sxt_context_force(context.get(), "sxt.spmv/1", "spmv.csr.rows.cpu");
  const Selection before = select(context, matrix, 100);
  std::vector<double> x(1600, 1), y(1600);
  sxt_spmv_args args{};
  args.h = {sizeof args, SXT_KIND_SPMV};
  args.n_rhs = 1;
  args.x = x.data();
  args.y = y.data();
  const double one = 1, zero = 0;
  args.alpha.value = &one;
  args.beta.value = &zero;
  double first = 0, same = 0, later = 0;
  ASSERT_EQ(sxt_selection_cost(before.get(), nullptr, &first), SXT_OK);
  for (int i = 0; i < 10; ++i) ASSERT_EQ(sxt_kernel_run(before.get(), &args.h), SXT_OK);
  ASSERT_EQ(sxt_selection_cost(before.get(), nullptr, &same), SXT_OK);
  EXPECT_EQ(first, same);
  const Selection after = select(context, matrix, 100);
  ASSERT_EQ(sxt_selection_cost(after.get(), nullptr, &later), SXT_OK);
  EXPECT_NE(later, first);
  EXPECT_NE(explain(after).find("feedback: predictions times"), std::string::npos) << explain(after);
  const Context fresh = context_with(0, 0);
  EXPECT_EQ(explain(select(fresh, laplacian(40).matrix(fresh), 100)).find("feedback:"), std::string::npos);
}

// Vector operations are planned for a range of lengths and predicted at its end.
TEST(FeedbackTest, RunsOfAnotherLengthDoNotCount) {
  const Context context = context_with(0, 1, false, 1);
  constexpr std::int64_t n = (1 << 16) + 1;
  std::vector<double> xs(n, 1), ys(n, 1);
  const Vector x = wrap(context, xs), y = wrap(context, ys);
  const double tiny = 1e-9;
  for (int i = 0; i < 10; ++i) ASSERT_EQ(sxt_axpy(&tiny, x.get(), y.get()), SXT_OK);
  sxt_vector_query query{};
  query.q.h = {sizeof query, SXT_KIND_VECTOR};
  query.q.value_type = SXT_F64;
  query.q.expected_runs = 1000;
  query.operation = SXT_VECTOR_AXPY;
  query.n = n;
  const Selection selection =
      make<Selection>([&](sxt_selection **out) { return sxt_kernel_select(context.get(), &query.q, nullptr, out); });
  EXPECT_EQ(explain(selection).find("feedback:"), std::string::npos) << explain(selection);
}

TEST(FeatureTest, FeaturesThatCannotChangeTheChoiceAreNotComputed) {
  const Context context = cpu();
  const Matrix matrix = laplacian(60).matrix(context);
  sxt_context_force(context.get(), "sxt.spmv/1", "spmv.csr.rows.cpu");
  EXPECT_EQ(explain(select(context, matrix, 1e6)).find("features:"), std::string::npos) << "nothing competes";
  sxt_context_force(context.get(), "sxt.spmv/1", nullptr);
  EXPECT_EQ(explain(select(context, laplacian(60).matrix(context), 1)).find("features:"), std::string::npos)
      << "one product is over before they are there";
  const std::string text = explain(select(context, laplacian(60).matrix(context), 1e6));
  EXPECT_NE(text.find("features:"), std::string::npos) << text;
}

}  // namespace
}  // namespace api_test
