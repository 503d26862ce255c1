// SPDX-License-Identifier: BSD-3-Clause
// What an engine tells core after each iterate and what it is told in return, and the numeric tests that stop a
// recurrence before it touches x: finite numbers, signs, divisions that still mean something.
#pragma once

#include <cstdint>

#include "sextant/kinds/pcg.h"
#include "sextant/plugin.h"

namespace host_loop {

// What the recurrence does next with the iterate it has.
enum class Next {
  step,     // go on
  replace,  // recompute r = b - A x, then ask again
  restart,  // the recomputed r is far from the old one: forget the direction, then go on
  stop      // the reason is recorded
};

class Monitor {
 public:
  // smallest: the least normal number of the value type; below it a denominator has lost its digits.
  Monitor(sxt_pcg_args &args, const sxt_exec &exec, double smallest, double largest);

  // Reports ||r||^2 of the current iterate, once an iterate, and obeys.
  Next at(double squared_residual);
  // x now holds the next iterate.
  void advance();

  // The tests: true when the number is fit for use, else the reason is recorded, found in the coming iteration.
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

}  // namespace host_loop
