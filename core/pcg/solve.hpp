// SPDX-License-Identifier: BSD-3-Clause
// One solve: the two callbacks an engine reports to. observe() keeps the history and decides when to give up; confirm()
// computes the true residual and is the only place that says "converged".
#pragma once

#include <cmath>
#include <cstdint>

#include "core/pcg/clock.hpp"
#include "core/pcg/crossing.hpp"
#include "core/pcg/judging.hpp"
#include "core/pcg/scale.hpp"
#include "core/pcg/setup.hpp"
#include "core/pcg/workspace.hpp"
#include "sextant/plugin/kinds/pcg.h"

namespace sextant {

// Throws SXT_E_INTERNAL where an engine came back without saying why.
void check_ending(const Choice &engine, const sxt_pcg_args &args);

// Confirmation is its part, too (confirm.cpp), and corrections (refine.cpp). For one thread, which has the set-up in
// use; an object serves one solve.
class PcgSolve {
 public:
  PcgSolve(PcgSetup &setup, PcgWorkspace &work, const void *b, void *x, const SolveSettings &settings);
  sxt_pcg_report run();

  // The same in three steps, for columns that one engine solves together. False: there was nothing to solve.
  bool open(sxt_pcg_report &report, sxt_pcg_args &args);
  void finish(sxt_pcg_args &args, sxt_pcg_report &report);
  void close(sxt_pcg_report &report, double seconds_an_iteration) const;
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  struct TrueResidual {
    double norm = 0;        // |b - A x| in the caller's norm
    double bound = 0;       // of its own rounding
    double size = 0;        // of |b| + |A| |x| in that norm
    double rhs = 0;         // |b| in that norm
    double rhs_bound = 0;   // of its own rounding
    bool accepted = false;  // proven: |b - A x| in exact arithmetic is no more than max(rtol |b|, atol)
    double system = 0;      // 2-norm of the residual of the system the engine sees, from x; 0 where it was accepted
  };

  const PcgSettings &asked() const { return setup_.problem().settings; }
  const NullSpace &null_space() const { return setup_.problem().null_space; }
  Device &device() const { return setup_.problem().context().device(); }
  int exponent() const { return setup_.problem().taken.exponent(); }
  bool changes_rhs() const { return setup_.system().changes_rhs(); }
  // Whether the caller's norm of a residual is the 2-norm in the engine's system.
  bool same_norm() const { return !setup_.system().scaling() && asked().norm == SXT_NORM_2; }

  // Vector operations by name on n values of the matrix's type.
  void add(const void *from, void *to);  // to += from
  void zero(void *vector);
  void shift(void *vector, int by);       // vector *= 2^by
  double norm(const void *vector) const;  // the caller's norm
  double norm_2(const void *vector) const;
  bool finite(const void *vector);
  void check_finite(const void *vector, const char *name);

  // Where the engine's matrix is rounded, or its own residual is no longer the true one: solves for corrections of a
  // sum, each from the true residual of the sum (refine.cpp).
  void refine(sxt_pcg_args &args);
  bool worth_correcting(const sxt_pcg_args &args) const;
  void correct(sxt_pcg_args &args);
  void run_passes(sxt_pcg_args &args);
  void begin_sum();
  void add_to_sum(const void *correction);
  bool goes_on(sxt_pcg_args &args);
  double pass_tolerance(double residual) const;
  void call(Runner &engine, sxt_pcg_args &args);
  std::int32_t confirm_pass(const TrueResidual &now, double residual, double *tolerance, sxt_reason *reason);

  bool trivial(sxt_pcg_report &report);   // n = 0, b = 0
  double most(const void *vector) const;  // the largest magnitude, |re| + |im|
  void shift_rhs(int by);                 // b *= 2^by, in memory of its own
  void bring_near(double size);           // b, which is of this size, where its squares would vanish or overflow
  // x of the system is 2^this times the caller's: b is scaled by shift_, and A as it was taken in.
  int x_shift() const { return shift_ - exponent(); }
  double callers(double norm) const { return callers_norm(norm, shift_); }  // before that
  double leave_out_null_space();  // of b_; what was left out, in the caller's norm
  void start();                   // right-hand side and guess of the engine's system
  void start_rhs();
  const void *callers_x(const void *iterate);

  // What is true (confirm.cpp).
  bool really_zero();  // of b, where x is 0
  TrueResidual measure(const void *b, const void *x, void *residual, double atol);
  TrueResidual true_residual(const void *iterate);
  TrueResidual residual_of(const void *x);
  TrueResidual residual_of_returned();
  TrueResidual hand_over(const sxt_pcg_args &args, const TrueResidual &before);
  void keep_best(const void *iterate, const TrueResidual &now);
  bool take_best(void *iterate, double norm);  // where that is worse; says whether it was
  void save_guess();
  void restore_guess();
  TrueResidual fall_back();
  TrueResidual last_residual(const sxt_pcg_args &args);
  bool is_worse_than_start(const TrueResidual &last);
  double unit() const;  // of rounding in the type of the vectors

  sxt_reason observe(std::int64_t first, std::int64_t count, const double *residuals);
  std::int32_t confirm(const void *iterate, std::int64_t iteration, double residual, double *tolerance,
                       sxt_reason *reason);
  sxt_reason judge(std::int64_t iteration, double residual);
  void keep(std::int64_t iteration, double residual);

  PcgSetup &setup_;
  PcgWorkspace &work_;
  Operations &operations_;
  const Crossing crossing_;
  const void *b_;
  const void *const callers_b_;
  void *x_;
  SolveSettings settings_;
  const double callers_atol_;
  sxt_value_type type_;
  std::int64_t n_;
  Clock clock_;
  int shift_ = 0;                     // b, norms and atol are here 2^shift times the caller's
  double best_norm_ = HUGE_VAL;       // true residual of work_.best
  bool guess_saved_ = false;          // in work_.guess
  double guess_norm_ = 0;             // true residual of a guess that was brought to the scale of this solve
  double system_norm_ = 0;            // 2-norm of b in the engine's system
  double rhs_norm_ = 0, target_ = 0;  // stop when |b - A x| <= target
  Progress progress_;
  Misses misses_;
  TrueResidual confirmed_;  // at the last confirmation
  bool accepted_ = false;   // it was good enough
  std::int64_t confirmations_ = 0;
  std::int64_t residuals_ = 0;                         // true ones that were computed
  double residuals_seconds_ = 0, engine_seconds_ = 0;  // without each other
  bool summing_ = false;                               // the engine's iterate is a correction of work_.sum
  bool rounded_ = false;                               // the engine in force reads the rounded matrix
  bool correcting_ = false;                            // an engine on the matrix itself solves for corrections
  bool out_of_digits_ = false;                         // further work with its own residual does not help an engine
  double sum_norm_ = 0;                                // true residual of work_.sum
  bool new_pass_ = false;                              // its residual has left the true one: correct from there
  std::int64_t base_ = 0;                              // iterations of the passes before this one
  double pass_start_ = 0;                              // 2-norm of the residual that this pass began with
  double to_caller_ = 1;        // norm of the caller's residual over that of the system's, when last seen
  std::exception_ptr failure_;  // an error inside a callback, rethrown when the engine is back
};

}  // namespace sextant
