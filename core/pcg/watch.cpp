// SPDX-License-Identifier: BSD-3-Clause
#include "core/pcg/watch.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/types.hpp"
#include "core/pcg/plan.hpp"

namespace sextant {

namespace {

// A solve with later values that takes so many times the iterations of those before shows that the plan is not for
// them.
constexpr double far_more = 3;
// Fewer iterations are not worth a plan.
constexpr double few_iterations = 50;
// Tighter tolerances take more iterations in proportion to their logarithm; beyond this rounding has its part.
constexpr double most_digits = 10;

}  // namespace

void PlanWatch::learn(const PcgProblem &problem, const Expectation &expected, std::uint64_t version,
                      const sxt_pcg_report &report, double rtol) {
  const double set = problem.settings.rtol, usual = set > 0 ? set : default_rtol(problem.matrix().value_type()),
               wanted = rtol > 0 ? rtol : usual;
  const double share = std::clamp(std::log(wanted) / std::log(usual), 1.0, most_digits);
  const double taken = static_cast<double>(report.iterations) / (std::isfinite(share) ? share : 1);
  if (planned_ == version) {
    if (report.reason == SXT_REASON_CONVERGED) usual_iterations_ = std::max(usual_iterations_, taken);
    return;
  }
  const double before = usual_iterations_ > 0 ? usual_iterations_ : expected.iterations;
  if (!problem.chooses_freely() || !(taken > far_more * before) || !(taken > few_iterations)) return;
  found_ = text("a solve took ", report.iterations, " iterations, and about ", static_cast<std::int64_t>(before),
                " with the values that the plan was made for");
}

std::string why_plan_anew(const PcgProblem &problem, const EngineSystem &system, const PlanWatch &watch,
                          const Looked &now, double total_s) {
  const bool copied = problem.taken.copied();
  if (!copied && now.exponent != 0) return "the new values are far from 1";
  if (!copied && (now.averaged || now.made_real)) return "the new values differ from their transpose by rounding";
  if (problem.context().plan().required()) return "";
  if (!watch.found().empty()) return watch.found();
  const double before = problem.taken.diagonal_ratio();
  const bool unscaled = system.method() == "none" && problem.settings.preconditioner.empty();
  if (!unscaled || !(now.diagonal_ratio > uneven * before) ||
      !why_not_scaled(problem, now.diagonal_ratio, total_s).empty())
    return "";
  return text("the diagonal's greatest entry is now ", now.diagonal_ratio, " times its least, and was ", before,
              " times when no scaling was chosen");
}

}  // namespace sextant
