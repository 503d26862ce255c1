// SPDX-License-Identifier: BSD-3-Clause
// How many iterations a solve will take with the preconditioner in force: from a probe, where that costs little beside
// the solves.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/pcg/choosing.hpp"
#include "core/pcg/planning.hpp"
#include "core/pcg/probe.hpp"
#include "core/pcg/system.hpp"

namespace sextant {

// Before anything is asked: as the caller states, or assumed.
Outlook first_outlook(const PcgProblem &problem);

// Goes on with a probe whose residual has not begun to fall, each time as far again, within the predicted seconds.
void lengthen(Probe &probe, Runner *preconditioner, double tolerance, double step_s, double allowed_s,
              ProbeOutcome &outcome);

// Lives while a set-up is planned, in one thread.
class Estimator {
 public:
  Estimator(const PcgProblem &problem, PcgChooser &chooser, Notes &notes)
      : problem_(problem), chooser_(chooser), notes_(notes) {}

  // What the outlook becomes by a probe of the system's preconditioner.
  struct Estimate {
    Outlook outlook;
    bool probed = false;  // false: there was no probe, or it ended early, for a reason in the outlook or in a note
  };
  // before: without a probe. total_s: predicted seconds of all solves by it.
  Estimate estimate(Probe &probe, EngineSystem &system, const Outlook &before, double total_s);

 private:
  struct Probing;  // what the steps of a probe have in common
  std::string why_not_worth_probing(EngineSystem &system, const Expectation &expected, double probe_s);
  std::string why_not_worth_knowing(EngineSystem &system, const Expectation &expected, double cost_s);
  std::int64_t more_steps(const Probing &of, const Ritz &ritz, const Expectation &scattering);
  double iterations(const Ritz &ritz, double assumed) const;
  Expectation run_by_stages(const Probing &of, std::int64_t steps, const Expectation &first, ProbeOutcome &outcome);

  const PcgProblem &problem_;
  PcgChooser &chooser_;
  Notes &notes_;
};

}  // namespace sextant
