// SPDX-License-Identifier: BSD-3-Clause
// Products with a preconditioner's factors on a GPU: other storage formats and kernels than the method's own loop,
// inside captured blocks, and after new values; and the predicted time of a polynomial of a matrix with a full row.
#include <cmath>
#include <cstdint>
#include <string>

#include "pcg.hpp"
#include "sextant/plugin/kinds/spmv.h"

namespace {

using namespace gpu_test;
using testing::HasSubstr;

class PcgFactorsGpu : public PcgGpu {};

TEST_F(PcgFactorsGpu, AForcedKernelMultipliesInCapturedBlocks) {
  Csr a = uneven(4000);
  const std::vector<double> b = waves(a.rows);
  for (const char *kernel : {"spmv.csr.vector.cuda", "spmv.sell.slices.cuda", "spmv.coo.segmented.cuda"})
    for (const char *method : {"fsai", "fsai-2", "ssor-ai"}) {
      SCOPED_TRACE(std::string(kernel) + ", " + method);
      const Matrix matrix = matrix_of(a);
      const Pcg own = create(matrix, "pcg.graph.classical.cuda", method);
      ASSERT_EQ(sxt_context_force(context_.get(), SXT_KIND_SPMV, kernel), SXT_OK);
      const Pcg pcg = create(matrix, "pcg.graph.classical.cuda", method);
      ASSERT_EQ(sxt_context_force(context_.get(), SXT_KIND_SPMV, nullptr), SXT_OK);
      EXPECT_THAT(api_test::explain(pcg), HasSubstr(std::string("pcg/M/G: ") + kernel));
      EXPECT_THAT(api_test::explain(pcg), HasSubstr(std::string("pcg/M/G^T: ") + kernel));
      std::vector<double> x(b.size()), y(b.size());
      const sxt_pcg_report alone = solve(own, b, x), other = solve(pcg, b, y);
      EXPECT_NEAR(static_cast<double>(alone.iterations), static_cast<double>(other.iterations), 2);
      EXPECT_LE(relative_residual(a, b, y), 1.0001e-9);
      // Factors get new values in place, in blocks that were captured before.
      a = a.renewed();
      a.update(matrix);
      const sxt_pcg_report later = solve(own, b, x), refreshed = solve(pcg, b, y);
      EXPECT_NEAR(static_cast<double>(later.iterations), static_cast<double>(refreshed.iterations), 2);
      EXPECT_LE(relative_residual(a, b, y), 1.0001e-9);
      a = uneven(4000);
    }
}

// One row and column are full, so that a few threads still read 20000 entries when all others are done.
Csr arrow(std::int32_t n) {
  Csr a;
  a.rows = a.cols = n;
  a.entry(0, 1);
  for (std::int32_t j = 1; j < n; ++j) a.entry(j, 0.5 / n);
  a.end_row();
  for (std::int32_t i = 1; i < n; ++i) {
    a.entry(0, 0.5 / n);
    a.entry(i, 1 + 0.5 * i / n);
    a.end_row();
  }
  return a;
}

TEST_F(PcgFactorsGpu, AFullRowIsInTheExpectedTimeOfAPolynomial) {
  const Csr a = arrow(20000);
  const Matrix matrix = matrix_of(a);
  const Pcg pcg = create(matrix, "pcg.graph.predict-recompute.cuda", "chebyshev:9");
  const std::vector<double> b = waves(a.rows);
  std::vector<double> x(b.size());
  const sxt_pcg_report report = solve(pcg, b, x);
  EXPECT_LE(relative_residual(a, b, x), 1.0001e-9);
  ASSERT_GT(report.iteration_seconds, 0);
  EXPECT_GT(report.predicted_iteration_seconds, report.iteration_seconds / 4);
  EXPECT_LT(report.predicted_iteration_seconds, report.iteration_seconds * 4);
  EXPECT_THAT(api_test::explain(pcg), HasSubstr("pcg/M: preconditioner.chebyshev.cuda"));
  const Pcg choice = create(matrix, nullptr);
  EXPECT_THAT(api_test::explain(choice), testing::Not(HasSubstr("pcg/M: preconditioner.chebyshev.cuda")));
}

}  // namespace
