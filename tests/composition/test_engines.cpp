// SPDX-License-Identifier: BSD-3-Clause
// Engines over storage and kernels of other plugins: one that reads the storage itself, one that replays captured runs
// of the kernels in its slot, a fused kernel or two that do the same together.
#include <gmock/gmock.h>

#include <cmath>
#include <cstdint>

#include "sextant/plugin/kinds/spmv_dots.h"
#include "support.hpp"

namespace composition {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Engines : public HardCase {};

constexpr const char *persistent = "pcg.persistent.deferred", *graph = "pcg.graph.deferred";

std::vector<double> some_rhs(std::int64_t n) {
  std::vector<double> b(n);
  for (std::int64_t i = 0; i < n; ++i) b[i] = std::sin(static_cast<double>(i + 1));
  return b;
}

void expect_solved(const Solve &solved, const Csr &a, const std::vector<double> &b) {
  EXPECT_EQ(solved.status, SXT_OK);
  EXPECT_EQ(solved.args.reason, SXT_REASON_CONVERGED);
  EXPECT_LT(relative_residual(a, solved.x, b), 1e-9);
  EXPECT_EQ(static_cast<std::int64_t>(solved.history.size()), solved.args.iterations + 1);
}

TEST_F(Engines, APersistentEngineReadsTheDiagonalsThatAnotherPluginBuilt) {
  const Context context = open_context("deferred");
  const Csr a = five_point(6, 5);
  const Matrix matrix = make_matrix(context, a);
  const Selection engine = select(context, pcg_query().m.q, matrix);
  ASSERT_STREQ(sxt_selection_kernel(engine.get()), persistent);  // few rows: one block is enough
  EXPECT_EQ(explain(engine)["plan"][0]["format"], "dia");
  EXPECT_TRUE(parts_of(engine).empty());
  const std::vector<double> b = some_rhs(a.n);
  expect_solved(solve(engine, a, b), a, b);
}

TEST_F(Engines, AGraphEngineReplaysTheFusedKernelOfAThirdParty) {
  const Context context = open_context("deferred");
  const Csr a = five_point(20, 20);
  const Matrix matrix = make_matrix(context, a);
  const Selection engine = select(context, pcg_query().m.q, matrix);
  ASSERT_STREQ(sxt_selection_kernel(engine.get()), graph);  // many rows: one block would be too slow
  EXPECT_THAT(parts_of(engine), ElementsAre("spmv_dots.dia.deferred"));

  const std::int64_t captures = mock::counted("captures"), replays = mock::counted("graph launches");
  const std::int64_t fused_runs = mock::counted("fused runs");
  const std::vector<double> b = some_rhs(a.n);
  const Solve first = solve(engine, a, b);
  expect_solved(first, a, b);
  // Blocks of eight: beyond the last iteration replays change nothing, so x and the history stay.
  const std::int64_t blocks = (first.args.iterations + 7) / 8;
  EXPECT_NE(first.args.iterations % 8, 0) << "choose a problem that ends inside a block";
  EXPECT_EQ(mock::counted("graph launches") - replays, 8 * blocks);
  // The third party's run was called twice: once captured, once for the first residual.
  EXPECT_EQ(mock::counted("captures") - captures, 1);
  EXPECT_EQ(mock::counted("fused runs") - fused_runs, 2);

  // Another right-hand side: the same session, the same graph.
  std::vector<double> c(a.n, 1.0);
  expect_solved(solve(engine, a, c), a, c);
  EXPECT_EQ(mock::counted("captures") - captures, 1);
}

TEST_F(Engines, BothEnginesAndBothAlternativesGiveTheSameSolution) {
  const Context context = open_context("deferred");
  const Csr a = five_point(12, 9);
  const Matrix matrix = make_matrix(context, a);
  const std::vector<double> b = some_rhs(a.n);
  std::vector<std::vector<double>> solutions;
  for (const auto &[kernel, refuse_fused] : {std::pair(persistent, 0.0), {graph, 0.0}, {graph, 1.0}}) {
    mock::set_knob("fused.refuse", refuse_fused);
    ASSERT_EQ(sxt_context_force(context.get(), SXT_KIND_PCG, kernel), SXT_OK) << sxt_last_error(context.get());
    const Selection engine = select(context, pcg_query().m.q, matrix);
    ASSERT_STREQ(sxt_selection_kernel(engine.get()), kernel);
    const Solve solved = solve(engine, a, b);
    expect_solved(solved, a, b);
    solutions.push_back(solved.x);
  }
  for (std::size_t i = 0; i < solutions[0].size(); ++i) {
    EXPECT_NEAR(solutions[1][i], solutions[0][i], 1e-9);
    EXPECT_NEAR(solutions[2][i], solutions[0][i], 1e-9);
  }
}

// The alternatives of a slot: their kernels, and the explanation.
TEST_F(Engines, TwoKernelsTakeThePlaceOfTheFusedOneWhenItRefuses) {
  mock::set_knob("fused.refuse", 1);
  const Context context = open_context("deferred");
  const Csr a = five_point(20, 20);
  const Matrix matrix = make_matrix(context, a);
  const Selection engine = select(context, pcg_query().m.q, matrix);
  ASSERT_STREQ(sxt_selection_kernel(engine.get()), graph);
  EXPECT_THAT(parts_of(engine), ElementsAre("spmv.dia.deferred", "multidot.deferred"));
  const std::vector<double> b = some_rhs(a.n);
  expect_solved(solve(engine, a, b), a, b);

  sxt_spmv_dots_query fused{};
  fused.m.m.q = {{sizeof fused, SXT_KIND_SPMV_DOTS}, 1, SXT_QUERY_MATRIX, SXT_F64};
  fused.m.n_rhs = 1;
  fused.n_dots = 1;
  EXPECT_EQ(try_select(context, fused.m.m.q, matrix), SXT_E_NO_KERNEL);
  EXPECT_THAT(sxt_last_error(context.get()), HasSubstr("the fused product has its day off"));
}

TEST_F(Engines, TwoKernelsTakeThePlaceOfTheFusedOneWhenTheyAreCheaper) {
  const Context context = open_context("deferred");
  const Csr a = five_point(20, 20);
  const Matrix matrix = make_matrix(context, a);
  const Selection before = select(context, pcg_query().m.q, matrix);
  EXPECT_THAT(parts_of(before), ElementsAre("spmv_dots.dia.deferred"));
  mock::set_knob("fused.factor", 10);
  const Selection after = select(context, pcg_query().m.q, matrix);
  ASSERT_STREQ(sxt_selection_kernel(after.get()), graph);
  EXPECT_THAT(parts_of(after), ElementsAre("spmv.dia.deferred", "multidot.deferred"));
  // The engine's own prediction is built on its parts': it follows them.
  double fused_s = 0, pair_s = 0;
  sxt_selection_cost(before.get(), nullptr, &fused_s);
  sxt_selection_cost(after.get(), nullptr, &pair_s);
  EXPECT_NEAR(fused_s, 100 * (1e-7 + 5e-7 + 0.9e-9 * 400), 1e-12);
  EXPECT_NEAR(pair_s, 100 * (1e-7 + 8e-7 + 1.2e-9 * 400), 1e-12);
}

TEST_F(Engines, ASlotTakesNoKernelThatMayNotBeCaptured) {
  const Context context = open_context("deferred");
  const Csr a = five_point(20, 20);
  const Matrix matrix = make_matrix(context, a);
  sxt_spmv_dots_query query{};
  query.m.m.q = {{sizeof query, SXT_KIND_SPMV_DOTS}, 1, SXT_QUERY_MATRIX, SXT_F64};
  query.m.n_rhs = 1;
  query.n_dots = 1;
  // For a direct query the cheaper kernel is chosen; the engine's slot does not accept it.
  const Selection alone = select(context, query.m.m.q, matrix);
  EXPECT_STREQ(sxt_selection_kernel(alone.get()), "spmv_dots.dia.eager");
  query.m.m.q.flags |= SXT_QUERY_CAPTURABLE;
  const Selection captured = select(context, query.m.m.q, matrix);
  EXPECT_STREQ(sxt_selection_kernel(captured.get()), "spmv_dots.dia.deferred");
  EXPECT_THAT(reason_for(captured, "spmv_dots.dia.eager"), HasSubstr("captured graph"));
}

TEST_F(Engines, APartWithoutAModelCanBeForcedIntoASlot) {
  const Context context = open_context("deferred");
  const Csr a = five_point(20, 20);
  const Matrix matrix = make_matrix(context, a);
  mock::set_knob("fused.refuse", 1);
  ASSERT_EQ(sxt_context_force(context.get(), "sxt.multidot/1", "multidot.unpriced"), SXT_OK);
  ASSERT_EQ(sxt_context_force(context.get(), SXT_KIND_PCG, graph), SXT_OK);
  const Selection engine = select(context, pcg_query().m.q, matrix);
  ASSERT_NE(engine, nullptr);
  EXPECT_THAT(parts_of(engine), ElementsAre("spmv.dia.deferred", "multidot.unpriced"));
  const std::vector<double> b = some_rhs(a.n);
  expect_solved(solve(engine, a, b), a, b);
}

TEST_F(Engines, AnEngineFindsThatAMatrixIsIndefinite) {
  const Context context = open_context("deferred");
  const Csr a = five_point(20, 20, -5);
  const Matrix matrix = make_matrix(context, a);
  for (const char *kernel : {persistent, graph}) {
    ASSERT_EQ(sxt_context_force(context.get(), SXT_KIND_PCG, kernel), SXT_OK);
    const Selection engine = select(context, pcg_query().m.q, matrix);
    const Solve solved = solve(engine, a, some_rhs(a.n));
    EXPECT_EQ(solved.args.reason, SXT_REASON_A_INDEFINITE) << kernel;
    for (const double x : solved.x) EXPECT_TRUE(std::isfinite(x));
  }
}

TEST_F(Engines, TheExplanationListsBothEnginesAndTheirParts) {
  const Context context = open_context("deferred");
  const Matrix matrix = make_matrix(context, five_point(20, 20));
  const Selection engine = select(context, pcg_query().m.q, matrix);
  const nlohmann::json told = explain(engine);
  std::vector<std::string> kernels;
  for (const auto &line : told["candidates"]) kernels.push_back(line["kernel"]);
  for (const char *kernel : {persistent, graph, "spmv_dots.dia.deferred", "spmv_dots.dia.eager"})
    EXPECT_THAT(kernels, Contains(kernel));
  EXPECT_THAT(reason_for(engine, persistent), HasSubstr("times that of pcg.graph.deferred"));
}

}  // namespace
}  // namespace composition
