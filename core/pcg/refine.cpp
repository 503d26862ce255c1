// SPDX-License-Identifier: BSD-3-Clause
// Solving with a rounded matrix to the accuracy of the matrix itself. The engine solves for a correction; where its
// recursive residual and the true one part, the correction is added and the next one begins from the true residual.
// Where that does not help, or the rounded matrix is not definite, an engine on the matrix itself goes on from there.
// The same way an engine on the matrix itself gets beyond the rounding of its own residuals: the true ones are computed
// in twice the working precision (iterative refinement: Wilkinson 1963; Higham 2002, chapter 12).
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/pcg/solve.hpp"
#include "sextant/sdk/pcg_confirm.hpp"

namespace sextant {

namespace {

// A pass is asked for a residual this much smaller first, then for a tenth at a time: rounding shows in between.
constexpr double first_fall = 1e-4, next_fall = 0.1;
// A pass that does not lower the true residual by this factor at least will not do better the next time.
constexpr double least_fall = 0.25;
// Rounding x alone moves b - A x by up to u (|b| + |A| |x|), as a rule by a tenth of that. Below this part of it no
// correction is tried.
constexpr double hopeless = 0.05;

bool may_be_rounding(sxt_reason reason) {
  return reason == SXT_REASON_A_INDEFINITE || reason == SXT_REASON_M_INDEFINITE || reason == SXT_REASON_BREAKDOWN ||
         reason == SXT_REASON_STAGNATED || reason == SXT_REASON_DIVERGED || reason == SXT_REASON_NOT_A_NUMBER;
}

}  // namespace

void check_ending(const Choice &engine, const sxt_pcg_args &args) {
  require(args.reason != SXT_REASON_NONE && is_defined_reason(args.reason), SXT_E_INTERNAL, "kernel '",
          engine.kernel->name(), "' ended a solve and gave no reason for it (", args.reason, ")");
}

void PcgSolve::call(Runner &engine, sxt_pcg_args &args) {
  const Clock clock;
  const double residuals_before = residuals_seconds_;
  args.reason = SXT_REASON_NONE;
  engine.run(&args.h, settings_.cancel);
  engine_seconds_ += clock.seconds() - (residuals_seconds_ - residuals_before);
  if (failure_) std::rethrow_exception(failure_);
  check_ending(engine.choice(), args);
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
  if (!changes_rhs()) crossing_.copy(b_, work_.rhs.data());
  to_caller_ = rhs_norm_ / norm_2(work_.rhs.data());
}

// The residual at which the engine should ask, in the norm of its system.
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
    sum_norm_ = now.norm;
  }
  zero(work_.iterate.data());
}

std::int32_t PcgSolve::confirm_pass(const TrueResidual &now, double residual, double *tolerance, sxt_reason *reason) {
  if (now.system > 0) to_caller_ = now.norm / now.system;
  if (now.system <= confirming::drift * residual && residual > 0) {
    *tolerance = std::min(pass_tolerance(next_fall * residual), 0.5 * residual);
    return SXT_CONFIRM_GO_ON;
  }
  new_pass_ = now.system <= least_fall * pass_start_;
  *reason = SXT_REASON_STAGNATED;  // of this pass; what follows is for refine() to say
  return SXT_CONFIRM_STOP;
}

// Whether another pass follows the one that args tells of.
bool PcgSolve::goes_on(sxt_pcg_args &args) {
  if (args.reason == SXT_REASON_CONVERGED) return false;
  const bool corrected = (rounded_ || correcting_) && new_pass_;
  if (!corrected && !(rounded_ && may_be_rounding(args.reason))) return false;
  rounded_ = rounded_ && corrected;
  add_to_sum(args.x);
  if (base_ < settings_.max_iterations) return true;
  args.reason = SXT_REASON_ITERATION_LIMIT;
  return false;
}

void PcgSolve::refine(sxt_pcg_args &args) {
  begin_sum();
  rounded_ = true;
  run_passes(args);
}

// Where an engine ends because its own residuals have no digits left, and the answer lies within what x can say.
bool PcgSolve::worth_correcting(const sxt_pcg_args &args) const {
  return out_of_digits_ && !correcting_ && args.reason == SXT_REASON_STAGNATED && std::isfinite(confirmed_.norm) &&
         base_ + args.iterations < settings_.max_iterations && target_ >= hopeless * unit() * confirmed_.size;
}

void PcgSolve::correct(sxt_pcg_args &args) {
  for (DeviceBuffer *each : {&work_.sum, &work_.rhs, &work_.candidate})
    if (!each->data()) *each = DeviceBuffer(device(), work_.iterate.bytes());
  if (!summing_) {
    zero(work_.sum.data());
    base_ = args.iterations;
  }
  summing_ = correcting_ = true;
  rounded_ = false;
  take_best(args.x, confirmed_.norm);
  add_to_sum(args.x);
  run_passes(args);
}

// Leaves in args what all passes took together, with what args tell of before.
void PcgSolve::run_passes(sxt_pcg_args &args) {
  std::int64_t products = args.products, reductions = args.reductions, replacements = args.replacements;
  std::int32_t launches = args.launches;
  do {
    new_pass_ = false;
    args.b = work_.rhs.data();
    args.x = work_.iterate.data();
    args.x_is_zero = 1;
    args.max_iterations = settings_.max_iterations - base_;
    args.launches = 0;
    pass_start_ = norm_2(work_.rhs.data());
    args.tolerance = pass_tolerance(first_fall * pass_start_);
    call(rounded_ || !setup_.system().narrow() ? *setup_.engine() : setup_.wide_engine(), args);
    base_ += args.iterations;
    products += args.products;
    reductions += args.reductions;
    replacements += args.replacements + 1;
    launches += args.launches;
  } while (goes_on(args));
  args.iterations = base_;
  args.products = products;
  args.reductions = reductions;
  args.replacements = replacements - (correcting_ ? 0 : 1);
  args.launches = launches;
}

}  // namespace sextant
