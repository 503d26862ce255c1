// SPDX-License-Identifier: BSD-3-Clause
// Why and where a solve stops: indefinite and broken problems, NaN, cancellation, and the requests of confirm and
// observe.
#include <cstdint>
#include <limits>

#include "test_parts.hpp"

using namespace pcg_test;

namespace {

const char *const recurrences[] = {"classical", "chronopoulos-gear", "predict-recompute"};

Solve<double> random_solve(const Matrix<double> &a, double relative = 1e-10) {
  Solve<double> s;
  s.b = noise_vector<double>(a.n, 9);
  s.x.assign(s.b.size(), 0);
  s.tolerance = relative * norm(s.b);
  return s;
}

// x after exactly k iterations.
std::vector<double> iterate(const Engine<double> &engine, Solve<double> s, std::int64_t k) {
  s.max_iterations = k;
  s.spoil_product = 0;
  EXPECT_EQ(engine.solve(s), SXT_OK);
  EXPECT_EQ(s.args.iterations, k);
  return s.x;
}

TEST(HostLoopStops, IndefiniteMatrixIsFoundWhereClassicalFindsIt) {
  const std::vector<Matrix<double>> matrices = {grid<double>(
                                                    12, [](std::int32_t) { return 1.0; }, 0.5),
                                                grid<double>(
                                                    12, [](std::int32_t) { return 1.0; }, 2),
                                                tridiagonal<double>(50, -2, 1)};
  for (const Matrix<double> &a : matrices) {
    std::int64_t found = 0;
    for (const char *name : recurrences) {
      SCOPED_TRACE(name);
      const Engine<double> engine(name, a);
      Solve<double> s = random_solve(a);
      ASSERT_EQ(engine.solve(s), SXT_OK);
      EXPECT_EQ(s.args.reason, SXT_REASON_A_INDEFINITE);
      if (found == 0) found = s.args.iterations;
      EXPECT_EQ(s.args.iterations, found);
      EXPECT_EQ(s.x, iterate(engine, random_solve(a), found - 1));
      EXPECT_NEAR(s.args.residual, true_residual(a, s.b, s.x), 1e-9 * s.args.residual);
    }
    EXPECT_GE(found, 1);
  }
  // The last matrix is negative definite: the very first direction shows it.
  Solve<double> s = random_solve(matrices.back());
  ASSERT_EQ(Engine<double>("classical", matrices.back()).solve(s), SXT_OK);
  EXPECT_EQ(s.args.iterations, 1);
}

TEST(HostLoopStops, NearlySingularMatrixIsNotCalledIndefiniteByRounding) {
  // Condition about 1e12: the Chronopoulos-Gear difference for p'Ap loses its sign long before p'Ap does.
  const Matrix<double> a = grid<double>(14, [](std::int32_t i) { return std::pow(10.0, 5 * noise(i)); });
  for (const char *name : recurrences) {
    SCOPED_TRACE(name);
    Solve<double> s = random_solve(a, 1e-13);
    s.max_iterations = 4000;
    s.confirm = [](std::int64_t, double, double *, sxt_reason *) { return SXT_CONFIRM_REPLACE; };
    ASSERT_EQ(Engine<double>(name, a).solve(s), SXT_OK);
    EXPECT_EQ(s.args.reason, SXT_REASON_ITERATION_LIMIT);
    for (const double value : s.x) ASSERT_TRUE(std::isfinite(value));
  }
}

TEST(HostLoopStops, ZeroMatrixHasNoCurvature) {
  const Matrix<double> a = tridiagonal<double>(10, 0, 0);
  for (const char *name : recurrences) {
    SCOPED_TRACE(name);
    Solve<double> s = random_solve(a);
    ASSERT_EQ(Engine<double>(name, a).solve(s), SXT_OK);
    EXPECT_EQ(s.args.reason, SXT_REASON_A_INDEFINITE);
    EXPECT_EQ(s.args.iterations, 1);
    EXPECT_EQ(s.x, std::vector<double>(10, 0.0));
  }
}

TEST(HostLoopStops, NaNInTheOperatorIsFoundInItsIterationAndNeverReachesX) {
  const Matrix<double> a = grid<double>(20);
  for (const char *name : recurrences) {
    for (const int k : {1, 2, 7}) {
      SCOPED_TRACE(std::string(name) + ", product " + std::to_string(k));
      const Engine<double> engine(name, a);
      Solve<double> s = random_solve(a);
      s.x_is_zero = true;  // so that product k belongs to iteration k
      const std::vector<double> good = iterate(engine, s, k - 1);
      s.spoil_product = k;
      ASSERT_EQ(engine.solve(s), SXT_OK);
      EXPECT_EQ(s.args.reason, SXT_REASON_NOT_A_NUMBER);
      EXPECT_EQ(s.args.iterations, k);
      EXPECT_EQ(s.x, good);
      EXPECT_TRUE(std::isfinite(s.args.residual));
    }
  }
}

TEST(HostLoopStops, NaNInBIsFoundAtIterationZero) {
  const Matrix<double> a = grid<double>(8);
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    for (const char *name : recurrences) {
      SCOPED_TRACE(name);
      Solve<double> s = random_solve(a);
      s.b[5] = bad;
      ASSERT_EQ(Engine<double>(name, a).solve(s), SXT_OK);
      EXPECT_EQ(s.args.reason, SXT_REASON_NOT_A_NUMBER);
      EXPECT_EQ(s.args.iterations, 0);
      EXPECT_EQ(s.x, std::vector<double>(s.b.size(), 0.0));
    }
  }
}

