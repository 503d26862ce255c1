// SPDX-License-Identifier: BSD-3-Clause
// What runs in a check take, beside what the model said.
#pragma once

#include <cstddef>
#include <string>

#include "core/conformance/bench.hpp"

namespace sextant::conformance {

// Gathers over all cases of a kernel; only what is off everywhere is held against it, so that a busy machine is not.
class CostCheck {
 public:
  void measure(Lending &lending, const sxt_bound &bound, const sxt_head *args, const Fitted &fitted,
               std::size_t candidate);
  // "" or what is grossly wrong.
  std::string problem() const;

 private:
  bool any_ = false;
  double least_ratio_ = 0, predicted_s_ = 0, measured_s_ = 0;
};

}  // namespace sextant::conformance
