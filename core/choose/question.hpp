// SPDX-License-Identifier: BSD-3-Clause
// What the selector is asked, and the rules that the caller sets for all of its answers.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <string>

#include "core/base/query.hpp"
#include "core/matrix/feature_index.hpp"
#include "core/registry/registry.hpp"

namespace sextant {

struct Question {
  Query query{};
  std::string role{};     // path in the plan tree: "pcg", "pcg/A", ...
  std::string storage{};  // kind id of the only storage that may be read; "": any
  // Of the parts of composed kernels, which the selector asks itself about:
  bool part = false;                   // the storage is charged to the whole
  unsigned tiers = all_feature_tiers;  // of features that are seen; bit t: tier t
  bool all_tiers = false;              // also where a plan names the kernel: with less it could not be followed
};

// Kernels that declined when they were built or refreshed, and why: they are out of the choice.
using LeftOut = std::map<const registry::Kernel *, std::string>;

struct SelectorOptions {
  // Kind -> the only kernel of it, whatever the context says.
  std::map<std::string, std::string> forced{};
  LeftOut left_out{};
  // The options that the caller set, as one number; 0: none. A plan's entry is for the same number.
  std::uint64_t asked = 0;
  // Only kernels that came with the library answer; forces and plans do not count, and nothing is recorded.
  bool own_only = false;
  // Kernels with more slots than these take long to ask. Where why_not_composed is set they come last, and only where
  // it, told the least total of the others in seconds (infinite: there is none), answers ""; else its answer is what
  // the explanation says of them.
  std::uint64_t slots_not_spared = 0;
  std::function<std::string(double)> why_not_composed{};
  bool builds = true;  // what a choice reads; false: the caller may yet choose otherwise
  // Features that could tell candidates apart are computed for no more than so many seconds (Choice::held_back).
  double most_features_s = std::numeric_limits<double>::infinity();
  // The caller has a way of its own that takes so many seconds, set-up and all runs: what takes longer is refused,
  // unless it is forced or planned.
  double own_way_s = std::numeric_limits<double>::infinity();
};

}  // namespace sextant