TEST(HostLoopStops, IndefinitePreconditionerIsNamed) {
  const Matrix<double> a = grid<double>(10);
  std::vector<double> negative(static_cast<std::size_t>(a.n), -0.25), mixed(negative.size(), 0.25);
  std::vector<double> broken(negative.size(), 0.25);
  for (std::size_t i = 0; i < mixed.size(); i += 2) mixed[i] = -0.3;
  broken[3] = std::numeric_limits<double>::quiet_NaN();
  for (const char *name : {"classical", "chronopoulos-gear"}) {
    SCOPED_TRACE(name);
    Solve<double> s = random_solve(a);
    ASSERT_EQ(Engine<double>(name, a, {.diagonal = &negative}).solve(s), SXT_OK);
    EXPECT_EQ(s.args.reason, SXT_REASON_M_INDEFINITE);
    EXPECT_EQ(s.args.iterations, 1);
    EXPECT_EQ(s.x, std::vector<double>(s.b.size(), 0.0));

    s = random_solve(a);
    ASSERT_EQ(Engine<double>(name, a, {.diagonal = &mixed}).solve(s), SXT_OK);
    EXPECT_EQ(s.args.reason, SXT_REASON_M_INDEFINITE);
    for (const double value : s.x) ASSERT_TRUE(std::isfinite(value));

    s = random_solve(a);
    ASSERT_EQ(Engine<double>(name, a, {.diagonal = &broken}).solve(s), SXT_OK);
    EXPECT_EQ(s.args.reason, SXT_REASON_NOT_A_NUMBER);
    EXPECT_EQ(s.args.iterations, 1);
  }
}

TEST(HostLoopStops, VanishingNumbersAreABreakdown) {
  // p'Ap is positive but below the normal numbers: a quotient by it is not reliable.
  const Matrix<double> a = tridiagonal<double>(6, 1e-310, 0);
  // r'r underflows to zero while r is not zero, and core does not take the answer.
  const Matrix<double> unit = tridiagonal<double>(6, 1, 0);
  for (const char *name : recurrences) {
    SCOPED_TRACE(name);
    Solve<double> s = random_solve(a);
    ASSERT_EQ(Engine<double>(name, a).solve(s), SXT_OK);
    EXPECT_EQ(s.args.reason, SXT_REASON_BREAKDOWN);
    EXPECT_EQ(s.args.iterations, 1);

    Solve<double> tiny = random_solve(unit);
    for (double &value : tiny.b) value *= 1e-200;
    tiny.confirm = [](std::int64_t, double, double *, sxt_reason *) { return SXT_CONFIRM_GO_ON; };
    ASSERT_EQ(Engine<double>(name, unit).solve(tiny), SXT_OK);
    EXPECT_EQ(tiny.args.reason, SXT_REASON_BREAKDOWN);
    EXPECT_EQ(tiny.x, std::vector<double>(6, 0.0));
  }
}

