// SPDX-License-Identifier: BSD-3-Clause
// What runs in a check take, beside what the model said.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/conformance/bench.hpp"

namespace sextant::conformance {

// Gathers over all cases of a kernel; only what is off everywhere is held against it, so that a busy machine is not.
class CostCheck {
 public:
  // every_run: also what tells where the model misses, which takes longer.
  explicit CostCheck(bool every_run) : every_run_(every_run) {}
  // where: the case, for people.
  void measure(Lending &lending, const sxt_bound &bound, const sxt_head *args, const Fitted &fitted,
               std::size_t candidate, const std::string &where);
  // "" or what is grossly wrong.
  std::string problem() const;
  // How far predictions were from runs, and where farthest; "": no run was long enough to be timed.
  std::string told() const;
  // Measured over predicted time of the run that is farthest off; 0: no run was timed.
  double worst_miss() const { return ratios_.empty() ? 0 : farthest_.ratio(); }

 private:
  struct Run {
    double predicted_s = 0, measured_s = 0;
    double ratio() const;
  };
  bool every_run_;
  std::vector<double> ratios_;  // measured / predicted
  Run nearest_, farthest_;      // by ratio: the least one; the one farthest from 1
  std::string farthest_where_;
};

}  // namespace sextant::conformance
