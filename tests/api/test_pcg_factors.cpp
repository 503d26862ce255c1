// SPDX-License-Identifier: BSD-3-Clause
// Products with a preconditioner's factors: named by explain, forced, planned, refreshed, and left to the
// preconditioner where other products are not faster.
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "sextant/plugin/kinds/spmv.h"
#include "tests/api/support.hpp"

namespace api_test {
namespace {

const char *const factored[] = {"fsai", "fsai-2", "ssor-ai"};
// One that the model rarely chooses.
const char *const forced = "spmv.sell.slices.cpu";

Pcg create(const Matrix &a, const char *method, double solves = 1, const char *engine = nullptr) {
  sxt_pcg_options options = pcg_options();
  options.preconditioner = method;
  options.expected_solves = solves;
  options.engine = engine;
  options.rtol = 1e-9;
  return make<Pcg>([&](sxt_pcg **out) { return sxt_pcg_create(a.get(), &options, out); });
}

std::vector<double> right_side(const Csr &a) {
  std::vector<double> b(static_cast<std::size_t>(a.rows));
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = std::cos(static_cast<double>(i));
  return b;
}

std::vector<double> solve(const Pcg &pcg, const Csr &a, std::int64_t *iterations = nullptr) {
  const std::vector<double> b = right_side(a);
  std::vector<double> x(b.size());
  sxt_pcg_report report = new_report();
  EXPECT_EQ(sxt_pcg_solve_array(pcg.get(), a.rows, b.data(), x.data(), nullptr, &report), SXT_OK)
      << sxt_last_error(nullptr);
  EXPECT_LE(relative_residual(a, b, x), 1.0001e-9);
  if (iterations) *iterations = report.iterations;
  return x;
}

// The number of factors by which this kernel multiplies, in the plan.
int factors_by(const Pcg &pcg, const std::string &kernel) {
  const std::string text = explain(pcg);
  return (text.find("pcg/M/G: " + kernel) != std::string::npos) +
         (text.find("pcg/M/G^T: " + kernel) != std::string::npos);
}

TEST(PcgFactors, AForcedKernelMultipliesAndIsNamed) {
  const Context context = cpu();
  const Csr a = laplacian(25, 0.01);
  const Matrix matrix = a.matrix(context);
  for (const char *method : factored) {
    SCOPED_TRACE(method);
    const Pcg own = create(matrix, method);
    EXPECT_EQ(factors_by(own, forced), 0);
    ASSERT_EQ(sxt_context_force(context.get(), SXT_KIND_SPMV, forced), SXT_OK);
    const Pcg pcg = create(matrix, method);
    EXPECT_EQ(factors_by(pcg, forced), 2) << explain(pcg);
    EXPECT_NE(explain(pcg, SXT_JSON).find("pcg/M/G^T"), std::string::npos);
    std::int64_t alone = 0, together = 0;
    const std::vector<double> x = solve(own, a, &alone), y = solve(pcg, a, &together);
    EXPECT_NEAR(static_cast<double>(alone), static_cast<double>(together), 1);
    for (std::size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(x[i], y[i], 1e-6);
    ASSERT_EQ(sxt_context_force(context.get(), SXT_KIND_SPMV, nullptr), SXT_OK);
  }
}

TEST(PcgFactors, FollowNewValues) {
  const Context context = cpu();
  Csr a = laplacian(20, 0.01);
  ASSERT_EQ(sxt_context_force(context.get(), SXT_KIND_SPMV, forced), SXT_OK);
  for (const char *method : factored) {
    SCOPED_TRACE(method);
    const Matrix matrix = a.matrix(context);
    const Pcg pcg = create(matrix, method);
    solve(pcg, a);
    a = a.renewed();
    a.update(matrix);
    std::int64_t refreshed = 0, fresh = 0;
    solve(pcg, a, &refreshed);
    solve(create(a.matrix(context), method), a, &fresh);
    // With old factors it would take many more. (SSOR keeps its omega.)
    EXPECT_NEAR(static_cast<double>(refreshed), static_cast<double>(fresh), 3);
  }
}

TEST(PcgFactors, AreInSavedPlans) {
  const Csr a = laplacian(25, 0.01);
  const std::string path = testing::TempDir() + "sextant_factor_plan_" + std::to_string(getpid()) + ".toml";
  {
    const Context context = cpu();
    ASSERT_EQ(sxt_context_force(context.get(), SXT_KIND_SPMV, forced), SXT_OK);
    const Pcg pcg = create(a.matrix(context), "fsai");
    ASSERT_EQ(sxt_plan_save(context.get(), path.c_str()), SXT_OK);
  }
  const Context context = cpu();
  ASSERT_EQ(sxt_plan_load(context.get(), path.c_str(), 0), SXT_OK) << last_error(context);
  const Pcg pcg = create(a.matrix(context), "fsai");
  EXPECT_EQ(factors_by(pcg, forced), 2) << explain(pcg);
  solve(pcg, a);
  std::remove(path.c_str());
}

TEST(PcgFactors, AreLeftToThePreconditionerWhereAskingCostsMore) {
  const Context context = cpu();
  const Csr a = laplacian(10, 0.1);
  const Pcg pcg = create(a.matrix(context), "fsai");
  EXPECT_NE(explain(pcg).find("G by its own loop: to ask for another"), std::string::npos) << explain(pcg);
  EXPECT_EQ(explain(pcg).find("pcg/M/G:"), std::string::npos);
  solve(pcg, a);
}

// In a deterministic context the kernel that multiplies by the factors does not depend on the expected number of
// solves.
TEST(PcgFactors, HaveTheSameBitsForAnyExpectedSolves) {
  const Context context = cpu(2, true);
  const Csr a = laplacian(40, 0.01);
  const Matrix matrix = a.matrix(context);
  for (const char *method : factored) {
    SCOPED_TRACE(method);
    const std::vector<double> first = solve(create(matrix, method, 1, "pcg.host-loop.classical.cpu"), a),
                              often = solve(create(matrix, method, 1e6, "pcg.host-loop.classical.cpu"), a);
    EXPECT_EQ(first, often);
  }
}

}  // namespace
}  // namespace api_test
