// SPDX-License-Identifier: BSD-3-Clause
// Questions to kernels about a system: which preconditioner, which engine, which product; and building what was chosen.
#pragma once

#include <memory>
#include <string>

#include "core/choose/selector.hpp"
#include "core/pcg/planning.hpp"
#include "core/pcg/system.hpp"
#include "core/run/prepared.hpp"
#include "sextant/plugin/kinds/pcg.h"

namespace sextant {

// What preconditioner kernels of a device offer, with the variants worth a try.
struct PreconditionerMethod {
  std::string name;
  bool scales, reference, polynomial;
  double typical_iterations;  // as a share of those with the diagonal; 0: unknown
};
std::vector<PreconditionerMethod> preconditioner_methods(const Context &context);
// Throws SXT_E_UNKNOWN_NAME where no kernel of the device knows the method.
void check_method(const std::string &method, const Context &context);

// The question which engine solves the system with this method, and its selector. Both read their arguments alone.
sxt_pcg_query engine_query(const PcgProblem &problem, const EngineSystem &system, const std::string &method,
                           const Expectation &expected);
Selector engine_selector(const PcgProblem &problem, const EngineSystem &system, const std::string &method,
                         SelectorOptions options);

// Seconds of an iteration of an engine on a device whose steps are other kernels, at best.
double least_iteration_s(const PcgProblem &problem);
// What all solves together take, before any engine is asked.
double rough_total_s(const PcgProblem &problem, const Expectation &expected);

// Lives while something is planned or built, in one thread. What it learns beside its answers goes where its
// constructor was told: kernels that decline, predicted seconds, and notes.
class PcgChooser {
 public:
  PcgChooser(const PcgProblem &problem, LeftOut &left_out, CostBook &costs, Notes &notes)
      : problem_(problem), left_out_(left_out), costs_(costs), notes_(notes) {}

  ChoicePtr preconditioner(const EngineSystem &system, const std::string &method, const Expectation &expected) const;
  // Puts one into force; kernels that decline are replaced by the next.
  void precondition(EngineSystem &system, const std::string &method, const Expectation &expected);
  // The one in force, which its engine will prepare for itself, prepared for a probe.
  std::unique_ptr<Runner> preconditioner_for_probe(EngineSystem &system, const Expectation &expected);
  // y = alpha A x + beta y with the matrix as it was taken in, for probes.
  std::unique_ptr<Runner> product();

  // What it would read is built when it is selected, so its cost is met. m_s: what an application of M takes, where it
  // is known; 0: there is none, or its kernel is to be asked.
  ChoicePtr engine(EngineSystem &system, const std::string &method, const Expectation &expected, double m_s = 0);
  // The engine in force where asking finds it within so many seconds and builds nothing; NULL: it would take more. The
  // answer is kept.
  ChoicePtr engine_within(EngineSystem &system, const Expectation &expected, double most_s);
  // The engine in force, built. Where it does not suit the matrix the next best serves, and where all kernels of a
  // method that the plan found decline, the diagonal does.
  std::unique_ptr<Runner> build_engine(EngineSystem &system, const Expectation &expected);

  // Takes the kernel that declined out of all later questions; false: it was out already, and nothing would change.
  // Answers that may name it are the caller's to drop.
  bool leave_out(const Declined &declined);

 private:
  struct Failures;
  ChoicePtr without_composed(const EngineSystem &system, const std::string &method, SelectorOptions options,
                             const Query &question, const Expectation &expected, double m_s, bool never);
  std::unique_ptr<Runner> build(EngineSystem &system, ChoicePtr choice, Failures &failures);

  const PcgProblem &problem_;
  LeftOut &left_out_;
  CostBook &costs_;
  Notes &notes_;
};

}  // namespace sextant
