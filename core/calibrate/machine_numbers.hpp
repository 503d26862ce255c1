// SPDX-License-Identifier: BSD-3-Clause
// What this host's processors reach: streams, gathers and the barrier of a team, measured.
#pragma once

#include <map>
#include <string>

#include "sextant/plugin/plugin.h"

namespace sextant {

// Numbers of the [machine] table of a profile, for a context on the CPU. Uses at most most_bytes of memory and takes
// about `seconds`.
std::map<std::string, double> measure_machine(const sxt_machine &machine, double most_bytes, double seconds);

}  // namespace sextant
