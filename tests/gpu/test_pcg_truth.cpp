// SPDX-License-Identifier: BSD-3-Clause
// Answers and reports of every engine on a GPU, compared with direct solutions in extended precision; convergence,
// compared with that of conjugate gradients in extended precision.
#include <cstdint>

#include "pcg.hpp"
#include "tests/api/pcg_truth.hpp"

namespace {

using namespace gpu_test;
using api_test::Direct;

class PcgTruthGpu : public PcgGpu {};

TEST_F(PcgTruthGpu, EveryEngineAgainstDirectSolutionsAndExtendedPrecision) {
  for (const auto &[name, a] : api_test::small_systems()) {
    const Direct direct(a);
    const double cond = api_test::condition(a, direct);
    const std::vector<double> b = waves(a.rows);
    const Matrix matrix = matrix_of(a);
    const api_test::Wide exact = api_test::extended_history(a, b, true, 1e-9, 20000);
    for (const char *engine : engines) {
      SCOPED_TRACE(name + ", " + engine);
      const Pcg pcg = create(matrix, engine, "jacobi");
      std::vector<double> x(b.size()), history(20000);
      volatile std::int64_t length = 0;
      sxt_solve_options options = api_test::solve_options();
      options.history = history.data();
      options.history_capacity = 20000;
      options.history_length = &length;
      const sxt_pcg_report report = solve(pcg, b, x, SXT_OK, &options);
      EXPECT_LE(judge(a, direct, cond, b, x, report).true_residual, 1.001e-9);
      for (std::int64_t k = 0; k < std::min<std::int64_t>({5, length, static_cast<std::int64_t>(exact.size())}); ++k)
        if (exact[k] > 1e-6 * exact[0]) {
          EXPECT_NEAR(history[k] / static_cast<double>(exact[k]), 1, 1e-5) << "iteration " << k;
        }
      std::int64_t reached = 0;
      while (reached + 1 < length && history[reached] > 1e-9 * history[0]) ++reached;
      EXPECT_LE(static_cast<double>(reached), 1.5 * static_cast<double>(exact.size()) + 5);
    }
  }
}

}  // namespace
