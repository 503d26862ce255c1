// SPDX-License-Identifier: BSD-3-Clause
// The number of iterations that a set-up expects, its source, and its place in the report.
#include <cmath>
#include <cstdint>
#include <string>

#include "tests/api/support.hpp"

namespace api_test {
namespace {

struct Outcome {
  sxt_pcg_report report;
  std::string explanation;
};

Outcome solve(const Csr &a, const sxt_pcg_options &options) {
  const Context context = cpu();
  const Matrix matrix = a.matrix(context);
  const Pcg pcg = make<Pcg>([&](sxt_pcg **out) { return sxt_pcg_create(matrix.get(), &options, out); });
  std::vector<double> b(static_cast<std::size_t>(a.rows)), x(b.size());
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = std::sin(static_cast<double>(i * i % 1009));
  Outcome out{new_report(), explain(pcg)};
  EXPECT_EQ(sxt_pcg_solve_array(pcg.get(), a.rows, b.data(), x.data(), nullptr, &out.report), SXT_OK)
      << last_error(context);
  return out;
}

sxt_pcg_options with_probe(std::int32_t iterations) {
  sxt_pcg_options options = pcg_options();
  options.probe = iterations;
  return options;
}

TEST(PcgPlanTest, AProbeTellsEasyFromHard) {
  const Outcome hard = solve(laplacian(60), with_probe(40)), easy = solve(laplacian(60, 1), with_probe(40));
  for (const Outcome &each : {hard, easy}) {
    const auto taken = static_cast<double>(each.report.iterations);
    EXPECT_GT(each.report.predicted_iterations, taken / 2);
    EXPECT_LT(each.report.predicted_iterations, taken * 2.2);
    EXPECT_NE(each.explanation.find("of a probe"), std::string::npos) << each.explanation;
  }
  EXPECT_EQ(hard.report.probe_iterations, 40);
  EXPECT_GT(hard.report.probe_seconds, 0);
  EXPECT_LE(hard.report.probe_seconds, hard.report.setup_seconds);
  EXPECT_GT(hard.report.predicted_iterations, 3 * easy.report.predicted_iterations);
}

TEST(PcgPlanTest, AnEasySystemEndsTheProbe) {
  const Outcome outcome = solve(laplacian(30, 40), with_probe(1000));
  EXPECT_LT(outcome.report.probe_iterations, 40);
  EXPECT_NEAR(outcome.report.predicted_iterations, static_cast<double>(outcome.report.iterations), 2);
}

TEST(PcgPlanTest, WithoutAProbeTheAssumptionIsNamed) {
  const Outcome outcome = solve(laplacian(30), with_probe(-1));
  EXPECT_EQ(outcome.report.probe_iterations, 0);
  EXPECT_EQ(outcome.report.predicted_iterations, 90);
  EXPECT_NE(outcome.explanation.find("assumed: 3 sqrt(n)"), std::string::npos) << outcome.explanation;
}

TEST(PcgPlanTest, TheCallersNumberIsTaken) {
  sxt_pcg_options options = with_probe(40);
  options.expected_iterations = 77;
  const Outcome outcome = solve(laplacian(30), options);
  EXPECT_EQ(outcome.report.predicted_iterations, 77);
  EXPECT_EQ(outcome.report.probe_iterations, 0);
  EXPECT_NE(outcome.explanation.find("as the caller expects"), std::string::npos);
}

// A tiny system is solved before a probe would give an estimate.
TEST(PcgPlanTest, AProbeThatCostsTooMuchIsLeftOut) {
  const Outcome outcome = solve(laplacian(4), pcg_options());
  EXPECT_EQ(outcome.report.probe_iterations, 0);
  EXPECT_NE(outcome.explanation.find("of a probe would cost"), std::string::npos) << outcome.explanation;
}

TEST(PcgPlanTest, AnIndefiniteMatrixIsNoticedByTheProbe) {
  const Context context = cpu();
  const Matrix matrix = laplacian(20, -1).matrix(context);
  sxt_pcg_options options = with_probe(60);
  const Pcg pcg = make<Pcg>([&](sxt_pcg **out) { return sxt_pcg_create(matrix.get(), &options, out); });
  EXPECT_NE(explain(pcg).find("the probe ended early: p'Ap is "), std::string::npos) << explain(pcg);
}

TEST(PcgPlanTest, TheSamePlanForTheSameMatrix) {
  const Outcome first = solve(laplacian(50), with_probe(20)), second = solve(laplacian(50), with_probe(20));
  EXPECT_EQ(first.report.predicted_iterations, second.report.predicted_iterations);
}

}  // namespace
}  // namespace api_test
