// SPDX-License-Identifier: BSD-3-Clause
// Renumbered systems on a GPU: every engine, scaled or not, new values, columns of a block, and equal bits.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "pcg.hpp"

namespace {

using namespace gpu_test;
using testing::HasSubstr;

class PcgReorderOnGpu : public PcgGpu {
 protected:
  Pcg reordered(const Matrix &matrix, const char *engine, const char *preconditioner, const char *format = nullptr) {
    return create(matrix, engine, preconditioner, 1e-9, 1, format);
  }
};

TEST_F(PcgReorderOnGpu, EveryEngineAnswersInTheCallersOrder) {
  const Csr a = shuffled(laplacian(70, 0.02));
  const Matrix matrix = matrix_of(a);
  const std::vector<double> b = waves(a.rows);
  for (const char *engine : engines)
    for (const char *preconditioner : {"none", "jacobi"}) {
      SCOPED_TRACE(std::string(engine) + ", " + preconditioner);
      const Pcg pcg = reordered(matrix, engine, preconditioner);
      EXPECT_THAT(api_test::explain(pcg), HasSubstr("ordering.rcm"));
      std::vector<double> x(b.size());
      const sxt_pcg_report report = solve(pcg, b, x);
      EXPECT_LE(relative_residual(a, b, x), 1.0001e-9);
      EXPECT_NEAR(report.true_relative_residual, relative_residual(a, b, x), 1e-12);
      sxt_solve_options warm = api_test::solve_options();
      warm.use_initial_guess = 1;
      EXPECT_EQ(solve(pcg, b, x, SXT_OK, &warm).iterations, 0);
    }
}

TEST_F(PcgReorderOnGpu, ValuesInF32AreCorrectedInTheCallersOrder) {
  const Csr a = shuffled(laplacian(60, 0.02));
  const Matrix matrix = matrix_of(a);
  const std::vector<double> b = waves(a.rows);
  for (const char *preconditioner : {"none", "jacobi"}) {
    std::vector<double> x(b.size());
    solve(reordered(matrix, nullptr, preconditioner, "csr:f32"), b, x);
    EXPECT_LE(relative_residual(a, b, x), 1.0001e-9) << preconditioner;
  }
}

TEST_F(PcgReorderOnGpu, NewValuesAndBlocks) {
  const Csr first = shuffled(laplacian(50, 0.02));
  Csr second = first;
  for (std::int64_t i = 0; i < second.rows; ++i)
    for (std::int32_t k = second.ptr[i]; k < second.ptr[i + 1]; ++k)
      if (second.col[k] == i) second.values[k] += static_cast<double>(i % 7);
  const Matrix matrix = matrix_of(first);
  const Pcg pcg = reordered(matrix, nullptr, "jacobi");
  const std::vector<double> b = waves(first.rows);
  std::vector<double> x(b.size());
  solve(pcg, b, x);
  EXPECT_LE(relative_residual(first, b, x), 1.0001e-9);
  second.update(matrix);
  constexpr int columns = 4;
  std::vector<double> all, out(b.size() * columns);
  for (int j = 0; j < columns; ++j)
    for (const double each : b) all.push_back(each + j);
  ASSERT_EQ(sxt_pcg_solve_block(pcg.get(), second.rows, columns, all.data(), second.rows, out.data(), second.rows,
                                nullptr, nullptr),
            SXT_OK)
      << sxt_last_error(context_.get());
  for (int j = 0; j < columns; ++j) {
    const auto part = [&](const std::vector<double> &from) {
      return std::vector<double>(from.begin() + j * second.rows, from.begin() + (j + 1) * second.rows);
    };
    EXPECT_LE(relative_residual(second, part(all), part(out)), 1.0001e-9) << j;
  }
}

// Complex values, and preconditioners that are applied, in the engine's order.
TEST_F(PcgReorderOnGpu, ComplexSystemsAndOtherPreconditioners) {
  const Csr a = shuffled(laplacian(40, 0.05));
  const std::vector<Z> values = turned(a), b(static_cast<std::size_t>(a.rows), Z(1, -2));
  const Matrix matrix = complex_matrix(a, values);
  for (const char *preconditioner : {"none", "jacobi", "block-jacobi:4", "fsai", "ssor-ai"}) {
    std::vector<Z> x(b.size());
    solve_as(reordered(matrix, nullptr, preconditioner), SXT_C128, b, x);
    EXPECT_LE(relative_residual(a, values, b, x), 1.0001e-9) << preconditioner;
  }
}

// The bandwidth that an ordering leaves, by the explanation.
std::int64_t bandwidth_by(const Context &context, const Matrix &matrix, const char *ordering) {
  EXPECT_EQ(sxt_context_force(context.get(), "sxt.ordering/2", ordering), SXT_OK);
  sxt_pcg_options options = pcg_options();
  options.reorder = 1;
  options.probe = -1;
  const Pcg pcg = api_test::make<Pcg>([&](sxt_pcg **out) { return sxt_pcg_create(matrix.get(), &options, out); });
  const std::string text = api_test::explain(pcg);
  const std::size_t at = text.find(std::string(ordering) + ", bandwidth ");
  EXPECT_NE(at, std::string::npos) << text;
  return std::atoll(text.c_str() + text.find(" to ", at) + 4);
}

// With many rows a level, and with few.
TEST_F(PcgReorderOnGpu, TheDevicesOrderIsAsNarrowAsTheHosts) {
  for (const Csr &a : {shuffled(laplacian(300, 0.02)), shuffled(laplacian(7, 0.5))}) {
    const Matrix matrix = matrix_of(a);
    const std::int64_t host = bandwidth_by(context_, matrix, "ordering.rcm-on-host.cuda"),
                       device = bandwidth_by(context_, matrix, "ordering.rcm.cuda");
    EXPECT_LE(device, host + host / 4);
    EXPECT_GE(device, 7);
  }
}

}  // namespace
