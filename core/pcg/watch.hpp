// SPDX-License-Identifier: BSD-3-Clause
// Whether a plan still serves the matrix's values: what it rests on, and what solves with later values told.
#pragma once

#include <cstdint>
#include <string>

#include "core/pcg/planning.hpp"
#include "core/pcg/system.hpp"
#include "sextant/sextant.h"

namespace sextant {

// A diagonal that was left as it is may become so many times as uneven before scaling by it is worth asking about: the
// iterations that a scaling saves grow by 2^0.2, 15 %, with it.
inline constexpr double uneven = 2;

// Of one plan. With its owner's lock held.
class PlanWatch {
 public:
  // version: of the values that the plan was made for.
  explicit PlanWatch(std::uint64_t version) : planned_(version) {}

  // What a solve that ended says of the iterations. version: of the values that it solved with.
  void learn(const PcgProblem &problem, const Expectation &expected, std::uint64_t version,
             const sxt_pcg_report &report, double rtol);
  // What solves with other values found; "": nothing.
  const std::string &found() const noexcept { return found_; }
  // The plan was kept all the same.
  void forget() { found_.clear(); }

 private:
  std::uint64_t planned_;
  double usual_iterations_ = 0;  // the most that a solve with those values took, at the set-up's tolerance
  std::string found_;
};

// What the plan rests on and these values do not keep; "": nothing. What the caller named is the caller's.
std::string why_plan_anew(const PcgProblem &problem, const EngineSystem &system, const PlanWatch &watch,
                          const Looked &now, double total_s);

}  // namespace sextant
