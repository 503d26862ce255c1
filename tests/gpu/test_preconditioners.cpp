// SPDX-License-Identifier: BSD-3-Clause
// Preconditioners on a GPU: true answers in captured graphs, the iterations of the CPU, new values, refusals.
#include <cmath>
#include <cstdint>

#include "pcg.hpp"

namespace {

using namespace gpu_test;

class Preconditioned : public PcgGpu, public testing::WithParamInterface<const char *> {};

// Couplings of very different strength, so that the diagonal says little.
Csr jumping(int side) {
  Csr a = laplacian(side, 0.001);
  std::vector<double> diagonal(static_cast<std::size_t>(a.rows), 0.001);
  const auto weight = [](std::int64_t i, std::int64_t j) {
    return std::pow(10.0, 1.5 * std::sin(static_cast<double>((i + j) * (i + j))));
  };
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int32_t k = a.ptr[i]; k < a.ptr[i + 1]; ++k)
      if (a.col[k] != i) a.values[k] = -weight(i, a.col[k]), diagonal[i] += weight(i, a.col[k]);
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int32_t k = a.ptr[i]; k < a.ptr[i + 1]; ++k)
      if (a.col[k] == i) a.values[k] = diagonal[i];
  return a;
}

// Iterations of the same solve on the CPU.
std::int64_t cpu_iterations(const Csr &a, const char *method) {
  const auto context = api_test::cpu();
  const Matrix matrix = a.matrix(context);
  sxt_pcg_options options = pcg_options();
  options.preconditioner = method;
  options.rtol = 1e-9;
  const Pcg pcg = api_test::make<Pcg>([&](sxt_pcg **out) { return sxt_pcg_create(matrix.get(), &options, out); });
  const std::vector<double> b = waves(a.rows);
  std::vector<double> x(b.size());
  sxt_pcg_report report = new_report();
  EXPECT_EQ(sxt_pcg_solve_array(pcg.get(), a.rows, b.data(), x.data(), nullptr, &report), SXT_OK);
  return report.iterations;
}

TEST_P(Preconditioned, SolvesInTheIterationsOfTheCpu) {
  for (const Csr &a : {jumping(50), uneven(2000), laplacian(1, 1)}) {
    const Matrix matrix = matrix_of(a);
    for (const char *engine : {"pcg.graph.chronopoulos-gear.cuda", "pcg.graph.classical.cuda"}) {
      const Pcg pcg = create(matrix, engine, GetParam());
      const std::vector<double> b = waves(a.rows);
      std::vector<double> x(b.size());
      const sxt_pcg_report report = solve(pcg, b, x);
      EXPECT_EQ(report.reason, SXT_REASON_CONVERGED);
      EXPECT_LE(relative_residual(a, b, x), 1.0001e-9) << a.rows << " rows, " << engine;
      const auto expected = static_cast<double>(cpu_iterations(a, GetParam()));
      EXPECT_NEAR(static_cast<double>(report.iterations), expected, 3 + 0.05 * expected) << a.rows << " rows";
    }
  }
}

// The graph was captured with the old values' addresses and coefficients; the solve must equal that of a new set-up.
TEST_P(Preconditioned, FollowsNewValues) {
  Csr a = jumping(30);
  const Matrix matrix = matrix_of(a);
  const Pcg pcg = create(matrix, nullptr, GetParam());
  const std::vector<double> b = waves(a.rows);
  std::vector<double> x(b.size()), fresh(b.size());
  solve(pcg, b, x);
  a = a.renewed();
  a.update(matrix);
  std::fill(x.begin(), x.end(), 0.0);
  EXPECT_EQ(solve(pcg, b, x).reason, SXT_REASON_CONVERGED);
  EXPECT_LE(relative_residual(a, b, x), 1.0001e-9);
}

// Multiplying every unknown by a different phase changes neither the spectrum nor the effect of these preconditioners,
// except for the random vectors of probes: a Hermitian system takes the iterations of the real one it was made from.
TEST_P(Preconditioned, ComplexSystemsTakeTheIterationsOfRealOnes) {
  const Csr a = jumping(30);
  const auto phase = [](std::int64_t i) { return std::polar(1.0, 2.4 * static_cast<double>(i)); };
  std::vector<Z> values(a.values.size()), b, x(static_cast<std::size_t>(a.rows));
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int32_t k = a.ptr[i]; k < a.ptr[i + 1]; ++k)
      values[k] = a.col[k] == i ? Z(a.values[k]) : a.values[k] * phase(i - a.col[k]);
  const std::vector<double> waving = waves(a.rows);
  for (std::int64_t i = 0; i < a.rows; ++i) b.push_back(waving[i] * phase(i));
  const Matrix matrix = complex_matrix(a, values);
  const Pcg pcg = create(matrix, nullptr, GetParam());
  const sxt_pcg_report report = solve_as(pcg, SXT_C128, b, x);
  EXPECT_EQ(report.reason, SXT_REASON_CONVERGED);
  EXPECT_LE(relative_residual(a, values, b, x), 1.0001e-9);
  const auto expected = static_cast<double>(cpu_iterations(a, GetParam()));
  EXPECT_NEAR(static_cast<double>(report.iterations), expected, 3 + 0.08 * expected);
}

INSTANTIATE_TEST_SUITE_P(Methods, Preconditioned,
                         testing::Values("block-jacobi", "block-jacobi:3", "block-jacobi:32", "ssor-ai", "ssor-ai-2",
                                         "fsai", "fsai-2", "chebyshev:3", "chebyshev:9"));

// The effect of a polynomial is known from the probe of the matrix. The probe decides whether it is chosen, and the
// solve converges.
TEST_F(PcgGpu, APolynomialIsAssessedWithoutATrial) {
  const Csr a = jumping(32);
  const Matrix matrix = matrix_of(a);
  sxt_pcg_options options = pcg_options();
  options.rtol = 1e-9;
  options.probe = 20;
  const Pcg pcg = api_test::make<Pcg>([&](sxt_pcg **out) { return sxt_pcg_create(matrix.get(), &options, out); });
  EXPECT_THAT(api_test::explain(pcg), testing::AnyOf(testing::HasSubstr("preconditioner chebyshev left out: about "),
                                                     testing::HasSubstr("preconditioner chebyshev instead: ")));
  const std::vector<double> b = waves(a.rows);
  std::vector<double> x(b.size());
  EXPECT_EQ(solve(pcg, b, x).reason, SXT_REASON_CONVERGED);
  EXPECT_LE(relative_residual(a, b, x), 1.0001e-9);
}

TEST_F(PcgGpu, PreconditionersRefuseWithTheRow) {
  Csr a;  // rows 1 and 2 are indefinite, with a good diagonal
  a.rows = a.cols = 3;
  a.ptr = {0, 1, 3, 5};
  a.col = {0, 1, 2, 1, 2};
  a.values = {1, 1, 2, 2, 1};
  const Matrix matrix = matrix_of(a);
  for (const char *method : {"block-jacobi", "fsai", "fsai-2"}) {
    sxt_pcg_options options = pcg_options();
    options.preconditioner = method;
    sxt_pcg *pcg = nullptr;
    EXPECT_EQ(sxt_pcg_create(matrix.get(), &options, &pcg), SXT_E_NOT_POSITIVE_DEFINITE) << method;
    EXPECT_THAT(sxt_last_error(context_.get()), testing::HasSubstr("row 2")) << method;
    sxt_pcg_destroy(pcg);
  }
}

}  // namespace
