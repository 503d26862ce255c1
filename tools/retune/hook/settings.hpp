// SPDX-License-Identifier: BSD-3-Clause
// What the environment asks for, read once; `sextant retune` sets it. docs/retune.md lists the variables.
#pragma once

#include <string>

#include "policy/allow.hpp"
#include "policy/cache.hpp"
#include "policy/policy.hpp"

namespace sextant::retune {

struct Settings {
  Policy policy = Policy::tiered;
  AllowList allow;
  std::string report;  // a folder that each process writes a file into; empty: no report
  bool dry_run = false;
  bool off = false;  // something it was told is wrong: launches stay as they are
};

// Never throws: what is wrong is said once on stderr.
const Settings &settings();
// Guarded by the lock of the registry.
Cache &cache();

}  // namespace sextant::retune
