// SPDX-License-Identifier: BSD-3-Clause
// Of an automatic context's device and the CPU beside it (Context::companion): where work on arrays in host memory ends
// sooner, the copies to the device and back counted.
#pragma once

#include <functional>
#include <string>

#include "sextant/plugin/plugin.h"

namespace sextant {

// Predicted: `bytes` in all that go to the device or come back, in so many copies, each waited for by the host.
double ways_seconds(const sxt_machine &device, double bytes, double copies);

struct Placement {
  bool here = false;               // on the CPU
  double here_s = 0, there_s = 0;  // predicted
  bool there_at_least = false;     // there_s is a bound, and that was enough
};

// least_there_s: no work on the device ends sooner. there_s is asked only where that does not settle it, for the answer
// may take a set-up there.
Placement weigh(double here_s, double least_there_s, const std::function<double()> &there_s);

// "sets in host memory are computed on the CPU: 2 us predicted on the CPU, at least 60 us on cuda with .. copied".
// what: the arrays and what is done, up to the place; copied: what goes to the device and back.
std::string placement_text(const Placement &placement, const std::string &what, const char *device, const char *copied);

}  // namespace sextant
