// SPDX-License-Identifier: BSD-3-Clause
#include "core/choose/placement.hpp"

#include <algorithm>

#include "core/base/error.hpp"
#include "core/base/units.hpp"

namespace sextant {

namespace {
constexpr double copy_call_s = 8e-6;  // a call of the host that starts a copy and waits for it
}

double ways_seconds(const sxt_machine &device, double bytes, double copies) {
  return copies * copy_call_s + bytes / std::max(1.0, device.copy_rate);
}

Placement weigh(double here_s, double least_there_s, const std::function<double()> &there_s) {
  Placement out{true, here_s, least_there_s, true};
  if (here_s <= least_there_s) return out;
  out.there_s = there_s();
  out.there_at_least = false;
  out.here = here_s < out.there_s;
  return out;
}

std::string placement_text(const Placement &placement, const std::string &what, const char *device,
                           const char *copied) {
  return text(what, " on the ", placement.here ? "CPU" : "device", ": ", seconds_text(placement.here_s),
              " predicted on the CPU, ", placement.there_at_least ? "at least " : "", seconds_text(placement.there_s),
              " on ", device, " with ", copied, " copied");
}

}  // namespace sextant
