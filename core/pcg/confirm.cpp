// SPDX-License-Identifier: BSD-3-Clause
// What is true of an x: b - A x in twice the working precision, with the caller's matrix and b, and the bound of its
// own rounding. Here and nowhere else a solve that a host accompanies is called converged, and only where that is
// proven (docs/residual.md).
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "core/base/shortage.hpp"
#include "core/base/types.hpp"
#include "core/pcg/solve.hpp"
#include "sextant/plugin/kinds/residual.h"
#include "sextant/sdk/arithmetic.hpp"
#include "sextant/sdk/pcg_confirm.hpp"

namespace sextant {

using namespace confirming;

namespace {

double largest(sxt_value_type type) {
  return is_single(type) ? std::numeric_limits<float>::max() : std::numeric_limits<double>::max();
}

}  // namespace

double PcgSolve::unit() const { return 0.5 * epsilon(type_); }

PcgSolve::TrueResidual PcgSolve::measure(const void *b, const void *x, void *residual, double atol) {
  const Clock clock;
  sxt_residual_args args{};
  args.h = {sizeof args, SXT_KIND_RESIDUAL};
  args.n_rhs = 1;
  args.ldx = args.ldb = args.ldr = n_;
  args.x = x;
  args.b = b;
  args.r = residual;
  args.norms = work_.norms.as<sxt_residual_norms>();
  const plugin::FloatScope nearest(plugin::nearest_control);  // also for what is concluded from the norms
  setup_.truth().run(&args.h);
  if (!device().on_host()) device().wait(device().callers_stream());
  const sxt_residual_norms &norms = *args.norms;
  TrueResidual out;
  if (asked().norm == SXT_NORM_2)
    out = {norms.norm_2, norms.bound_2, norms.size_2, norms.rhs_2, norms.rhs_bound_2, false, 0};
  else
    out = {norms.norm_max, norms.bound_max, norms.size_max, norms.rhs_max, norms.rhs_bound_max, false, 0};
  out.accepted = proves_converged(out.norm, out.bound, out.rhs, out.rhs_bound, settings_.rtol, atol);
  residuals_seconds_ += clock.seconds();
  ++residuals_;
  return out;
}

// A b whose norm is 0 by other kernels. What A cannot reach of it was left out, and the rest is no more than rounding.
bool PcgSolve::really_zero() {
  if (!null_space().empty()) return true;
  const bool zero = measure(callers_b_, x_, nullptr, callers_atol_).rhs == 0;
  residuals_ = 0, residuals_seconds_ = 0;  // it was asked for b alone
  return zero;
}

// In the caller's scale and order.
const void *PcgSolve::callers_x(const void *iterate) {
  const void *x = iterate;
  if (summing_) {
    crossing_.copy(work_.sum.data(), work_.candidate.data());
    add(iterate, work_.candidate.data());
    x = work_.candidate.data();
  }
  if (setup_.system().scaling()) {
    crossing_.unscale(x, work_.candidate.data());
    x = work_.candidate.data();
  }
  if (crossing_.orders()) {
    crossing_.put_back(x, work_.own_x.data());
    x = work_.own_x.data();
  }
  if (!null_space().empty()) {
    void *const own = crossing_.orders() ? work_.own_x.data() : work_.candidate.data();
    if (x != own) crossing_.copy(x, own);
    null_space().remove_from(operations_, own);
    x = own;
  }
  return x;
}

// From x itself, never from the recurrence.
PcgSolve::TrueResidual PcgSolve::true_residual(const void *iterate) { return residual_of(callers_x(iterate)); }

PcgSolve::TrueResidual PcgSolve::residual_of(const void *x) {
  void *residual = crossing_.orders() ? work_.own_residual.data() : work_.residual.data();
  TrueResidual out = measure(b_, x, residual, settings_.atol);
  if (out.rhs > 0 && std::isfinite(out.rhs)) {
    rhs_norm_ = out.rhs;
    target_ = std::max(settings_.rtol * rhs_norm_, settings_.atol);
  }
  if (out.accepted && !summing_) return out;  // nothing goes on from it
  const Clock clock;
  if (changes_rhs()) crossing_.take_in_rhs(residual, work_.residual.data());
  out.system = same_norm() ? out.norm : norm_2(work_.residual.data());
  residuals_seconds_ += clock.seconds();
  return out;
}

std::int32_t PcgSolve::confirm(const void *iterate, std::int64_t, double residual, double *tolerance,
                               sxt_reason *reason) {
  const TrueResidual now = true_residual(iterate), before = confirmed_;
  ++confirmations_;
  accepted_ = now.accepted;
  confirmed_ = now;
  if (!std::isfinite(now.norm)) return *reason = SXT_REASON_NOT_A_NUMBER, SXT_CONFIRM_STOP;
  if (accepted_) return *reason = SXT_REASON_CONVERGED, SXT_CONFIRM_STOP;
  if (rounded_ || correcting_) return confirm_pass(now, residual, tolerance, reason);
  keep_best(iterate, now);
  if (misses_.hopeless(confirmations_ <= 1, now.norm, before.norm, residual))
    return out_of_digits_ = true, *reason = SXT_REASON_STAGNATED, SXT_CONFIRM_STOP;
  *tolerance = Misses::next_tolerance(now.system, now.norm, target_);
  return now.system > drift * residual ? SXT_CONFIRM_REPLACE : SXT_CONFIRM_GO_ON;
}

// A solve that goes on may lose what it had. It must not end because there is no memory to keep that in.
void PcgSolve::keep_best(const void *iterate, const TrueResidual &now) {
  if (now.norm >= best_norm_) return;
  try {
    if (!work_.best.data()) work_.best = DeviceBuffer(device(), work_.iterate.bytes());
  } catch (const Error &problem) {
    if (!out_of_memory(problem)) throw;
    return;
  }
  crossing_.copy(iterate, work_.best.data());
  best_norm_ = now.norm;
}

bool PcgSolve::take_best(void *iterate, double norm) {
  if (norm <= best_norm_ || best_norm_ == HUGE_VAL) return false;
  crossing_.copy(work_.best.data(), iterate);
  return true;
}

// Of what the engine leaves. What confirm() accepted still stands apart, whatever became of the engine's x since.
PcgSolve::TrueResidual PcgSolve::last_residual(const sxt_pcg_args &args) {
  if (accepted_ && setup_.keeps_answer()) return confirmed_;
  const TrueResidual last = true_residual(args.x);
  if (!summing_ && !last.accepted && take_best(args.x, last.norm)) return true_residual(args.x);
  if (!correcting_ || last.accepted || last.norm <= sum_norm_) return last;
  zero(args.x);  // the correction made it worse
  return true_residual(args.x);
}

// A solve that failed gives back nothing worse than it began with: the guess, or 0.
bool PcgSolve::is_worse_than_start(const TrueResidual &last) {
  if (last.accepted || !std::isfinite(last.norm)) return false;
  if (!settings_.use_initial_guess) return !(last.norm <= rhs_norm_);
  // start() has looked where x is shifted.
  return !(last.norm <= (x_shift() != 0 ? guess_norm_ : residual_of(x_).norm));
}

void PcgSolve::finish(sxt_pcg_args &args, sxt_pcg_report &report) {
  const plugin::FloatScope nearest(plugin::nearest_control);  // norms and bounds may be subnormal numbers
  if (worth_correcting(args)) correct(args);
  report.reason = args.reason;
  report.iterations = args.iterations;
  report.recursive_residual = callers(args.residual);
  report.replacements = args.replacements;
  report.products = args.products + confirmations_;
  report.reductions = args.reductions;
  report.launches = args.launches;
  const std::int64_t residuals_before = residuals_;
  TrueResidual last = last_residual(args);
  double size = last.size;  // of what was reached, whatever is given back
  bool good = std::isfinite(last.norm) && !is_worse_than_start(last);
  if (good) {
    last = hand_over(args, last);
    if (std::isfinite(last.norm)) size = last.size;
    // Brought back x may have lost more than it had gained.
    good = std::isfinite(last.norm) && !(x_shift() != 0 && is_worse_than_start(last));
    if (!good) restore_guess();
  }
  if (!good) {
    if (report.reason == SXT_REASON_CONVERGED && !std::isfinite(last.norm)) report.reason = SXT_REASON_NOT_A_NUMBER;
    last = fall_back();
  }
  // Whatever the engine says: the answer is what the true residual says.
  const bool cut_short = report.reason == SXT_REASON_ITERATION_LIMIT || report.reason == SXT_REASON_STAGNATED;
  if (good && cut_short && last.accepted) report.reason = SXT_REASON_CONVERGED;
  if (report.reason == SXT_REASON_CONVERGED && !last.accepted) report.reason = SXT_REASON_STAGNATED;
  report.residual_norm = last.norm;
  report.residual_bound = last.bound;
  report.rounding_limit = unit() * (std::isfinite(size) ? size : last.size);
  // A residual of rounding alone divides by next to nothing.
  const bool at_limit = last.norm <= at_rounding_limit * report.rounding_limit;
  if (report.reason == SXT_REASON_BREAKDOWN && at_limit) report.reason = SXT_REASON_STAGNATED;
  report.products += residuals_ - residuals_before;
}

// The answer into the caller's x, and its residual. Where b was scaled that is computed from what the caller gets:
// brought back, x may have left the range, or digits.
PcgSolve::TrueResidual PcgSolve::hand_over(const sxt_pcg_args &args, const TrueResidual &before) {
  // Scaled and back again a guess that was good enough would differ by rounding.
  const bool untouched = settings_.use_initial_guess && base_ + args.iterations == 0 && null_space().empty();
  if (untouched) {
    const TrueResidual own = residual_of_returned();
    if (own.accepted || !before.accepted) return own;
  }
  const bool apart = setup_.system().scaling() || summing_ || !null_space().empty();
  const void *answer = crossing_.orders() ? work_.own_x.data() : apart ? work_.candidate.data() : args.x;
  // Surely too large to be stored: the guess stays.
  if (x_shift() != 0 && std::ldexp(most(answer) / 2, -x_shift()) > largest(type_)) {
    TrueResidual lost;
    lost.norm = HUGE_VAL;
    return lost;
  }
  if (x_shift() != 0 && settings_.use_initial_guess) save_guess();
  crossing_.copy(answer, x_);
  if (x_shift() == 0 && shift_ == 0) return before;
  shift(x_, -x_shift());
  return residual_of_returned();
}

// What was found may turn out worse once it is brought back.
void PcgSolve::save_guess() {
  const std::uint64_t bytes = static_cast<std::uint64_t>(n_) * value_bytes(type_);
  if (!work_.guess.data()) work_.guess = DeviceBuffer(device(), bytes);
  crossing_.copy(x_, work_.guess.data());
  guess_saved_ = true;
}

void PcgSolve::restore_guess() {
  if (guess_saved_) crossing_.copy(work_.guess.data(), x_);
}

// Of the caller's x. Scaled up, b and x keep all digits. Scaled down, f32 is judged as the caller has it, since nothing
// overflows in twice its precision, and what is found is told in the scale of this solve. In f64 the bound grows by
// what may have vanished.
PcgSolve::TrueResidual PcgSolve::residual_of_returned() {
  if (shift_ == 0 && x_shift() == 0) return residual_of(x_);
  const bool single = is_single(type_);
  crossing_.copy(x_, work_.iterate.data());  // nothing goes on from it
  if (shift_ < 0 && single && null_space().empty()) {
    shift(work_.iterate.data(), -exponent());
    TrueResidual out = measure(callers_b_, work_.iterate.data(), nullptr, callers_atol_);
    for (double *each : {&out.norm, &out.bound, &out.size, &out.rhs, &out.rhs_bound}) *each = std::ldexp(*each, shift_);
    return out;
  }
  shift(work_.iterate.data(), x_shift());
  TrueResidual out = residual_of(work_.iterate.data());
  if (shift_ >= 0 && x_shift() >= 0) return out;
  const Vanished lost = vanished(type_, static_cast<double>(n_), shift_, exponent() != 0);
  out.bound += lost.bound;
  out.rhs_bound += lost.rhs_bound;
  const double atol = atol_after_shift(settings_.atol);
  out.accepted = proves_converged(out.norm, out.bound, out.rhs, out.rhs_bound, settings_.rtol, atol);
  return out;
}

// No good iterate came back: the caller's x stays what it was, and that is what the report tells of.
PcgSolve::TrueResidual PcgSolve::fall_back() {
  if (!settings_.use_initial_guess) zero(x_);
  return residual_of_returned();
}

}  // namespace sextant