TEST(HostLoopStops, CancelAndObserveStopAtTheirIterate) {
  const Matrix<double> a = grid<double>(20);
  for (const char *name : recurrences) {
    SCOPED_TRACE(name);
    const Engine<double> engine(name, a);
    volatile std::int32_t cancel = 0;
    Solve<double> s = random_solve(a);
    s.observe = [&](std::int64_t k, double) { return cancel = k == 6, SXT_REASON_NONE; };
    const std::vector<double> good = iterate(engine, random_solve(a), 6);
    ASSERT_EQ(engine.solve(s, &cancel), SXT_OK);
    EXPECT_EQ(s.args.reason, SXT_REASON_CANCELLED);
    EXPECT_EQ(s.args.iterations, 6);
    EXPECT_EQ(s.x, good);

    s = random_solve(a);
    s.observe = [](std::int64_t k, double) -> sxt_reason { return k == 6 ? SXT_REASON_TIME_LIMIT : SXT_REASON_NONE; };
    ASSERT_EQ(engine.solve(s), SXT_OK);
    EXPECT_EQ(s.args.reason, SXT_REASON_TIME_LIMIT);
    EXPECT_EQ(s.args.iterations, 6);
    EXPECT_EQ(s.x, good);
    EXPECT_EQ(s.history.size(), 7u);
  }
}

TEST(HostLoopStops, ConfirmIsObeyed) {
  const Matrix<double> a = grid<double>(20);
  for (const char *name : recurrences) {
    SCOPED_TRACE(name);
    const Engine<double> engine(name, a);
    std::vector<double> asked;
    Solve<double> s = random_solve(a, 1e-4);
    confirm_in_turn(s, asked);
    ASSERT_EQ(engine.solve(s), SXT_OK);
    EXPECT_EQ(s.args.reason, SXT_REASON_STAGNATED);
    ASSERT_EQ(asked.size(), 4u);
    for (std::size_t i = 1; i < asked.size(); ++i)
      EXPECT_LE(asked[i], 1e-4 * std::pow(100.0, -double(i)) * norm(s.b) * 1.0001);
    EXPECT_EQ(s.args.replacements, 1);
    EXPECT_LT(true_residual(a, s.b, s.x), 2 * asked.back());
  }
}

TEST(HostLoopStops, AskingForReplacementForEverStillEnds) {
  const Matrix<double> a = grid<double>(20);
  for (const char *name : recurrences) {
    SCOPED_TRACE(name);
    Solve<double> s = random_solve(a, 0.5);
    s.max_iterations = 60;
    int asked = 0;
    s.confirm = [&](std::int64_t, double, double *, sxt_reason *reason) -> std::int32_t {
      if (++asked < 1000) return SXT_CONFIRM_REPLACE;
      return *reason = SXT_REASON_STAGNATED, SXT_CONFIRM_STOP;
    };
    ASSERT_EQ(Engine<double>(name, a).solve(s), SXT_OK);
    EXPECT_EQ(s.args.reason, SXT_REASON_ITERATION_LIMIT);
    // At most once before and once after the replacement of an iterate.
    EXPECT_LE(asked, 2 * 61);
    EXPECT_LE(s.args.replacements, 61);
    EXPECT_LT(s.args.residual, 1e-2 * norm(s.b));
  }
}

TEST(HostLoopStops, ReplacementRestartsWhereTheRecursionHadLied) {
  const Matrix<double> a = grid<double>(20);
  for (const char *name : recurrences) {
    SCOPED_TRACE(name);
    Solve<double> s = random_solve(a, 1e-9);
    spoil_tenth(a, s);
    ASSERT_EQ(Engine<double>(name, a).solve(s), SXT_OK);
    EXPECT_GT(s.args.iterations, 10);
    EXPECT_EQ(s.args.reason, SXT_REASON_CONVERGED);
    EXPECT_GE(s.args.replacements, 1);
    EXPECT_LE(true_residual(a, s.b, s.x), s.tolerance);
  }
}

TEST(HostLoopStops, BadArgsAndFailingPartsAreErrors) {
  const Matrix<double> a = grid<double>(5);
  const Engine<double> engine("classical", a);
  Solve<double> s = random_solve(a);
  s.tolerance = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(engine.solve(s), SXT_E_ARGUMENT);
  EXPECT_NE(Host::sentence.find("tolerance"), std::string::npos);
  s = random_solve(a);
  s.max_iterations = -1;
  EXPECT_EQ(engine.solve(s), SXT_E_ARGUMENT);

  // The status of a part that fails is returned unchanged.
  s = random_solve(a);
  s.spoil_product = -3;
  EXPECT_EQ(engine.solve(s), SXT_E_DEVICE);

  // No memory for the session: its status, and no leak.
  const int blocks = Host::blocks;
  Host::fail_after = 0;
  s = random_solve(a);
  EXPECT_EQ(engine.solve(s), SXT_E_MEMORY);
  Host::fail_after = -1;
  EXPECT_EQ(Host::blocks, blocks);
  EXPECT_EQ(engine.solve(s), SXT_OK);
  EXPECT_EQ(s.args.reason, SXT_REASON_CONVERGED);
}

}  // namespace
