// SPDX-License-Identifier: BSD-3-Clause
// Preconditioned conjugate gradients, generated: checks the matrix, chooses preconditioner, storage, kernels and engine
// by predicted time to solution, runs the engine, and confirms its answer with the true residual.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>

#include "core/explain/explain.hpp"
#include "core/matrix/matrix.hpp"
#include "core/pcg/block.hpp"
#include "core/pcg/captured.hpp"
#include "core/pcg/null_space.hpp"
#include "core/pcg/settings.hpp"
#include "core/pcg/setup.hpp"
#include "core/pcg/taken_in.hpp"
#include "sextant/sextant.h"

namespace sextant {

// A set-up for a matrix and the solves with it. It owns one PcgSetup at a time, and decides when that takes new values
// and when it is planned anew. Thread-safe, but that values of the matrix may change only while nothing is solved.
class PcgSolver {
 public:
  // Throws the statuses that sxt_pcg_create documents.
  PcgSolver(std::shared_ptr<Matrix> matrix, const PcgSettings &settings);
  PcgSolver(const PcgSolver &) = delete;
  PcgSolver &operator=(const PcgSolver &) = delete;

  const PcgSettings &settings() const noexcept { return settings_; }
  SolveSettings default_solve() const { return sextant::default_solve(settings_, matrix_->rows()); }
  Matrix &matrix() const noexcept { return *matrix_; }  // the caller's

  // b and x in the context's device space, n values of the matrix's type. Any number of threads. On a stream that is
  // being captured the solve becomes part of its graph, and the report's reason is NONE.
  sxt_pcg_report solve(const void *b, void *x, const SolveSettings &solve);
  // The same with b and x anywhere: what the device does not reach is copied there, and x back.
  sxt_pcg_report solve_array(const void *b, void *x, const SolveSettings &solve);
  // Columns of arrays that lie as for solve_array, solved together in one pass over A for each iteration of all of
  // them. They run unaccompanied: no progress, cancel or time limit.
  void solve_together(std::span<const ArrayColumn> columns, sxt_pcg_report *reports);
  // Whether so many together are predicted to end sooner than one after the other.
  bool together_pays(std::int32_t columns);
  Explanation explain() const;
  double expected_iterations() const;
  // Predicted seconds of a solve with as many iterations, its end confirmed once.
  double predicted_seconds() const;
  SolveCosts costs() const;    // its parts
  std::string method() const;  // of preconditioning, that solves use now

  // What solves work on, from the edge of one to its end: with something in use nothing is planned anew. Making it
  // brings the set-up up to the matrix's values, and throws what that throws.
  class InUse {
   public:
    explicit InUse(PcgSolver &of);
    ~InUse();
    InUse(const InUse &) = delete;
    InUse &operator=(const InUse &) = delete;
    PcgSetup *operator->() const noexcept { return solver_.setup_.get(); }
    PcgSetup &operator*() const noexcept { return *solver_.setup_; }
    // What a solve that ended says of the plan. rtol: that it was asked for.
    void learn(const sxt_pcg_report &report, double rtol) const;

   private:
    PcgSolver &solver_;
  };

 private:
  bool is_captured() const;
  sxt_pcg_report record(const void *b, void *x, const SolveSettings &settings);
  TakenIn take_in(const Looked &looked);
  void make_setup(TakenIn taken, double built_before_s);
  // With the lock held.
  void bring_up_to_date();
  void plan_anew(const Looked &now, const std::string &why);
  bool is_free() const { return in_use_ == 0 && !captured_.any(); }

  const std::shared_ptr<Matrix> matrix_;
  PcgSettings settings_;
  mutable std::mutex mutex_;  // of all that follows
  ValueLook look_;
  Notes notes_;
  NullSpace null_space_;
  std::unique_ptr<PcgSetup> setup_;  // NULL: planning anew failed half-way, and is tried again
  std::uint64_t version_ = 0;        // of the matrix's values that it holds
  int in_use_ = 0;                   // solves that have passed their edge
  CapturedSolves captured_;          // works on the set-up, and ends before it
};

}  // namespace sextant
