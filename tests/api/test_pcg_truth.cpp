// SPDX-License-Identifier: BSD-3-Clause
// Solves compared with a direct solution and with conjugate gradients in extended precision. SEXTANT_MATRICES names a
// folder of Matrix Market files whose small ones are solved as well.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "tests/api/pcg_truth.hpp"

namespace api_test {
namespace {

const char *const engines[] = {"pcg.team.classical.cpu",
                               "pcg.team.predict-recompute.cpu",
                               "pcg.host-loop.classical.cpu",
                               "pcg.host-loop.predict-recompute.cpu",
                               "pcg.host-loop.chronopoulos-gear.cpu",
                               "pcg.reference.cpu"};

std::vector<double> right_hand_side(std::int64_t n) {
  std::vector<double> b(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = 0.3 + std::sin(2.3 * static_cast<double>(i));
  return b;
}

struct Solved {
  std::vector<double> x, history;
  sxt_pcg_report report = new_report();
};
// Where an engine does not take such systems the status is SXT_E_NO_KERNEL, and nothing was solved.
sxt_status solve(const Matrix &matrix, const std::vector<double> &b, const sxt_pcg_options &options, Solved &out) {
  sxt_pcg *made = nullptr;
  const sxt_status status = sxt_pcg_create(matrix.get(), &options, &made);
  const Pcg pcg(made);
  if (status != SXT_OK) return status;
  out.x.assign(b.size(), 0);
  out.history.assign(20000, 0);
  std::int64_t length = 0;
  sxt_solve_options how = solve_options();
  how.history = out.history.data();
  how.history_capacity = static_cast<std::int64_t>(out.history.size());
  how.history_length = &length;
  const sxt_status ended =
      sxt_pcg_solve_array(pcg.get(), static_cast<std::int64_t>(b.size()), b.data(), out.x.data(), &how, &out.report);
  out.history.resize(static_cast<std::size_t>(length));
  return ended;
}

TEST(PcgTruth, AnswersAndReportsOfEveryEngineAgainstADirectSolution) {
  const Context context = cpu();
  for (const auto &[name, a] : small_systems()) {
    const Direct direct(a);
    ASSERT_TRUE(direct.good()) << name;
    const double cond = condition(a, direct);
    const Matrix matrix = a.matrix(context);
    const std::vector<double> b = right_hand_side(a.rows);
    for (const char *engine : engines)
      for (const char *preconditioner : {"none", "jacobi"}) {
        SCOPED_TRACE(name + ", " + engine + ", " + preconditioner);
        sxt_pcg_options options = pcg_options();
        options.engine = engine;
        options.preconditioner = preconditioner;
        options.rtol = 1e-10;
        Solved solved;
        const sxt_status status = solve(matrix, b, options, solved);
        ASSERT_TRUE(status == SXT_OK || status == SXT_NOT_CONVERGED) << last_error(context);
        EXPECT_TRUE(status == SXT_OK || (preconditioner[0] == 'n' && name == "badly scaled"));
        EXPECT_EQ(status == SXT_OK, judge(a, direct, cond, b, solved.x, solved.report).true_residual <= 1.001e-10);
      }
  }
}

TEST(PcgTruth, ConvergenceFollowsThatInExtendedPrecision) {
  const Context context = cpu();
  for (const auto &[name, a] : small_systems()) {
    const Matrix matrix = a.matrix(context);
    const std::vector<double> b = right_hand_side(a.rows);
    for (const bool scaled : {false, true}) {
      const Wide exact = extended_history(a, b, scaled, 1e-8, 20000);
      for (const char *engine : engines) {
        SCOPED_TRACE(name + ", " + engine + (scaled ? ", jacobi" : ", none"));
        sxt_pcg_options options = pcg_options();
        options.engine = engine;
        options.preconditioner = scaled ? "jacobi" : "none";
        options.rtol = 1e-8;
        Solved solved;
        const bool hard = !scaled && name == "badly scaled";  // conditions beyond 1e6 ask for many times n iterations
        ASSERT_EQ(solve(matrix, b, options, solved), hard ? SXT_NOT_CONVERGED : SXT_OK) << last_error(context);
        // The first iterates are those of exact arithmetic; later ones lag behind because of lost orthogonality.
        for (std::size_t k = 0; k < std::min<std::size_t>({6, exact.size(), solved.history.size()}); ++k)
          if (exact[k] > 1e-6 * exact[0]) {
            EXPECT_NEAR(solved.history[k] / static_cast<double>(exact[k]), 1, 1e-5) << "iteration " << k;
          }
        if (hard) continue;
        std::size_t reached = 0;
        while (reached + 1 < solved.history.size() && solved.history[reached] > 1e-8 * solved.history[0]) ++reached;
        EXPECT_LE(static_cast<double>(reached), 1.5 * static_cast<double>(exact.size()) + 5);
        EXPECT_GE(static_cast<double>(reached) + 3, 0.9 * static_cast<double>(exact.size() - 1));
      }
    }
  }
}

// Small systems of a folder: every converged solution is within its condition of the direct one.
TEST(PcgTruth, MatricesOfAFolder) {
  const char *folder = std::getenv("SEXTANT_MATRICES");
  if (!folder) GTEST_SKIP() << "SEXTANT_MATRICES is not set";
  constexpr std::int64_t most_rows = 1500;
  const Context context = cpu();
  int judged = 0, converged = 0;
  for (const auto &entry : std::filesystem::recursive_directory_iterator(folder)) {
    const std::string path = entry.path();
    if (path.find(".mtx") == std::string::npos) continue;
    sxt_matrix_options as = matrix_options();
    as.value_type = SXT_F64;
    sxt_matrix *made = nullptr;
    if (sxt_matrix_from_file(context.get(), path.c_str(), &as, &made) != SXT_OK) continue;
    const Matrix matrix(made);
    sxt_matrix_info info{};
    info.struct_size = sizeof info;
    ASSERT_EQ(sxt_matrix_get_info(matrix.get(), &info), SXT_OK);
    if (info.rows != info.cols || info.rows > most_rows || info.symmetry != SXT_SYMMETRIC) continue;
    Csr a;
    a.rows = a.cols = info.rows;
    const void *ptr = nullptr, *col = nullptr, *values = nullptr;
    ASSERT_EQ(sxt_matrix_get_csr(matrix.get(), &ptr, &col, &values), SXT_OK);
    if (info.offset_type != SXT_I32 || info.index_type != SXT_I32) continue;
    a.ptr.assign(static_cast<const std::int32_t *>(ptr), static_cast<const std::int32_t *>(ptr) + info.rows + 1);
    a.col.assign(static_cast<const std::int32_t *>(col), static_cast<const std::int32_t *>(col) + info.nnz);
    a.values.assign(static_cast<const double *>(values), static_cast<const double *>(values) + info.nnz);
    const Direct direct(a);
    if (!direct.good()) continue;
    SCOPED_TRACE(path);
    const std::vector<double> b = right_hand_side(a.rows);
    Solved solved;
    const sxt_status status = solve(matrix, b, pcg_options(), solved);
    ASSERT_TRUE(status == SXT_OK || status == SXT_NOT_CONVERGED) << last_error(context);
    ++judged;
    converged += status == SXT_OK;
    const Judged found = judge(a, direct, condition(a, direct), b, solved.x, solved.report);
    EXPECT_EQ(status == SXT_OK, found.true_residual <= 1.001e-8);
    std::cout << entry.path().filename().string() << ": " << a.rows << " rows, condition " << found.condition << ", "
              << sxt_reason_name(solved.report.reason) << ", true residual " << found.true_residual << ", true error "
              << found.true_error << '\n';
  }
  std::cout << judged << " systems, " << converged << " converged\n";
}

}  // namespace
}  // namespace api_test
