// SPDX-License-Identifier: BSD-3-Clause
// Solves in a graph that the application captures: what a replay computes with other right-hand sides, its report, how
// it ends where it cannot converge, and what is refused.
#include <cmath>
#include <cstdint>
#include <functional>

#include "pcg.hpp"

namespace {

using namespace gpu_test;
using testing::HasSubstr;

class PcgRecord : public PcgGpu {
 protected:
  void SetUp() override {
    PcgGpu::SetUp();
    if (IsSkipped()) return;
    ASSERT_EQ(ops().stream_create(handle(), &stream_), SXT_OK);
    ASSERT_EQ(sxt_context_set_stream(context_.get(), stream_), SXT_OK);
    report_ = sextant::DeviceBuffer(device(), sizeof(sxt_pcg_report), SXT_SPACE_PINNED);
    report() = new_report();
  }
  void TearDown() override {
    if (graph_) ops().graph_destroy(handle(), graph_);
    report_ = sextant::DeviceBuffer();
    if (stream_) {
      EXPECT_EQ(sxt_context_set_stream(context_.get(), nullptr), SXT_OK);
      ops().stream_destroy(handle(), stream_);
    }
    PcgGpu::TearDown();
  }
  sxt_pcg_report &report() { return *report_.as<sxt_pcg_report>(); }

  // What is left in a graph by body.
  void capture(const std::function<void()> &body) {
    ASSERT_EQ(ops().capture_begin(handle(), stream_), SXT_OK);
    body();
    ASSERT_EQ(ops().capture_end(handle(), stream_, &graph_), SXT_OK);
  }
  void replay() {
    ASSERT_EQ(ops().graph_launch(handle(), stream_, graph_), SXT_OK);
    ASSERT_EQ(sxt_context_synchronize(context_.get()), SXT_OK);
  }
  // One ordinary solve, for its memory, then the same one captured.
  void record(const Pcg &pcg, const Vector &b, const Vector &x, const sxt_solve_options *options = nullptr) {
    ASSERT_GE(sxt_pcg_solve(pcg.get(), b.get(), x.get(), options, nullptr), SXT_OK) << sxt_last_error(context_.get());
    capture([&] {
      EXPECT_EQ(sxt_pcg_solve(pcg.get(), b.get(), x.get(), options, &report()), SXT_OK)
          << sxt_last_error(context_.get());
      EXPECT_EQ(report().reason, SXT_REASON_NONE);
    });
  }
  void write(const Vector &to, const std::vector<double> &values) {
    ASSERT_EQ(sxt_vector_write(to.get(), values.data()), SXT_OK);
  }

