// SPDX-License-Identifier: BSD-3-Clause
// Solving with a rounded matrix to the accuracy of the matrix itself. The engine solves for a correction; where its
// recursive residual and the true one part, the correction is added and the next one begins from the true residual.
// Where that does not help, or the rounded matrix is not definite, an engine on the matrix itself goes on from there.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/pcg/solve.hpp"
#include "sextant/pcg_confirm.hpp"

namespace sextant {

namespace {

// A pass is asked for a residual this much smaller first, then for a tenth at a time: rounding shows in between.
constexpr double first_fall = 1e-4, next_fall = 0.1;
// A pass that does not lower the true residual by this factor at least will not do better the next time.
constexpr double least_fall = 0.25;

bool may_be_rounding(sxt_reason reason) {
  return reason == SXT_REASON_A_INDEFINITE || reason == SXT_REASON_M_INDEFINITE || reason == SXT_REASON_BREAKDOWN ||
         reason == SXT_REASON_STAGNATED || reason == SXT_REASON_DIVERGED || reason == SXT_REASON_NOT_A_NUMBER;
}

}  // namespace

void PcgSolve::call(Runner &engine, sxt_pcg_args &args) {
  const Clock clock;
  const double residuals_before = residuals_seconds_;
  engine.run(&args.h, settings_.cancel);
  engine_seconds_ += clock.seconds() - (residuals_seconds_ - residuals_before);
  if (failure_) std::rethrow_exception(failure_);
}

// sum = the guess or 0; rhs = its residual in the engine's system.
void PcgSolve::begin_sum() {
  crossing_.copy(work_.iterate.data(), work_.sum.data());
  zero(work_.iterate.data());
  summing_ = true;
  if (settings_.use_initial_guess) {
    to_caller_ = 1;
    const TrueResidual now = true_residual(work_.iterate.data());
    if (now.system > 0) to_caller_ = now.norm / now.system;
    crossing_.copy(work_.residual.data(), work_.rhs.data());
    return;
  }
  if (!solver_.changes_rhs()) crossing_.copy(b_, work_.rhs.data());
  to_caller_ = rhs_norm_ / norm_2(work_.rhs.data());
}

// The residual at which the engine shall ask, in the norm of its system.
double PcgSolve::pass_tolerance(double residual) const {
  const double wanted = confirming::aim * target_ / to_caller_;
  return rounded_ ? std::max(wanted, residual) : wanted;
}

void PcgSolve::add_to_sum(const void *correction) {
  const TrueResidual now = true_residual(correction);
  if (std::isfinite(now.norm)) {
    add(correction, work_.sum.data());
    crossing_.copy(work_.residual.data(), work_.rhs.data());
    if (now.system > 0) to_caller_ = now.norm / now.system;
  }
  zero(work_.iterate.data());
}

std::int32_t PcgSolve::confirm_rounded(const TrueResidual &now, double residual, double *tolerance,
                                       sxt_reason *reason) {
  to_caller_ = now.norm / now.system;
  if (now.system <= confirming::drift * residual && residual > 0) {
    *tolerance = pass_tolerance(next_fall * residual);
    return SXT_CONFIRM_GO_ON;
  }
  new_pass_ = now.system <= least_fall * pass_start_;
  *reason = SXT_REASON_STAGNATED;  // of this pass; what follows is for refine() to say
  return SXT_CONFIRM_STOP;
}

// Whether another pass follows the one that args tells of.
bool PcgSolve::goes_on(sxt_pcg_args &args) {
  if (args.reason == SXT_REASON_CONVERGED) return false;
  const bool corrected = rounded_ && new_pass_;
  if (!corrected && !(rounded_ && may_be_rounding(args.reason))) return false;
  rounded_ = corrected;
  add_to_sum(args.x);
  if (base_ < settings_.max_iterations) return true;
  args.reason = SXT_REASON_ITERATION_LIMIT;
  return false;
}

// Leaves in args what the passes took together.
void PcgSolve::refine(sxt_pcg_args &args) {
  begin_sum();
  rounded_ = true;
  std::int64_t products = 0, reductions = 0, replacements = 0;
  std::int32_t launches = 0;
  do {
    new_pass_ = false;
    args.b = work_.rhs.data();
    args.x = work_.iterate.data();
    args.x_is_zero = 1;
    args.max_iterations = settings_.max_iterations - base_;
    args.launches = 0;
    pass_start_ = norm_2(work_.rhs.data());
    args.tolerance = pass_tolerance(first_fall * pass_start_);
    call(rounded_ ? *solver_.engine_ : solver_.wide_engine(), args);
    base_ += args.iterations;
    products += args.products;
    reductions += args.reductions;
    replacements += args.replacements + 1;
    launches += args.launches;
  } while (goes_on(args));
  args.iterations = base_;
  args.products = products;
  args.reductions = reductions;
  args.replacements = replacements - 1;
  args.launches = launches;
}

}  // namespace sextant
