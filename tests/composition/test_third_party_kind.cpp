// SPDX-License-Identifier: BSD-3-Clause
// A kind that a third party defines: found, chosen, run, tested by its own cases and checked through the C interface
// like our own; and kernels whose kind is missing or loaded later.
#include <cstdint>

#include <gmock/gmock.h>

#include "mocks/smooth.hpp"
#include "support.hpp"

namespace composition {
namespace {

using ::testing::HasSubstr;

class ThirdPartyKind : public HardCase {};

TEST_F(ThirdPartyKind, IsListedWithItsKernels) {
  const Context context = open_context("cpu");
  std::vector<std::string> found;
  for (std::int64_t i = 0; i < sxt_kernel_count(); ++i) {
    sxt_kernel_info info{};
    info.struct_size = sizeof info;
    ASSERT_EQ(sxt_kernel_get(i, &info), SXT_OK);
    if (std::string(info.kind) == KIND_SMOOTH) found.push_back(info.name);
  }
  for (const char *kernel : {"smooth.reference.cpu", "smooth.plain.cpu", "smooth.pooled.cpu"})
    EXPECT_THAT(found, ::testing::Contains(kernel));
}

TEST_F(ThirdPartyKind, IsSelectedAndRunFromC) {
  const Context context = open_context("cpu");
  SmoothQuery query{{{sizeof query, KIND_SMOOTH}, 1, 0, SXT_F64}, 4, 2};
  const Selection selection = select(context, query.q);
  ASSERT_STREQ(sxt_selection_kernel(selection.get()), "smooth.plain.cpu");
  const double x[] = {16, 0, 0, 16};
  double y[4] = {};
  SmoothArgs args{{sizeof args, KIND_SMOOTH}, 4, 2, x, y};
  ASSERT_EQ(sxt_kernel_run(selection.get(), &args.h), SXT_OK);
  // 16 0 0 16 -> 8 4 4 8 -> 5 5 5 5
  EXPECT_THAT(y, ::testing::ElementsAre(5, 5, 5, 5));
  args.h.kind = "com.example.other/1";
  EXPECT_EQ(sxt_kernel_run(selection.get(), &args.h), SXT_E_ARGUMENT);
  EXPECT_THAT(sxt_last_error(context.get()), HasSubstr(KIND_SMOOTH));
}

struct Lines {
  int passed = 0;
  std::vector<std::string> failed, kernels;
};

sxt_status check(const Context &context, const char *path, Lines &lines) {
  const auto note = [](void *user, const char *kernel, const char *check, std::int32_t passed, const char *sentence) {
    auto &all = *static_cast<Lines *>(user);
    all.kernels.emplace_back(kernel);
    if (passed)
      ++all.passed;
    else
      all.failed.push_back(std::string(kernel) + ", " + check + ": " + sentence);
  };
  return sxt_plugin_check(context.get(), path, 0, note, &lines);
}

TEST_F(ThirdPartyKind, ItsCasesAcceptGoodKernels) {
  const Context context = open_context("cpu");
  Lines lines;
  EXPECT_EQ(check(context, COMPOSITION_PLUGINS "/cpu/smooth_kernels.so", lines), SXT_OK)
      << sxt_last_error(context.get());
  EXPECT_THAT(lines.failed, ::testing::IsEmpty());
  // Both kernels on every case of the kind, and for each the verdict and how far its model was from the runs.
  EXPECT_EQ(lines.passed, 2 * (15 + 2));
  Lines reference;
  EXPECT_EQ(check(context, COMPOSITION_PLUGINS "/cpu/smooth_kind.so", reference), SXT_OK)
      << sxt_last_error(context.get());
}

TEST_F(ThirdPartyKind, ItsCasesFindWrongAnswersAndBrokenModels) {
  const Context context = open_context("cpu");
  Lines lines;
  EXPECT_EQ(check(context, COMPOSITION_EXTRA "/smooth_bad.so", lines), SXT_E_PLUGIN);
  EXPECT_THAT(lines.failed, ::testing::Contains(::testing::AllOf(HasSubstr("smooth.wrong"), HasSubstr("y["))));
  EXPECT_THAT(lines.failed, ::testing::Contains(::testing::AllOf(HasSubstr("smooth.nan,"), HasSubstr("nan"))));
  EXPECT_THAT(lines.failed, ::testing::Contains(::testing::AllOf(HasSubstr("smooth.negative,"), HasSubstr("-1"))));
}

// The reason a file's kernels were left out; "" when there is no such record.
std::string refusal_of(const std::string &file) {
  for (std::int64_t i = 0; i < sxt_refusal_count(); ++i) {
    sxt_refusal_info info{};
    info.struct_size = sizeof info;
    EXPECT_EQ(sxt_refusal_get(i, &info), SXT_OK);
    if (std::string(info.path).find(file) != std::string::npos) return std::string(info.stage) + ": " + info.reason;
  }
  return "";
}

TEST_F(ThirdPartyKind, AKernelOfAnUndefinedKindIsSkippedWithThatReason) {
  const Context context = open_context("cpu", {COMPOSITION_EXTRA "/orphan.so"});
  ASSERT_NE(context, nullptr);
  const std::string refusal = refusal_of("/orphan.so");
  EXPECT_THAT(refusal, HasSubstr("kind: "));
  EXPECT_THAT(refusal, HasSubstr("'orphan.cpu'"));
  EXPECT_THAT(refusal, HasSubstr("'com.example.nowhere/1'"));
  const sxt_query query{{sizeof query, "com.example.nowhere/1"}, 1, 0, SXT_F64};
  EXPECT_EQ(try_select(context, query), SXT_E_UNKNOWN_NAME);
}

TEST_F(ThirdPartyKind, AKernelComesInForceWhenItsKindComesLate) {
  const Context context = open_context("cpu", {COMPOSITION_EXTRA "/late_kernel.so", COMPOSITION_EXTRA "/late_kind.so"});
  const sxt_query query{{sizeof query, "com.example.late/1"}, 1, 0, SXT_F64};
  const Selection selection = select(context, query);
  EXPECT_STREQ(sxt_selection_kernel(selection.get()), "late.cpu");
}

}  // namespace
}  // namespace composition
