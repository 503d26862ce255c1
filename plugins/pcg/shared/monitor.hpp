// SPDX-License-Identifier: BSD-3-Clause
// The communication with core of an engine that tests every iterate, and the numeric tests that stop a recurrence
// before it touches x: finite numbers, signs, divisors with digits left. Header-only, no part of the ABI.
#pragma once

#include <cmath>
#include <cstdint>

#include "plugins/pcg/shared/ended.hpp"
#include "sextant/plugin/kinds/pcg.h"
#include "sextant/plugin/plugin.h"
#include "sextant/sdk/cancel.hpp"

namespace sextant::plugin::pcg {

// The recurrence's next action with the present iterate.
enum class Next {
  step,     // go on
  replace,  // recompute r = b - A x, then ask again
  restart,  // the recomputed r is far from the old one: forget the direction, then go on
  stop      // the reason is stored
};

class Monitor {
 public:
  // smallest: the least normal number of the value type; below it a denominator has lost its digits.
  Monitor(sxt_pcg_args &args, const sxt_exec &exec, double smallest, double largest);

  // Reports ||r||^2 of the current iterate, once an iterate, and obeys.
  Next at(double squared_residual);
  // x now holds the next iterate.
  void advance();

  // The tests: true when the number can be used, else the reason is stored, found in the coming iteration.
  bool preconditioned_residual(double r_z);  // r'Mr > 0
  bool curvature(double p_a_p);              // p'Ap > 0
  bool step_length(double alpha);            // can be stored

 private:
  enum class Phase { fresh, replaced, settled };  // of the current iterate
  Next obey();
  Next after_replacement(double previous);
  Next stop(sxt_reason reason);
  bool fail(sxt_reason reason);
  bool usable(double value, sxt_reason not_positive);

  sxt_pcg_args &args_;
  const volatile std::int32_t *cancel_;
  double smallest_, largest_;
  double squared_ = 0;  // ||r||^2 of the current iterate
  std::int64_t k_ = 0;
  Phase phase_ = Phase::fresh;
};

// ---- definitions

inline Monitor::Monitor(sxt_pcg_args &args, const sxt_exec &exec, double smallest, double largest)
    : args_(args), cancel_(exec.cancel), smallest_(smallest), largest_(largest) {
  args.reason = SXT_REASON_NONE;
  args.iterations = 0;
  args.residual = 0;
  args.replacements = args.products = args.reductions = 0;
}

inline Next Monitor::at(double squared_residual) {
  const double previous = args_.residual;
  if (phase_ == Phase::settled) return Next::step;  // asked again after a restart
  squared_ = squared_residual;
  args_.iterations = k_;
  args_.residual = std::sqrt(squared_residual);
  if (!std::isfinite(squared_residual)) return stop(SXT_REASON_NOT_A_NUMBER);
  if (phase_ == Phase::replaced) return after_replacement(previous);

  if (args_.observe)
    if (const sxt_reason reason = args_.observe(args_.user, k_, 1, &args_.residual)) return stop(reason);
  return obey();
}

// Convergence first: an answer that core accepts outweighs a limit or a cancellation at the same iterate.
inline Next Monitor::obey() {
  bool replace = phase_ == Phase::fresh && args_.replace_every > 0 && k_ > 0 && k_ % args_.replace_every == 0;
  if (args_.residual <= args_.tolerance) {
    sxt_reason reason = SXT_REASON_NONE;
    const std::int32_t answer = args_.confirm(args_.user, args_.x, k_, args_.residual, &args_.tolerance, &reason);
    if (answer == SXT_CONFIRM_STOP) return stop(reason);
    // One replacement an iterate: a second would compute the same numbers.
    replace = phase_ == Phase::fresh && (replace || answer == SXT_CONFIRM_REPLACE);
  }
  if (is_cancelled(cancel_)) return stop(SXT_REASON_CANCELLED);
  if (k_ >= args_.max_iterations) return stop(SXT_REASON_ITERATION_LIMIT);

  if (replace) {
    phase_ = Phase::replaced;
    ++args_.replacements;
    return Next::replace;
  }
  phase_ = Phase::settled;
  // Nothing is left to divide by, yet core did not take the answer.
  if (squared_ < smallest_) return fail(SXT_REASON_BREAKDOWN), Next::stop;
  return Next::step;
}

// Where the recursive residual had drifted far from the true one, beta would mix two different sequences.
inline Next Monitor::after_replacement(double previous) {
  const bool near = std::fabs(args_.residual - previous) <= near_enough * previous;
  const Next next = obey();
  return next == Next::step && !near ? Next::restart : next;
}

inline void Monitor::advance() {
  ++k_;
  phase_ = Phase::fresh;
}

inline Next Monitor::stop(sxt_reason reason) {
  args_.reason = reason;
  return Next::stop;
}

// A failure belongs to the iteration it was found in; x and the residual stay those of the iterate before.
inline bool Monitor::fail(sxt_reason reason) {
  args_.reason = reason;
  args_.iterations = k_ + 1;
  return false;
}

inline bool Monitor::usable(double value, sxt_reason not_positive) {
  if (!std::isfinite(value)) return fail(SXT_REASON_NOT_A_NUMBER);
  if (value <= 0) return fail(not_positive);
  return value >= smallest_ || fail(SXT_REASON_BREAKDOWN);
}

inline bool Monitor::preconditioned_residual(double r_z) { return usable(r_z, SXT_REASON_M_INDEFINITE); }
inline bool Monitor::curvature(double p_a_p) { return usable(p_a_p, SXT_REASON_A_INDEFINITE); }

inline bool Monitor::step_length(double alpha) {
  return (alpha >= smallest_ && alpha <= largest_) || fail(SXT_REASON_BREAKDOWN);
}

}  // namespace sextant::plugin::pcg
