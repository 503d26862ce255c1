// SPDX-License-Identifier: BSD-3-Clause
// What was chosen and why: a tree with one node for each kernel, and beside each node every candidate that was
// considered. A choice is only a decision; nothing is built yet (see prepared.hpp).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/query.hpp"
#include "core/registry/registry.hpp"

namespace sextant {

// One line of an explanation. Seconds and bytes are predictions.
struct Considered {
  std::string kernel, device, format;  // format: the storage kind's id; "" when no matrix is read
  std::int64_t launch[4] = {0, 0, 0, 0};
  double setup_s = 0;  // own set-up, its parts' and the storage's
  double run_s = 0;
  double total_s = 0;     // setup + N * run, what the choice minimises
  double rel_error = 0;   // of run_s; nine in ten are within it
  double measured_s = 0;  // a run in a race; 0: it did not race
  std::uint64_t memory_bytes = 0;
  bool applicable = false, chosen = false;
  bool against_force = false;  // refused because a kernel that was forced for a part cannot apply
  std::string reason;          // why chosen or why not
};

class Context;
class Matrix;
struct Choice;
using ChoicePtr = std::shared_ptr<const Choice>;

struct SlotChoice {
  std::string role;
  std::int32_t alternative = -1;  // -1: left empty
  std::uint32_t instances = 0, kinds_per_instance = 0;
  std::vector<ChoicePtr> parts;  // instances x kinds_per_instance
  std::string problems;          // why it stays empty, where something was asked for; "" otherwise
};

struct Choice {
  std::string role;  // path in the plan tree: "pcg", "pcg/A", ...
  Query query;
  const registry::Kernel *kernel = nullptr;
  std::string storage;  // kind id of the storage it (or its parts) read; "" for none
  sxt_candidate candidate{};
  double run_s = 0, setup_s = 0, storage_s = 0, total_s = 0, rel_error = 0;
  double features_s = 0;  // of setup_s: features that were computed to settle this choice
  double measured_s = 0;  // a run, when a race decided
  double correction = 1;  // of run_s, from measured runs: run_s / correction is what the model said
  std::string reason;
  bool forced = false;       // by call, environment or option
  bool by_plan = false;      // a loaded plan named it
  bool trusted = false;      // it reads what the library's own kernels built
  bool no_estimate = false;  // it or a part of it has no model: run_s says nothing
  bool spreads = false;      // chosen for one thread, runs on as many as there are (spread.hpp)
  bool held_back = false;    // features that could have told more would have taken longer than the caller allowed
  std::vector<SlotChoice> slots;
  std::vector<Considered> considered;
  // Chooses the product with a factor that the kernel makes while it is prepared, of those that take less than so many
  // seconds, set-up and all runs. Throws as Selector::select. NULL: the kernel multiplies by its factors itself.
  ChoicePtr (*choose_product)(Context &context, Matrix &factor, const Query &product, const std::string &role,
                              double below_s) = nullptr;
};

}  // namespace sextant
