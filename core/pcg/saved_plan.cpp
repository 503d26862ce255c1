// SPDX-License-Identifier: BSD-3-Clause
// What a saved plan tells of a solver beside its kernels: the preconditioner, the iterations that all was chosen for,
// the order of the rows and the precision. Where it fits, nothing is probed, tried or looked for again.
#include <algorithm>
#include <cstdint>
#include <string>

#include "core/base/hash.hpp"
#include "core/base/types.hpp"
#include "core/pcg/solver.hpp"

namespace sextant {

namespace {

constexpr const char *solver_role = "pcg/solver";
// A diagonal so many times as uneven as that of the values the plan was made for needs another plan, if that has none.
constexpr double uneven = 2;

template <class T>
std::uint64_t add(const T &value, std::uint64_t hash) {
  return fnv1a(&value, sizeof value, hash);
}

}  // namespace

// Matrix and settings that a plan depends on; what the caller names by hand goes before the plan and is no part of it.
PlanKey PcgSolver::plan_key() const {
  sxt_pcg_query query{};
  query.m = matrix_->query_part(SXT_KIND_PCG, sizeof query, settings_.expected_solves);
  query.m.symmetry = symmetry_;
  if (matrix_->context().deterministic()) query.m.q.flags |= SXT_QUERY_DETERMINISTIC;
  std::uint64_t hash = Query(&query.m.q).hash();
  hash = add(settings_.rtol, hash);
  hash = add(settings_.expected_iterations, hash);
  hash = add(settings_.probe, hash);
  hash = add(settings_.reorder, hash);
  hash = add(settings_.null_space_size, hash);
  return {solver_role, SXT_KIND_PCG, hash, matrix_->pattern_hash()};
}

void PcgSolver::save_plan() const {
  SolverPlan plan;
  plan.preconditioner = method_;
  plan.ordered = order_.has_value();
  plan.narrow = narrow_ != nullptr;
  plan.settled = estimate_settled_;
  plan.iterations = expected_iterations_;
  plan.assumed_iterations = plan.preconditioner_iterations = assumed_iterations_;
  if (preconditioner_choice_ && settings_.expected_solves > 0)
    plan.preconditioner_iterations = preconditioner_choice_->query.expected_runs() / settings_.expected_solves;
  plan.mean_over_expected = mean_over_expected_;
  plan.diagonal_ratio = std::min(diagonal_ratio_, 1e300);  // a file holds numbers
  matrix_->context().plan().record(plan_key(), plan);
}

// "" or why the plan does not fit what is asked for now.
std::string PcgSolver::why_not_as_planned(const SolverPlan &plan) const {
  if (!settings_.preconditioner.empty() && settings_.preconditioner != plan.preconditioner)
    return text("its preconditioner is ", plan.preconditioner, ", this one is to be ", settings_.preconditioner);
  if (plan.preconditioner == "none" && settings_.preconditioner.empty() &&
      diagonal_ratio_ > uneven * plan.diagonal_ratio)
    return text("the diagonal's greatest entry is ", diagonal_ratio_, " times its least, and was ", plan.diagonal_ratio,
                " times when the plan left it unscaled");
  if (const std::string wanted = precision_wanted(); !wanted.empty() && (wanted == "f32") != plan.narrow)
    return text("its matrix is held in ", plan.narrow ? "f32" : "f64", ", this one is to be in ", wanted);
  return "";
}

// False: no plan is loaded, or it does not fit.
bool PcgSolver::plan_as_saved() {
  Context &context = matrix_->context();
  if (!context.plan().loaded()) return false;
  const std::optional<SolverPlan> plan = context.plan().find_solver(plan_key(), context.fingerprint());
  if (!plan) return false;
  if (const std::string why_not = why_not_as_planned(*plan); !why_not.empty()) {
    require(!context.plan().required(), SXT_E_PLAN, "the plan is required but does not fit: ", why_not);
    notes_.push_back("the loaded plan does not fit: " + why_not);
    return false;
  }
  mean_over_expected_ = plan->mean_over_expected;
  expected_iterations_ = plan->iterations;
  assumed_iterations_ = plan->preconditioner_iterations;  // the same questions have the same answers
  estimate_settled_ = plan->settled;
  expected_from_ = "as the loaded plan says";
  method_ = plan->preconditioner;
  notes_.push_back("preconditioner " + method_ + ": the loaded plan says so");
  if (method_ != "none") check_method(method_, context);
  if (plan->ordered || settings_.reorder > 0) consider_order();  // and the preconditioner in that order
  if (method_ != "none" && !preconditioner_choice_) build_preconditioner();
  assumed_iterations_ = plan->assumed_iterations;
  if (plan->narrow && !(narrow_ = make_narrow())) notes_.push_back("values in f64: one does not fit f32");
  return true;
}

}  // namespace sextant