  void *stream_ = nullptr, *graph_ = nullptr;
  sextant::DeviceBuffer report_;
};

constexpr const char *recording[] = {"pcg.graph.predict-recompute.cuda", "pcg.graph.chronopoulos-gear.cuda",
                                     "pcg.graph.classical.cuda"};

TEST_F(PcgRecord, ReplaysSolveForTheRightHandSideOfTheMoment) {
  for (const char *engine : recording)
    for (const Csr &a : {laplacian(60), badly_scaled(30), uneven(3000)}) {
      const Matrix matrix = matrix_of(a);
      const Pcg pcg = create(matrix, engine);
      std::vector<double> b = waves(a.rows), x(b.size(), 0);
      const Vector rhs = on_device(b, SXT_F64), solution = on_device(x, SXT_F64);
      record(pcg, rhs, solution);
      for (int step = 0; step < 3; ++step) {
        write(rhs, b);
        replay();
        EXPECT_EQ(report().reason, SXT_REASON_CONVERGED) << engine << ", " << a.rows << " rows";
        EXPECT_GT(report().iterations, 5);
        const double residual = relative_residual(a, b, values_of(solution));
        // Rounding is visible in the residuals of the badly scaled one.
        EXPECT_LE(residual, 1.2e-9) << engine;
        EXPECT_NEAR(report().true_relative_residual, residual, 2e-10);
        for (std::size_t i = 0; i < b.size(); ++i)
          b[i] = std::sin(0.1 * static_cast<double>((step + 2) * i)) * (step + 1);
      }
      ops().graph_destroy(handle(), graph_);
      graph_ = nullptr;
    }
}

// A ring, whose rows sum to 0: b has a part that A cannot reach, and iterates grow without end.
TEST_F(PcgRecord, AFailedReplayGivesBackNothingWorseThanZero) {
  Csr ring;
  const std::int32_t n = 40;
  ring.rows = ring.cols = n;
  for (std::int32_t i = 0; i < n; ++i) {
    for (std::int32_t j = 0; j < n; ++j)
      if (i == j || j == (i + 1) % n || i == (j + 1) % n) ring.entry(j, i == j ? 2 : -1);
    ring.end_row();
  }
  const Matrix matrix = matrix_of(ring);
  std::vector<double> b(n, 0.0);
  b[3] = 1;
  for (const std::int64_t iterations : {20, 200, 2000}) {
    sxt_pcg_options options = pcg_options();
    options.engine = recording[0];
    options.max_iterations = iterations;
    const Pcg pcg = api_test::make<Pcg>([&](sxt_pcg **out) { return sxt_pcg_create(matrix.get(), &options, out); });
    const Vector rhs = on_device(b, SXT_F64), solution = on_device(std::vector<double>(n, 7.0), SXT_F64);
    record(pcg, rhs, solution);
    replay();
    EXPECT_NE(report().reason, SXT_REASON_CONVERGED) << iterations;
    EXPECT_LE(relative_residual(ring, b, values_of(solution)), 1 + 1e-12) << iterations;
    EXPECT_LE(report().true_relative_residual, 1 + 1e-12) << iterations;
    ops().graph_destroy(handle(), graph_);
    graph_ = nullptr;
  }
}

// b and x are in the caller's order at every replay, for any order that the engine uses.
TEST_F(PcgRecord, ReplaysOfARenumberedSystemKeepTheCallersOrder) {
  const Csr a = shuffled(laplacian(60, 0.01));
  const Matrix matrix = matrix_of(a);
  for (const char *preconditioner : {"none", "jacobi"}) {
    sxt_pcg_options options = pcg_options();
    options.engine = recording[0];
    options.preconditioner = preconditioner;
    options.rtol = 1e-9;
    options.reorder = 1;
    const Pcg pcg = api_test::make<Pcg>([&](sxt_pcg **out) { return sxt_pcg_create(matrix.get(), &options, out); });
    for (const bool guess : {false, true}) {
      std::vector<double> b = waves(a.rows), x(b.size(), 0.5);
      const Vector rhs = on_device(b, SXT_F64), solution = on_device(x, SXT_F64);
      sxt_solve_options solving = api_test::solve_options();
      solving.use_initial_guess = guess;
      record(pcg, rhs, solution, &solving);
      for (double &each : b) each = 1 - each;
      write(rhs, b);
      write(solution, x);
      replay();
      EXPECT_EQ(report().reason, SXT_REASON_CONVERGED) << preconditioner;
      EXPECT_LE(relative_residual(a, b, values_of(solution)), 1.2e-9) << preconditioner << guess;
      ops().graph_destroy(handle(), graph_);
      graph_ = nullptr;
    }
  }
}

// As many iterations as a solve that the host controls, and the same bits each time.
TEST_F(PcgRecord, TakesAsManyIterationsAsAnOrdinarySolve) {
  const Csr a = laplacian(80);
  const Matrix matrix = matrix_of(a);
  for (const char *engine : recording)
    for (const char *preconditioner : {"none", "fsai"}) {
      SCOPED_TRACE(std::string(engine) + ", " + preconditioner);
      const Pcg pcg = create(matrix, engine, preconditioner);
      const std::vector<double> b = waves(a.rows);
      std::vector<double> x(b.size(), 0);
      const Vector rhs = on_device(b, SXT_F64), solution = on_device(x, SXT_F64);
      const sxt_pcg_report usual = solve(pcg, b, x);
      record(pcg, rhs, solution);
      replay();
      EXPECT_EQ(report().reason, SXT_REASON_CONVERGED);
      EXPECT_NEAR(static_cast<double>(report().iterations), static_cast<double>(usual.iterations), 3);
      const std::vector<double> first = values_of(solution);
      EXPECT_LE(relative_residual(a, b, first), 1.2e-9);
      replay();
      EXPECT_EQ(values_of(solution), first);
      ops().graph_destroy(handle(), graph_);
      graph_ = nullptr;
    }
}

TEST_F(PcgRecord, AGuessIsUsedAndGoesOn) {
  const Csr a = laplacian(50);
  const Matrix matrix = matrix_of(a);
  const Pcg pcg = create(matrix, recording[0]);
  const std::vector<double> b = waves(a.rows);
  const Vector rhs = on_device(b, SXT_F64), solution = on_device(std::vector<double>(b.size(), 0), SXT_F64);
  sxt_solve_options options = api_test::solve_options();
  options.use_initial_guess = 1;
  options.max_iterations = 20;
  record(pcg, rhs, solution, &options);
  write(solution, std::vector<double>(b.size(), 0));
  int replays = 0;
  do replay();
  while (report().reason == SXT_REASON_ITERATION_LIMIT && report().iterations == 20 && ++replays < 200);
  EXPECT_EQ(report().reason, SXT_REASON_CONVERGED);
  EXPECT_GT(replays, 1) << "the limit of 20 iterations was not met";
  EXPECT_LE(relative_residual(a, b, values_of(solution)), 1.0001e-9);
}

// b = 0 has the solution 0 for every guess, and a guess that overflows is returned unchanged.
TEST_F(PcgRecord, AGuessIsDroppedForZeroAndKeptWhereNothingBetterIsFound) {
  const Csr a = laplacian(20);
  const Matrix matrix = matrix_of(a);
  for (const char *engine : recording) {
    const Pcg pcg = create(matrix, engine, "none");
    const std::vector<double> b = waves(a.rows), zero(b.size(), 0), huge(b.size(), 1e308);
    const Vector rhs = on_device(b, SXT_F64), solution = on_device(zero, SXT_F64);
    sxt_solve_options options = api_test::solve_options();
    options.use_initial_guess = 1;
    record(pcg, rhs, solution, &options);
    write(rhs, zero);
    write(solution, b);
    replay();
    EXPECT_EQ(report().reason, SXT_REASON_CONVERGED) << engine;
    EXPECT_EQ(report().iterations, 0);
    EXPECT_EQ(values_of(solution), zero) << engine;
    write(rhs, b);
    write(solution, huge);
    replay();
    EXPECT_EQ(report().reason, SXT_REASON_NOT_A_NUMBER) << engine;
    EXPECT_EQ(values_of(solution), huge) << engine;
    ops().graph_destroy(handle(), graph_);
    graph_ = nullptr;
  }
}

TEST_F(PcgRecord, ZeroIndefiniteAndNaNHaveTheirReasons) {
  const Csr a = laplacian(20, -1);  // indefinite
  const Matrix matrix = matrix_of(a);
  for (const char *engine : recording) {
    const Pcg pcg = create(matrix, engine);
    std::vector<double> b = waves(a.rows);
    const Vector rhs = on_device(b, SXT_F64), solution = on_device(b, SXT_F64);
    record(pcg, rhs, solution);
    replay();
    EXPECT_EQ(report().reason, SXT_REASON_A_INDEFINITE) << engine;
    for (const double each : values_of(solution)) ASSERT_TRUE(std::isfinite(each)) << engine;
    write(rhs, std::vector<double>(b.size(), 0));
    replay();
    EXPECT_EQ(report().reason, SXT_REASON_CONVERGED) << engine;
    EXPECT_EQ(report().iterations, 0);
    EXPECT_EQ(values_of(solution), std::vector<double>(b.size(), 0));
    b[3] = std::nan("");
    write(rhs, b);
    replay();
    EXPECT_EQ(report().reason, SXT_REASON_NOT_A_NUMBER) << engine;
    write(rhs, std::vector<double>(b.size(), 1e-170));  // its square is 0
    replay();
    EXPECT_EQ(report().reason, SXT_REASON_BREAKDOWN) << engine;
    ops().graph_destroy(handle(), graph_);
    graph_ = nullptr;
  }
}

// A graph of a matrix stored without its diagonal of ones cannot follow values with another diagonal, and a message
// says so.
TEST_F(PcgRecord, ADiagonalThatIsNoLongerOnesIsReportedOnce) {
  const Csr many = laplacian(30, 1);
  Csr ones = many;
  for (double &each : ones.values) each /= 5;
  const Matrix matrix = matrix_of(ones);
  const Pcg pcg = create(matrix, recording[0], "none", 1e-9, 0, "dia-symmetric");
  const std::vector<double> b = waves(many.rows);
  const Vector rhs = on_device(b, SXT_F64), solution = on_device(b, SXT_F64);
  record(pcg, rhs, solution);
  many.update(matrix);
  EXPECT_EQ(sxt_pcg_solve(pcg.get(), rhs.get(), solution.get(), nullptr, nullptr), SXT_E_STATE);
  EXPECT_THAT(sxt_last_error(context_.get()), HasSubstr("capture it anew"));
  EXPECT_EQ(sxt_pcg_solve(pcg.get(), rhs.get(), solution.get(), nullptr, nullptr), SXT_OK);
  EXPECT_LE(relative_residual(many, b, values_of(solution)), 1.0001e-9);
}

// A solve without iterations runs no engine. Still, replays and captures after it use the new values, or a message says
// that the graph cannot follow.
TEST_F(PcgRecord, AfterNewValuesASolveWithoutIterationsBringsAllUpToDate) {
  const Csr first = laplacian(40, 1), second = laplacian(40, 2), third = laplacian(40, 3);
  for (const char *engine : recording)
    for (const char *preconditioner : {"none", "jacobi", "fsai"}) {
      SCOPED_TRACE(std::string(engine) + " " + preconditioner);
      const Matrix matrix = matrix_of(first);
      const Pcg pcg = create(matrix, engine, preconditioner);
      const std::vector<double> b = waves(first.rows), zeros(b.size(), 0);
      const Vector rhs = on_device(b, SXT_F64), none = on_device(zeros, SXT_F64), solution = on_device(b, SXT_F64);
      const auto solve = [&](const Vector &of) {
        return sxt_pcg_solve(pcg.get(), of.get(), solution.get(), nullptr, nullptr);
      };
      const auto forget = [&] {
        ops().graph_destroy(handle(), graph_);
        graph_ = nullptr;
      };
      record(pcg, rhs, solution);
      second.update(matrix);
      const sxt_status told = solve(none);
      if (told == SXT_OK) {
        replay();
        EXPECT_LE(relative_residual(second, b, values_of(solution)), 1.2e-9) << "by a graph of the values before";
      } else {
        EXPECT_EQ(told, SXT_E_STATE);
        EXPECT_THAT(sxt_last_error(context_.get()), HasSubstr("capture it anew"));
      }
      forget();
      third.update(matrix);
      capture([&] { EXPECT_EQ(solve(rhs), SXT_E_STATE) << "nothing has brought them into its states"; });
      forget();
      ASSERT_EQ(solve(none), SXT_OK) << sxt_last_error(context_.get());
      sxt_status captured = SXT_OK;  // a solve that ran no engine need not have allocated memory for a captured one
      capture([&] { captured = solve(rhs); });
      if (captured == SXT_OK) {
        replay();
        EXPECT_LE(relative_residual(third, b, values_of(solution)), 1.2e-9) << "captured after new values";
      } else {
        EXPECT_EQ(captured, SXT_E_STATE);
      }
      forget();
    }
}

TEST_F(PcgRecord, WhatNeedsAHostIsRefusedAndLeavesTheCaptureWhole) {
  const Csr a = laplacian(20);
  const Matrix matrix = matrix_of(a);
  const Pcg pcg = create(matrix, recording[0]);
  const std::vector<double> b = waves(a.rows);
  const Vector rhs = on_device(b, SXT_F64), solution = on_device(b, SXT_F64);
  const auto refused = [&](const sxt_solve_options *options, sxt_pcg_report *to, sxt_status status, const char *word) {
    EXPECT_EQ(sxt_pcg_solve(pcg.get(), rhs.get(), solution.get(), options, to), status);
    EXPECT_THAT(sxt_last_error(context_.get()), HasSubstr(word));
  };
  capture([&] { refused(nullptr, nullptr, SXT_E_STATE, "solve once"); });
  ops().graph_destroy(handle(), graph_);
  graph_ = nullptr;
  EXPECT_EQ(sxt_pcg_solve(pcg.get(), rhs.get(), solution.get(), nullptr, nullptr), SXT_OK);
  sxt_solve_options options = api_test::solve_options();
  options.time_limit = 1;
  sxt_pcg_report on_the_heap = new_report();
  capture([&] {
    refused(&options, nullptr, SXT_E_NOT_SUPPORTED, "time_limit");
    refused(nullptr, &on_the_heap, SXT_E_ARGUMENT, "pinned");
    EXPECT_EQ(sxt_pcg_solve(pcg.get(), rhs.get(), solution.get(), nullptr, nullptr), SXT_OK);
  });
  write(solution, b);
  replay();
  EXPECT_LE(relative_residual(a, b, values_of(solution)), 1.0001e-9);
}

}  // namespace
