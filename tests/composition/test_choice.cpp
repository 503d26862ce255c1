// SPDX-License-Identifier: BSD-3-Clause
// The choice: by cost and by how often the kernel will run, by force, by demand for determinism, and unaffected by
// invalid models and wrong answers.
#include <gmock/gmock.h>

#include <cmath>
#include <cstdint>

#include "mocks/smooth.hpp"
#include "sextant/plugin/kinds/spmv.h"
#include "support.hpp"

namespace composition {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

class Choice : public HardCase {};

SmoothQuery smooth_query(double runs = 1, std::int64_t n = 100) {
  return {{{sizeof(SmoothQuery), KIND_SMOOTH}, runs, 0, SXT_F64}, n, 1};
}

std::vector<double> smoothed(const Selection &selection, const std::vector<double> &x) {
  std::vector<double> y(x.size());
  SmoothArgs args{{sizeof args, KIND_SMOOTH}, static_cast<std::int64_t>(x.size()), 1, x.data(), y.data()};
  EXPECT_EQ(sxt_kernel_run(selection.get(), &args.h), SXT_OK);
  return y;
}

TEST_F(Choice, SetUpIsRepaidWhenTheKernelRunsOften) {
  const Context context = open_context("cpu");
  const Selection once = select(context, smooth_query(1).q), often = select(context, smooth_query(1e6).q);
  EXPECT_STREQ(sxt_selection_kernel(once.get()), "smooth.plain.cpu");
  EXPECT_STREQ(sxt_selection_kernel(often.get()), "smooth.pooled.cpu");
  // The reference is listed with the reason why it was left out.
  EXPECT_THAT(reason_for(often, "smooth.reference.cpu"), HasSubstr("reference"));
  EXPECT_EQ(smoothed(once, {4, 8, 12}), (std::vector<double>{4, 8, 8}));
  EXPECT_EQ(smoothed(often, {4, 8, 12}), (std::vector<double>{4, 8, 8}));
}

TEST_F(Choice, AForcedKernelIsTakenAgainstTheModel) {
  const Context context = open_context("cpu");
  ASSERT_EQ(sxt_context_force(context.get(), KIND_SMOOTH, "smooth.reference.cpu"), SXT_OK);
  const Selection forced = select(context, smooth_query(1e6).q);
  EXPECT_STREQ(sxt_selection_kernel(forced.get()), "smooth.reference.cpu");
  EXPECT_THAT(reason_for(forced, "smooth.reference.cpu"), HasSubstr("forced by call"));
  ASSERT_EQ(sxt_context_force(context.get(), KIND_SMOOTH, nullptr), SXT_OK);
  EXPECT_STREQ(sxt_selection_kernel(select(context, smooth_query(1e6).q).get()), "smooth.pooled.cpu");
}

TEST_F(Choice, AForcedKernelThatCannotApplyIsAnErrorWithTheReason) {
  const Context context = open_context("deferred");
  const Matrix matrix = make_matrix(context, five_point(4, 4));
  ASSERT_EQ(sxt_context_force(context.get(), SXT_KIND_SPMV, "spmv.dia.deferred"), SXT_OK);
  sxt_spmv_query query{};
  query.m.q = {{sizeof query, SXT_KIND_SPMV}, 1, SXT_QUERY_MATRIX, SXT_F64};
  query.n_rhs = 3;
  EXPECT_EQ(try_select(context, query.m.q, matrix), SXT_E_NOT_SUPPORTED);
  EXPECT_THAT(sxt_last_error(context.get()), HasSubstr("spmv.dia.deferred was forced by call"));
  EXPECT_THAT(sxt_last_error(context.get()), HasSubstr("3 right-hand sides, it takes one"));
  query.n_rhs = 1;
  EXPECT_EQ(try_select(context, query.m.q, matrix), SXT_OK);
}

TEST_F(Choice, AnUnknownForcedKernelNamesTheNearest) {
  const Context context = open_context("cpu");
  EXPECT_EQ(sxt_context_force(context.get(), KIND_SMOOTH, "smooth.plane.cpu"), SXT_E_UNKNOWN_NAME);
  EXPECT_THAT(sxt_last_error(context.get()), HasSubstr("smooth.plain.cpu"));
}

TEST_F(Choice, ADeterministicQueryExcludesKernelsThatPromiseNothing) {
  for (const bool by_context : {false, true}) {
    const Context context = open_context("cpu", {}, by_context);
    SmoothQuery query = smooth_query(1e6);
    if (!by_context) query.q.flags = SXT_QUERY_DETERMINISTIC;
    const Selection selection = select(context, query.q);
    EXPECT_STREQ(sxt_selection_kernel(selection.get()), "smooth.plain.cpu");
    EXPECT_THAT(reason_for(selection, "smooth.pooled.cpu"), HasSubstr("bits may differ"));
  }
}

// Each of these would be first by cost if its invalid estimate were used.
TEST_F(Choice, ABadModelTakesOnlyItsOwnKernelOut) {
  const Context context = open_context("cpu", {COMPOSITION_EXTRA "/smooth_bad.so"});
  const Selection selection = select(context, smooth_query(1e6).q);
  ASSERT_STREQ(sxt_selection_kernel(selection.get()), "smooth.pooled.cpu");
  EXPECT_THAT(reason_for(selection, "smooth.nan"), HasSubstr("predicted nan"));
  EXPECT_THAT(reason_for(selection, "smooth.negative"), HasSubstr("predicted -1"));
  EXPECT_THAT(reason_for(selection, "smooth.nan-setup"), HasSubstr("nan s of set-up"));
  EXPECT_THAT(reason_for(selection, "smooth.negative-setup"), HasSubstr("-1e+09 s of set-up"));
  EXPECT_THAT(reason_for(selection, "smooth.nan-twice"), HasSubstr("predicted nan"));
  EXPECT_THAT(reason_for(selection, "smooth.failing"), HasSubstr("gave no candidate (SXT_E_INTERNAL)"));
  EXPECT_THAT(reason_for(selection, "smooth.none"), HasSubstr("gave no candidate"));
  EXPECT_THAT(reason_for(selection, "smooth.never"), HasSubstr("n = 100 is not supported"));
  // Of two candidates only the bad one goes.
  EXPECT_THAT(reason_for(selection, "smooth.nan-then-dear"), HasSubstr("times that of smooth.pooled.cpu"));
}

TEST_F(Choice, AWrongAnswerIsFoundBeforeItWinsAndTheNextTakesOver) {
  const Context context = open_context("cpu", {COMPOSITION_EXTRA "/smooth_bad.so"});
  const Selection selection = select(context, smooth_query(1).q);
  ASSERT_STREQ(sxt_selection_kernel(selection.get()), "smooth.plain.cpu");
  EXPECT_THAT(reason_for(selection, "smooth.wrong"), HasSubstr("quarantined"));
  EXPECT_THAT(reason_for(selection, "smooth.wrong"), HasSubstr("wrong answer"));
  // Forcing does not bring it back.
  ASSERT_EQ(sxt_context_force(context.get(), KIND_SMOOTH, "smooth.wrong"), SXT_OK);
  EXPECT_EQ(try_select(context, smooth_query(1).q), SXT_E_NOT_SUPPORTED);
  EXPECT_THAT(sxt_last_error(context.get()), HasSubstr("quarantined"));
}

TEST_F(Choice, WhenNothingAppliesEveryKernelHasItsReason) {
  const Context context = open_context("cpu", {COMPOSITION_EXTRA "/smooth_bad.so"});
  SmoothQuery query = smooth_query(1);
  query.q.value_type = SXT_F32;
  ASSERT_EQ(sxt_context_force(context.get(), KIND_SMOOTH, "smooth.never"), SXT_OK);
  EXPECT_EQ(try_select(context, query.q), SXT_E_NOT_SUPPORTED);
  EXPECT_THAT(sxt_last_error(context.get()), HasSubstr("smooth.never: n = 100 is not supported"));
  // Said at the head, and in one line for all that the force refuses.
  const std::string said = sxt_last_error(context.get()), force = "smooth.never was forced by call";
  EXPECT_THAT(said, ContainsRegex("\n  [^:\n]*smooth.plain.cpu[^:\n]*: " + force));
  EXPECT_EQ(said.rfind(force), said.find(force, said.find(force) + 1));
}

}  // namespace
}  // namespace composition
