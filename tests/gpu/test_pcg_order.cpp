// SPDX-License-Identifier: BSD-3-Clause
// Deterministic mode on a GPU: engines that run the same recurrence give the same bits, captured, launched one by one
// or in one cooperative launch, on every storage format that may be chosen; engines with another order of operations
// are refused.
#include <cstdint>
#include <string>

#include "pcg.hpp"

namespace {

using namespace gpu_test;
using testing::HasSubstr;

const char *const graph = "pcg.graph.predict-recompute.cuda", *const classical = "pcg.graph.classical.cuda";

struct Answer {
  std::vector<double> x, history;
  sxt_pcg_report report;
  std::string plan;
};

bool operator==(const Answer &a, const Answer &b) {
  return a.x == b.x && a.history == b.history && a.report.reason == b.report.reason &&
         a.report.iterations == b.report.iterations && a.report.replacements == b.report.replacements;
}

class PcgOrder : public PcgGpu {
 protected:
  void SetUp() override {
    context_ = open_context("cuda", 0, true);
    if (!context_) GTEST_SKIP() << "no GPU: " << sxt_last_error(nullptr);
  }
  Answer answer(const Matrix &matrix, const Csr &a, const char *engine, const char *format = nullptr, bool guess = true,
                double rtol = 1e-9, std::int64_t limit = 0) {
    sxt_pcg_options options = pcg_options();
    options.engine = engine;
    options.format = format;
    options.preconditioner = "jacobi";
    options.rtol = rtol;
    const Pcg pcg = api_test::make<Pcg>([&](sxt_pcg **out) { return sxt_pcg_create(matrix.get(), &options, out); });
    Answer out{std::vector<double>(static_cast<std::size_t>(a.rows)), std::vector<double>(3000), {}, {}};
    if (guess)
      for (std::size_t i = 0; i < out.x.size(); ++i) out.x[i] = 0.5 * static_cast<double>(i % 5);
    volatile std::int64_t length = 0;
    sxt_solve_options solving = api_test::solve_options();
    solving.use_initial_guess = guess;
    solving.max_iterations = limit;
    solving.history = out.history.data();
    solving.history_capacity = static_cast<std::int64_t>(out.history.size());
    solving.history_length = &length;
    out.report = solve(pcg, waves(a.rows), out.x, limit ? SXT_NOT_CONVERGED : SXT_OK, &solving);
    out.plan = api_test::explain(pcg);
    return out;
  }
};

TEST_F(PcgOrder, EnginesAndStoragesLeaveTheSameBits) {
  for (const Csr &a : {badly_scaled(70), uneven(5000), laplacian(90, 1e-4), laplacian(300, 1e-3)}) {
    const Matrix matrix = matrix_of(a);
    for (const bool guess : {true, false}) {
      SCOPED_TRACE(std::to_string(a.rows) + (guess ? " rows from a guess" : " rows from zero"));
      const Answer captured = answer(matrix, a, graph, "csr", guess);
      EXPECT_EQ(captured.report.reason, SXT_REASON_CONVERGED);
      EXPECT_GT(captured.report.confirmations, 1);  // so that a solve continued after it stagnated
      EXPECT_TRUE(captured == answer(matrix, a, cooperative, nullptr, guess)) << "one launch";
      for (const char *format : {"sell", "ell"})
        EXPECT_TRUE(captured == answer(matrix, a, graph, format, guess)) << format;
      const Answer steps = answer(matrix, a, classical, "csr", guess);
      EXPECT_TRUE(steps == answer(matrix, a, classical, "sell", guess)) << "classical";
      EXPECT_FALSE(steps == captured) << "recurrences round differently";
    }
  }
}

TEST_F(PcgOrder, DiagonalsToo) {
  const Csr a = laplacian(120, 1e-3);
  const Matrix matrix = matrix_of(a);
  const Answer csr = answer(matrix, a, graph, "csr"), dia = answer(matrix, a, graph, "dia");
  EXPECT_TRUE(csr == dia);
  EXPECT_TRUE(csr == answer(matrix, a, cooperative));
}

TEST_F(PcgOrder, EagerCapturedAndLaunchedLimitsAgree) {
  const Csr a = uneven(3000);
  const Matrix matrix = matrix_of(a);
  for (const std::int64_t limit : {1, 2, 7, 23})
    EXPECT_TRUE(answer(matrix, a, graph, "csr", true, 1e-14, limit) ==
                answer(matrix, a, cooperative, nullptr, true, 1e-14, limit))
        << limit;
  const Answer captured = answer(matrix, a, graph, "csr");
  void *const legacy = reinterpret_cast<void *>(1);  // cudaStreamLegacy
  ASSERT_EQ(sxt_context_set_stream(context_.get(), legacy), SXT_OK) << sxt_last_error(context_.get());
  const Answer eager = answer(matrix, a, graph, "csr");
  ASSERT_EQ(sxt_context_set_stream(context_.get(), nullptr), SXT_OK);
  EXPECT_TRUE(captured == eager);
}

TEST_F(PcgOrder, TheChoiceIsOneOfThem) {
  for (const Csr &a : {laplacian(60), uneven(20000)}) {
    const Matrix matrix = matrix_of(a);
    const Answer chosen = answer(matrix, a, nullptr);
    EXPECT_EQ(chosen.report.reason, SXT_REASON_CONVERGED);
    EXPECT_THAT(chosen.plan, HasSubstr("deterministic mode demands the one that all engines share"));
  }
  const Csr a = laplacian(60);
  const Matrix matrix = matrix_of(a);
  sxt_pcg_options options = pcg_options();
  options.engine = persistent;
  sxt_pcg *pcg = nullptr;
  EXPECT_LT(sxt_pcg_create(matrix.get(), &options, &pcg), 0);
  EXPECT_THAT(sxt_last_error(context_.get()), HasSubstr("it adds in an order of its own"));
  sxt_pcg_destroy(pcg);
}

// One kernel applies M in all engines; A and the inner products are summed in one order.
TEST_F(PcgOrder, PreconditionedSystemsRepeatTheirBits) {
  const Csr a = badly_scaled(60);
  const Matrix matrix = matrix_of(a);
  for (const char *method : {"fsai", "block-jacobi", "chebyshev"})
    for (const char *engine : {classical, "pcg.graph.chronopoulos-gear.cuda", "pcg.graph.predict-recompute.cuda"}) {
      const Pcg pcg = create(matrix, engine, method), other = create(matrix, engine, method);
      std::vector<double> first(static_cast<std::size_t>(a.rows)), again(first.size());
      const sxt_pcg_report report = solve(pcg, waves(a.rows), first);
      solve(other, waves(a.rows), again);
      EXPECT_EQ(report.reason, SXT_REASON_CONVERGED) << method;
      EXPECT_LE(relative_residual(a, waves(a.rows), first), 1.0001e-9) << method;
      EXPECT_EQ(first, again) << method << ", " << engine;
      EXPECT_THAT(api_test::explain(pcg), HasSubstr("multidot.tree.cuda"));
    }
}

}  // namespace
