// SPDX-License-Identifier: BSD-3-Clause
// The team's engines through the library: every storage they read on several numbers of threads, the bits of
// deterministic mode beside another engine, and their calibration.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "support.hpp"

namespace api_test {
namespace {

struct Answer {
  std::vector<double> x, history;
};

// Some iterations from a guess, so that nothing of the solve is left out.
Answer solve_with(const Context &context, const char *engine, const char *format) {
  constexpr std::int64_t side = 70, n = side * side;
  const Matrix matrix = laplacian(side).matrix(context);
  sxt_pcg_options options = pcg_options();
  options.engine = engine;
  options.format = format;
  options.preconditioner = "jacobi";
  sxt_pcg *raw = nullptr;
  EXPECT_EQ(sxt_pcg_create(matrix.get(), &options, &raw), SXT_OK) << last_error(context);
  const Pcg pcg(raw);
  Answer out{std::vector<double>(n), std::vector<double>(60)};
  std::vector<double> b(n);
  for (std::int64_t i = 0; i < n; ++i)
    b[i] = 1 + 0.125 * static_cast<double>(i % 13), out.x[i] = 0.5 * static_cast<double>(i % 5);
  sxt_solve_options solve;
  sxt_solve_options_init(&solve, sizeof solve);
  solve.use_initial_guess = 1;
  solve.max_iterations = 40;
  solve.history = out.history.data();
  solve.history_capacity = static_cast<std::int64_t>(out.history.size());
  sxt_pcg_report report{};
  report.struct_size = sizeof report;
  EXPECT_EQ(sxt_pcg_solve_array(pcg.get(), n, b.data(), out.x.data(), &solve, &report), SXT_NOT_CONVERGED);
  EXPECT_EQ(report.iterations, 40);
  return out;
}

bool same_bits(const Answer &a, const Answer &b) {
  return std::memcmp(a.x.data(), b.x.data(), a.x.size() * sizeof(double)) == 0 &&
         std::memcmp(a.history.data(), b.history.data(), a.history.size() * sizeof(double)) == 0;
}

TEST(PcgTeamTest, BitsDoNotDependOnThreadsInAnyStorage) {
  for (const char *engine : {"pcg.team.predict-recompute.cpu", "pcg.team.classical.cpu"})
    for (const bool deterministic : {false, true})
      for (const char *format : {"csr", "sell", "dia", "dia-symmetric"}) {
        const Answer one = solve_with(cpu(1, deterministic), engine, format);
        EXPECT_LT(one.history[40], 0.9 * one.history[0]) << engine << ", " << format;
        for (const int threads : {2, 3, 5})
          EXPECT_TRUE(same_bits(one, solve_with(cpu(threads, deterministic), engine, format)))
              << engine << ", " << format << ", " << threads << " threads";
      }
}

// One summation tree and one order of rounding: an engine whose kernels sum in the same way has the same bits.
TEST(PcgTeamTest, DeterministicBitsAreThoseOfTheHostLoop) {
  for (const std::string recurrence : {"predict-recompute", "classical"})
    for (const auto &[format, product] :
         {std::pair{"csr", "spmv_dots.csr.cpu"}, std::pair{"sell", "spmv_dots.sell.cpu"}}) {
      const Context context = cpu(2, true);
      const Answer team = solve_with(context, ("pcg.team." + recurrence + ".cpu").c_str(), format);
      ASSERT_EQ(sxt_context_force(context.get(), "sxt.spmv_dots/1", product), SXT_OK);
      const Answer loop = solve_with(context, ("pcg.host-loop." + recurrence + ".cpu").c_str(), format);
      EXPECT_TRUE(same_bits(team, loop)) << recurrence << " on " << format;
    }
}

// An engine without parts does not silently ignore a kernel that was forced for a part.
TEST(PcgTeamTest, AForcedPartKeepsItsEngine) {
  const Context context = cpu();
  const Matrix matrix = laplacian(40).matrix(context);
  ASSERT_EQ(sxt_context_force(context.get(), "sxt.vector_group/1", "vector_group.reference.cpu"), SXT_OK);
  const sxt_pcg_options options = pcg_options();
  const Pcg pcg = make<Pcg>([&](sxt_pcg **out) { return sxt_pcg_create(matrix.get(), &options, out); });
  const std::string plan = explain(pcg);
  EXPECT_NE(plan.find("vector_group.reference.cpu"), std::string::npos) << plan;
  EXPECT_NE(plan.find("it would pass over what was forced"), std::string::npos) << plan;
}

}  // namespace
}  // namespace api_test
