// SPDX-License-Identifier: BSD-3-Clause
// Trials of other preconditioners than the one in force: those that could have a lower predicted total of set-up and
// solves are probed, the most promising first, within a share of that total.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/pcg/choosing.hpp"
#include "core/pcg/planning.hpp"
#include "core/pcg/probe.hpp"
#include "core/pcg/system.hpp"

namespace sextant {

// Lives while a set-up is planned, in one thread. Everything learned on the way is in the Outlook that it is given: the
// seconds of trials, and what is expected with the preconditioner that is found.
class Trials {
 public:
  Trials(const PcgProblem &problem, PcgChooser &chooser, Probe &probe, EngineSystem &system, CostBook &costs,
         Notes &notes)
      : problem_(problem), chooser_(chooser), probe_(probe), system_(system), costs_(costs), notes_(notes) {}

  struct Found {
    PreconditionerMethod method;
    Expectation expected;  // with it
    double total_s = 0;    // of set-up and solves
  };
  struct Result {
    std::optional<Found> better;  // nothing: what is in force stays
    Outlook outlook;              // with what is in force
  };
  // engine: chosen for the outlook.
  Result run(const Choice &engine, const Outlook &outlook);

 private:
  // What trials share. Their cost is counted as it is predicted: what a clock says differs from run to run, and the
  // choice would with it.
  struct Race;
  struct Offer {  // a preconditioner's predicted total, infinite where it is left out, and what it is for
    double total_s;
    Expectation expected;
  };
  std::vector<PreconditionerMethod> by_promise(const std::vector<PreconditionerMethod> &methods, const Race &race);
  Offer left_out(const PreconditionerMethod &method, const std::string &why);
  Offer consider_polynomial(const PreconditionerMethod &method, const Race &race);
  Offer consider(const PreconditionerMethod &method, Race &race);
  Offer try_out(const PreconditionerMethod &method, Race &race);
  std::string why_not_tried(const Choice &choice, const PreconditionerMethod &method, Race &race, std::int64_t &steps);
  ProbeOutcome probe_with(const Choice &choice, Runner &preconditioner, std::int64_t steps, double left_s, Race &race);
  void infer_base(Race &race, const PreconditionerMethod &method, const Ritz &ritz, double iterations);

  const PcgProblem &problem_;
  PcgChooser &chooser_;
  Probe &probe_;
  EngineSystem &system_;
  CostBook &costs_;
  Notes &notes_;
};

}  // namespace sextant
