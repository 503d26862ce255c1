// SPDX-License-Identifier: BSD-3-Clause
// What a saved plan tells of a solver beside its kernels: the preconditioner, the iterations that all was chosen for,
// the order of the rows and the precision. Where it fits, nothing is probed, tried or looked for again.
#include <algorithm>
#include <cstdint>
#include <string>

#include "core/base/hash.hpp"
#include "core/base/types.hpp"
#include "core/pcg/plan.hpp"
#include "core/pcg/watch.hpp"

namespace sextant {

namespace {

constexpr const char *solver_role = "pcg/solver";

template <class T>
std::uint64_t add(const T &value, std::uint64_t hash) {
  return fnv1a(&value, sizeof value, hash);
}

}  // namespace

// Matrix and settings that a plan depends on.
PlanKey PcgPlanner::key(std::uint64_t asked) const {
  const PcgSettings &settings = problem_.settings;
  sxt_pcg_query query{};
  query.m = problem_.matrix().query_part(SXT_KIND_PCG, sizeof query, settings.expected_solves);
  query.m.symmetry = problem_.taken.symmetry();
  if (problem_.context().deterministic()) query.m.q.flags |= SXT_QUERY_DETERMINISTIC;
  std::uint64_t hash = Query(&query.m.q).hash();
  hash = add(settings.rtol, hash);
  hash = add(settings.expected_iterations, hash);
  hash = add(settings.probe, hash);
  hash = add(settings.reorder, hash);
  hash = add(settings.null_space_size, hash);
  if (asked) hash = add(asked, hash);
  return {solver_role, SXT_KIND_PCG, hash, problem_.matrix().pattern_hash()};
}

void PcgPlanner::save(const PcgPlan &plan) const {
  const Expectation &expected = plan.outlook.expected;
  const ChoicePtr &preconditioner = plan.system.preconditioner_choice();
  const double solves = problem_.settings.expected_solves;
  SolverPlan out;
  out.preconditioner = plan.system.method();
  out.ordered = plan.system.order().has_value();
  out.narrow = plan.system.narrow() != nullptr;
  out.settled = plan.outlook.settled;
  out.iterations = expected.iterations;
  out.assumed_iterations = out.preconditioner_iterations = expected.assumed;
  if (preconditioner && solves > 0) out.preconditioner_iterations = preconditioner->query.expected_runs() / solves;
  out.mean_over_expected = expected.mean_over;
  out.diagonal_ratio = std::min(problem_.taken.diagonal_ratio(), 1e300);  // a file holds numbers
  problem_.context().plan().record(key(named_by_hand(problem_.settings)), out);
}

// "" or why the plan does not fit what is asked for now.
std::string PcgPlanner::why_not_as_planned(const SolverPlan &saved) const {
  const std::string &method = problem_.settings.preconditioner;
  if (!method.empty() && method != saved.preconditioner)
    return text("its preconditioner is ", saved.preconditioner, ", this one is to be ", method);
  const double ratio = problem_.taken.diagonal_ratio();
  if (saved.preconditioner == "none" && method.empty() && ratio > uneven * saved.diagonal_ratio)
    return text("the diagonal's greatest entry is ", ratio, " times its least, and was ", saved.diagonal_ratio,
                " times when the plan left it unscaled");
  const std::string wanted = precision_wanted(problem_.settings, problem_.matrix().value_type());
  if (!wanted.empty() && (wanted == "f32") != saved.narrow)
    return text("its matrix is held in ", saved.narrow ? "f32" : "f64", ", this one is to be in ", wanted);
  try {  // of a plugin that is not loaded, or of a file that was changed
    if (saved.preconditioner != "none") check_method(saved.preconditioner, problem_.context());
  } catch (const Error &problem) {
    if (problem.status() != SXT_E_UNKNOWN_NAME) throw;
    return problem.what();
  }
  return "";
}

// Nothing: no plan is loaded, or it does not fit.
std::optional<PcgPlan> PcgPlanner::plan_as_saved() {
  Context &context = problem_.context();
  if (!context.plan().loaded()) return std::nullopt;
  const std::uint64_t asked = named_by_hand(problem_.settings);
  std::optional<SolverPlan> saved = context.plan().find_solver(key(asked), context.fingerprint());
  // Made for a solver of which nothing was named: what is named now goes before it.
  if (!saved && asked) saved = context.plan().find_solver(key(0), context.fingerprint());
  if (!saved) return std::nullopt;
  if (const std::string why_not = why_not_as_planned(*saved); !why_not.empty()) {
    require(!context.plan().required(), SXT_E_PLAN, "the plan is required but does not fit: ", why_not);
    notes_.push_back("the loaded plan does not fit: " + why_not);
    return std::nullopt;
  }
  return follow(*saved);
}

PcgPlan PcgPlanner::follow(const SolverPlan &saved) {
  const std::string &method = saved.preconditioner;
  PcgPlan out{EngineSystem(problem_.taken.shared()), {}, nullptr};
  Expectation &expected = out.outlook.expected;
  expected.iterations = saved.iterations;
  expected.assumed = saved.preconditioner_iterations;  // the same questions have the same answers
  expected.mean_over = saved.mean_over_expected;
  expected.stated = problem_.settings.expected_iterations > 0;
  out.outlook.settled = saved.settled;
  out.outlook.from = "as the loaded plan says";
  notes_.push_back("preconditioner " + method + ": the loaded plan says so");
  if (saved.ordered || problem_.settings.reorder > 0)
    consider_order(out, method, expected);  // and the preconditioner in that order
  if (method != "none" && !out.system.preconditioner_choice()) chooser_.precondition(out.system, method, expected);
  expected.assumed = saved.assumed_iterations;
  if (!saved.narrow) return out;
  std::unique_ptr<NarrowMatrix> narrow =
      NarrowMatrix::make(out.system.base(), out.system.scaling(), problem_.taken.symmetry());
  if (!narrow) notes_.push_back("values in f64: one does not fit f32");
  out.system.hold_narrow(std::move(narrow));
  return out;
}

}  // namespace sextant
