// SPDX-License-Identifier: BSD-3-Clause
// A failed solve returns the best of the confirmed iterates. The test is the engine: it shows iterates, one after the
// other, and leaves the last one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "core/calibrate/families.hpp"
#include "core/context/context.hpp"
#include "core/matrix/matrix.hpp"
#include "core/pcg/solve.hpp"
#include "core/pcg/solver.hpp"
#include "sextant/plugin/kinds/residual.h"

namespace {

using namespace sextant;

class PcgBest : public testing::Test {
 protected:
  PcgBest() {
    ContextSettings settings;
    settings.device = "cpu";
    settings.threads = 1;
    context_ = std::make_shared<Context>(settings);
    int family = 0;
    while (!family_symmetric(family)) ++family;
    matrix_ = std::make_shared<Matrix>(context_, make_family_matrix(family, 200, SXT_F64, context_->allocator()),
                                       SXT_HERMITIAN);
    PcgSettings solver;
    solver.preconditioner = "none";
    solver.reorder = -1;
    solver_ = std::make_unique<PcgSolver>(matrix_, solver);
    const auto n = static_cast<std::size_t>(matrix_->rows());
    b_.assign(n, 1);
    SolveSettings well = solver_->default_solve();
    well.rtol = 1e-14;
    solution_.assign(n, 0);
    solver_->solve(b_.data(), solution_.data(), well);
    const auto bytes = static_cast<std::uint64_t>(n * sizeof(double));
    for (DeviceBuffer *each : {&work_.rhs, &work_.iterate, &work_.candidate, &work_.residual})
      *each = DeviceBuffer(context_->device(), bytes);
    work_.norms = DeviceBuffer(context_->device(), sizeof(sxt_residual_norms), SXT_SPACE_HOST);
  }

  // Iterates are the solution times these; the last of them is left, and was not shown.
  sxt_pcg_report end(const std::vector<double> &shown, double left, std::vector<double> &x,
                     sxt_reason reason = SXT_REASON_ITERATION_LIMIT) {
    SolveSettings settings = solver_->default_solve();
    settings.rtol = 1e-10;
    const PcgSolver::InUse setup(*solver_);
    PcgSolve solve(*setup, work_, b_.data(), x.data(), settings);
    sxt_pcg_report report{};
    sxt_pcg_args args{};
    EXPECT_TRUE(solve.open(report, args));
    auto *iterate = static_cast<double *>(args.x);
    const auto put = [&](double factor) {
      std::transform(solution_.begin(), solution_.end(), iterate, [&](double value) { return factor * value; });
    };
    std::int64_t iteration = 0;
    for (const double factor : shown) {
      put(factor);
      args.confirm(args.user, iterate, ++iteration, 1e-20, &args.tolerance, &args.reason);
      solve.rethrow();
    }
    put(left);
    args.iterations = iteration + 1;
    args.reason = reason;
    solve.finish(args, report);
    solve.close(report, 0);
    return report;
  }
  void expect_times(const std::vector<double> &x, double factor) const {
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(x[i], factor * solution_[i], 1e-12 + 1e-9 * solution_[i]);
  }

  std::shared_ptr<Context> context_;
  std::shared_ptr<Matrix> matrix_;
  std::unique_ptr<PcgSolver> solver_;
  PcgWorkspace work_;
  std::vector<double> b_, solution_;
};

TEST_F(PcgBest, AnEarlierIterateIsGivenBackWhereItIsBetter) {
  std::vector<double> x(b_.size(), 7);
  const sxt_pcg_report report = end({0.5, 0.999, 0.9}, 0.7, x);
  expect_times(x, 0.999);
  EXPECT_NEAR(report.true_relative_residual, 1e-3, 1e-6);
  EXPECT_EQ(report.reason, SXT_REASON_ITERATION_LIMIT);
}

TEST_F(PcgBest, TheLastOneWhereThatIsTheBest) {
  std::vector<double> x(b_.size(), 7);
  const sxt_pcg_report report = end({0.5, 0.9}, 0.99, x);
  expect_times(x, 0.99);
  EXPECT_NEAR(report.true_relative_residual, 1e-2, 1e-5);
}

TEST_F(PcgBest, WhereTheLastIsNotFiniteToo) {
  std::vector<double> x(b_.size(), 7);
  end({0.5, 0.9}, std::numeric_limits<double>::quiet_NaN(), x, SXT_REASON_NOT_A_NUMBER);
  expect_times(x, 0.9);
}

TEST_F(PcgBest, ZeroWhereAllAreWorse) {
  std::vector<double> x(b_.size(), 7);
  const sxt_pcg_report report = end({3, 2.5}, 4, x);
  expect_times(x, 0);
  EXPECT_EQ(report.true_relative_residual, 1);
}

// Another solve with the same work space does not see what this one kept.
TEST_F(PcgBest, EachSolveHasItsOwn) {
  std::vector<double> x(b_.size(), 7);
  end({0.999}, 0.9, x);
  expect_times(x, 0.999);
  end({0.5}, 0.7, x);
  expect_times(x, 0.7);
}

}  // namespace
