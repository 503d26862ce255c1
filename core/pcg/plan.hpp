// SPDX-License-Identifier: BSD-3-Clause
// Planning a set-up: which preconditioner, how many iterations, in which order and precision. Each question is put
// where its answer can save more than asking costs, and the answer is the least predicted total of set-up and solves.
// What a loaded plan says of a solver is followed instead, where it fits.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/pcg/choosing.hpp"
#include "core/pcg/order.hpp"
#include "core/pcg/planning.hpp"
#include "core/pcg/system.hpp"
#include "core/plan/plan.hpp"

namespace sextant {

struct PcgPlan {
  EngineSystem system;
  Outlook outlook;
  std::unique_ptr<Runner> engine;  // where it was built to see whether it can be; NULL: it is yet to be built
};

// "" where a scaling by the diagonal is to be in force. total_s: of all solves, roughly.
std::string why_not_scaled(const PcgProblem &problem, double diagonal_ratio, double total_s);

// Lives while a set-up is planned, in one thread. Throws what kernels that were named fail with, SXT_E_PLAN where a
// plan is required and does not fit, SXT_E_MEMORY.
class PcgPlanner {
 public:
  // product: y = alpha A x + beta y, for probes.
  PcgPlanner(const PcgProblem &problem, PcgChooser &chooser, Runner &product, LeftOut &left_out, CostBook &costs,
             Notes &notes)
      : problem_(problem), chooser_(chooser), product_(product), left_out_(left_out), costs_(costs), notes_(notes) {}

  // And records it in the context's plan.
  PcgPlan plan();

 private:
  PcgPlan plan_anew();
  EngineSystem first_system(const Outlook &outlook);
  void consider_others(PcgPlan &plan, class Probe &probe);
  std::unique_ptr<Runner> engine_of_polynomial(EngineSystem &system, const std::string &method,
                                               const Expectation &expected, bool &fails);
  void consider_order(PcgPlan &plan, std::string method, const Expectation &expected);
  void consider_narrow(PcgPlan &plan);
  double rounding_seconds(const EngineSystem &system) const;
  double narrow_seconds(EngineSystem &system, const Expectation &expected, double rounding_s, bool wanted);

  std::optional<PcgPlan> plan_as_saved();  // saved_plan.cpp, with those that follow
  PcgPlan follow(const SolverPlan &saved);
  PlanKey key(std::uint64_t asked) const;  // named_by_hand
  std::string why_not_as_planned(const SolverPlan &saved) const;
  void save(const PcgPlan &plan) const;

  const PcgProblem &problem_;
  PcgChooser &chooser_;
  Runner &product_;
  LeftOut &left_out_;
  CostBook &costs_;
  Notes &notes_;
};

}  // namespace sextant
