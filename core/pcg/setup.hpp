// SPDX-License-Identifier: BSD-3-Clause
// All that a solver has made for the values of its matrix: the matrix as it was taken in, the plan, the engine, the
// kernel of true residuals, and what concurrent solves share. A plan that no longer serves is replaced by a whole new
// object; nothing of an old one is left in it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/explain/explain.hpp"
#include "core/pcg/block.hpp"
#include "core/pcg/narrow.hpp"
#include "core/pcg/plan.hpp"
#include "core/pcg/planning.hpp"
#include "core/pcg/watch.hpp"
#include "core/pcg/workspace.hpp"
#include "core/run/prepared.hpp"

namespace sextant {

// PcgSolver's. Solves use it from any number of threads: everything const, and the members that say so. What is not
// const wants it for itself.
class PcgSetup {
 public:
  // Plans and builds. settings, null_space must outlive the object. before_s: predicted seconds that the set-up took
  // before, less what its matrix had built for others. Throws the statuses that sxt_pcg_create documents.
  PcgSetup(TakenIn taken, const PcgSettings &settings, const NullSpace &null_space, double before_s, Notes &notes);
  PcgSetup(const PcgSetup &) = delete;
  PcgSetup &operator=(const PcgSetup &) = delete;

  // New values of the caller's matrix in every part, whether or not the next solve uses it: a captured solve reads them
  // without asking. Throws SXT_E_OVERFLOW where one does not fit f32, and what kernels fail with: then it is to be
  // called again before a solve. in_use: by captured solves, which go on using an engine that another replaces.
  void refresh(const Looked &now, bool stale, bool in_use, Notes &notes);

  const PcgProblem &problem() const noexcept { return problem_; }
  const EngineSystem &system() const noexcept { return plan_.system; }
  const Outlook &outlook() const noexcept { return plan_.outlook; }
  const Expectation &expected() const noexcept { return plan_.outlook.expected; }
  double seconds() const noexcept { return seconds_; }  // that it took
  double predicted_seconds() const noexcept { return book_.seconds(); }
  const SolveCosts &costs() const noexcept { return costs_; }
  // Whether x that was confirmed stands apart from the engine's x.
  bool keeps_answer() const { return system().changes_rhs() || !problem_.null_space.empty(); }
  void explain(Explanation &out) const;

  // Runners are thread-safe. engine() is NULL where a refresh failed half-way.
  Runner *engine() const noexcept { return plan_.engine.get(); }
  Runner &truth() const noexcept { return *truth_; }
  Runner &wide_engine() { return wide_.get(problem_, plan_.system, expected(), left_out_); }  // [any-thread]
  // The engine for so many right-hand sides; NULL: one after the other ends sooner. [any-thread]
  Runner *columns_engine(std::int32_t columns);
  WorkspacePool &pool() noexcept { return pool_; }  // [any-thread]
  WorkspaceShape workspace_shape() const;

  // With the solver's lock held.
  PlanWatch &watch() noexcept { return watch_; }
  void took(double seconds) { seconds_ = seconds; }

 private:
  PcgPlan make_plan(Notes &notes);
  void refresh_chosen(bool in_use, Notes &notes);
  void rebuild_engine(bool in_use, Notes &notes);

  TakenIn taken_;
  const PcgProblem problem_;
  CostBook book_;
  // Kernels that declined these values. The wide engine adds to it and engines of columns read it: no set-up has both.
  LeftOut left_out_;
  std::unique_ptr<Runner> truth_, product_;
  PcgPlan plan_;
  std::vector<std::unique_ptr<Runner>> replaced_;  // engines that captured solves use
  SolveCosts costs_;
  double seconds_ = 0;
  WideEngine wide_;
  ColumnEngines columns_;
  WorkspacePool pool_;
  PlanWatch watch_;
};

}  // namespace sextant
