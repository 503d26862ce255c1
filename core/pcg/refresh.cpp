// SPDX-License-Identifier: BSD-3-Clause
// New values under a set-up that was made for others. One place, at the edge of each solve, brings everything derived
// from the values up to date, whether or not this solve will use it: a captured solve reads it without asking. Where
// the values are no longer those that the plan rests on, it is made anew.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "core/base/types.hpp"
#include "core/pcg/clock.hpp"
#include "core/pcg/solver.hpp"
#include "sextant/plugin/kinds/preconditioner.h"

namespace sextant {

namespace {

// A diagonal that was left as it is may become so many times as uneven before scaling by it is worth asking about.
constexpr double uneven = 2;
// A solve with later values that takes so many times the iterations of those before shows that the plan is not for
// them.
constexpr double far_more = 3;
// Fewer iterations are not worth a plan.
constexpr double few_iterations = 50;

}  // namespace

void PcgSolver::refresh_if_stale() {
  const std::lock_guard lock(mutex_);
  bring_up_to_date();
  tell_recorded();
}

// With the lock held.
void PcgSolver::bring_up_to_date() {
  const bool stale = version_ != callers_->version(), free = in_use_ == 0 && recorded_.empty();
  if (!stale && planned_ && (plan_anew_because_.empty() || !free)) return;
  const Looked now = look_at_values();
  const bool takes_copy = !copied() && (now.exponent != 0 || now.averaged || now.made_real);
  require(!takes_copy || free, SXT_E_STATE, "the matrix has new values that are far from 1, or differ from their ",
          "transpose by rounding, and a solve was captured with its old ones: set up again, and capture anew");
  const std::string why = why_plan_anew(now);
  if (!why.empty() && free) return plan_anew(why);
  if (!why.empty())
    matrix_->context().log()(
        SXT_LOG_WARNING,
        "a set-up keeps a plan that was made for other values, since captured solves or others that "
        "still run use it: " +
            why);
  plan_anew_because_.clear();
  take_in_new_values(now);
  if (stale && !null_space_.empty()) null_space_.check(matrix_->csr());
  try {
    refresh_parts();
  } catch (const Error &problem) {
    const bool too_narrow = narrow_ && problem.status() == SXT_E_OVERFLOW && precision_wanted().empty();
    if (!too_narrow || !free) throw;
    return plan_anew(problem.what());
  }
  version_ = callers_->version();
  note_recorded();
}

// In the order in which one is made of another.
void PcgSolver::refresh_parts() {
  if (order_ && order_->on_device)
    base_->source_changed(*matrix_);
  else if (order_)
    base_->update_values(matrix_->csr().values.data(), matrix_->csr().nnz);
  if (preconditioner_) preconditioner_->prepared().refresh_if_stale();
  if (scaling_) {
    const auto *ops = static_cast<const sxt_preconditioner_ops *>(preconditioner_choice_->kernel->table.ops);
    Call call(matrix_->context().device());
    call.check(ops->scaling(preconditioner_->prepared().state(), &scaling_), preconditioner_choice_->kernel->name(),
               "scaling");
    system_->source_changed(*base_, scaling_);
  }
  if (narrow_) refresh_narrow();
  if (truth_) truth_->prepared().refresh_if_stale();
  refresh_chosen();
  if (wide_engine_) wide_engine_->prepared().refresh_if_stale();
  for (const auto &[columns, engine] : columns_)
    if (engine) engine->prepared().refresh_if_stale();
}

// Kernels that hold values take the new ones now; one that does not serve them is replaced by the next candidate.
void PcgSolver::refresh_chosen() {
  const auto or_again = [this](Runner &runner, auto &&build) {
    try {
      runner.prepared().refresh_if_stale();
    } catch (const Declined &declined) {
      left_out_.try_emplace(&declined.kernel(), declined.what());
      notes_.push_back(text(declined.what(), "; the next candidate took over"));
      build();
    }
  };
  if (product_) or_again(*product_, [this] { build_product(); });
  if (!engine_) return;
  or_again(*engine_, [this] {
    engine_.reset();
    columns_.clear();
    wide_engine_.reset();
    selected_.clear();
    build_engine();
  });
}

// What the plan rests on and these values do not keep; "": nothing. What the caller named is the caller's.
std::string PcgSolver::why_plan_anew(const Looked &now) const {
  if (!planned_) return "planning anew did not come to its end";
  if (!copied() && now.exponent != 0) return "the new values are far from 1";
  if (!copied() && (now.averaged || now.made_real)) return "the new values differ from their transpose by rounding";
  if (matrix_->context().plan().required()) return "";
  if (!plan_anew_because_.empty()) return plan_anew_because_;
  const bool unscaled = method_ == "none" && settings_.preconditioner.empty();
  if (!unscaled || !(now.diagonal_ratio > uneven * diagonal_ratio_) || !why_not_scaled(now.diagonal_ratio).empty())
    return "";
  return text("the diagonal's greatest entry is now ", now.diagonal_ratio, " times its least, and was ",
              diagonal_ratio_, " times when no scaling was chosen");
}

// As if the set-up were made now. Nothing runs, and no graph has anything of it.
void PcgSolver::plan_anew(const std::string &why) {
  const Clock clock;
  const double built_before_s = callers_->built_seconds();
  planned_ = false;
  left_out_.clear();
  columns_.clear();
  wide_engine_.reset(), engine_.reset(), product_.reset(), preconditioner_.reset();
  preconditioner_choice_.reset();
  selected_.clear();
  idle_.clear();
  narrow_.reset();
  truth_.reset();
  base_ = system_ = matrix_ = callers_;
  order_.reset();
  scaling_ = nullptr;
  probe_steps_ = 0, probe_seconds_ = 0, usual_iterations_ = 0;
  estimate_settled_ = false;
  probe_left_out_.clear(), plan_anew_because_.clear(), expected_from_.clear();
  notes_ = {"planned anew for new values: " + why};
  take_in_matrix();
  if (!null_space_.empty()) null_space_.check(matrix_->csr());
  predicted_setup_s_ = looking_seconds() - built_before_s;
  set_up();
  setup_seconds_ = clock.seconds();
  matrix_->context().log()(SXT_LOG_INFO, notes_.front());
}

// Solves with later values tell whether the plan still serves. Tighter tolerances take more in proportion.
void PcgSolver::learn_iterations(const sxt_pcg_report &report, double rtol) {
  const double usual = settings_.rtol > 0 ? settings_.rtol : default_rtol(callers_->value_type()),
               wanted = rtol > 0 ? rtol : usual;
  const double share = std::clamp(std::log(wanted) / std::log(usual), 1.0, 10.0);
  const double taken = static_cast<double>(report.iterations) / (std::isfinite(share) ? share : 1);
  const std::lock_guard lock(mutex_);
  if (planned_version_ == version_) {
    if (report.reason == SXT_REASON_CONVERGED) usual_iterations_ = std::max(usual_iterations_, taken);
    return;
  }
  const double before = usual_iterations_ > 0 ? usual_iterations_ : expected_iterations_;
  if (!chooses_freely() || !(taken > far_more * before) || !(taken > few_iterations)) return;
  plan_anew_because_ = text("a solve took ", report.iterations, " iterations, and about ",
                            static_cast<std::int64_t>(before), " with the values that the plan was made for");
}

// With something in use nothing is planned anew any more.
PcgSolver::InUse::InUse(PcgSolver &of) : solver(of) {
  const std::lock_guard lock(solver.mutex_);
  solver.bring_up_to_date();
  solver.tell_recorded();
  ++solver.in_use_;
}

PcgSolver::InUse::~InUse() {
  const std::lock_guard lock(solver.mutex_);
  --solver.in_use_;
}

}  // namespace sextant
