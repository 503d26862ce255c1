// SPDX-License-Identifier: BSD-3-Clause
// What the selector weighs: options, the rules that restrict them, and how both are told to people.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/choose/race_field.hpp"
#include "core/plan/plan.hpp"
#include "core/run/choice.hpp"

namespace sextant {

// A kernel's list of candidates is read up to here.
inline constexpr std::uint64_t candidate_capacity = 64;

struct Option {
  const registry::Kernel *kernel = nullptr;
  Query query;
  std::string storage;
  std::uint64_t storage_bytes = 0;
  sxt_candidate candidate{};
  std::vector<SlotChoice> slots;
  double run_s = 0, rel_error = 0;
  double setup_s = 0;  // own and its parts'
  double parts_setup_s = 0;
  double storage_s = 0;   // 0 when the matrix already holds it
  double features_s = 0;  // of setup_s: the share for features
  double total_s = 0;
  double measured_s = 0;  // in a race; 0: none
  double correction = 1;  // of run_s, from measured runs
  bool no_estimate = false;
  std::string reason;       // set for the winner, or when it was dropped late
  std::string proposed_by;  // launch policies that would take this candidate
};

// What it would take to build a storage here; not offered: the reason.
struct StorageOffer {
  bool offered = false;
  double setup_s = 0;
  std::uint64_t bytes = 0;
  std::string reason;
};

// What may answer a question, and the kernels that do not apply.
struct Weighed {
  std::vector<Option> options;
  std::vector<Considered> refused;
  std::map<std::string, StorageOffer> offers;  // by storage, for the features that are seen
  bool held_back = false;                      // Choice::held_back, of this question or of a part
};

struct Rules {
  std::string forced;  // kernel name, "" for none
  const char *forced_by = nullptr;
  std::optional<PlanEntry> plan;
  std::string plan_note;  // why a loaded plan is not followed
  bool past = false;      // `plan` is what was chosen before for a matrix alike (past.hpp): it need not be followed
};

Entrant entrant_of(const Option &option);

// Total seconds when a run is off by `errors` times its error bar (negative: faster), never below the set-up.
double total_within(const Option &option, double errors);

// References last, then kernels without an estimate, then by total, then by name so that ties do not depend on memory.
void sort_by_total(std::vector<Option> &options);

// Keeps only the option a plan entry names. When it is not there any more: returns why and keeps all, or throws
// SXT_E_PLAN when the plan is required.
std::string follow_plan(const PlanEntry &entry, std::vector<Option> &options, bool required, const std::string &role);

// Puts one of the options that are predicted to take nearly as long as the first in its place: the one that would take
// the least if its runs took longer by its error bar. Options in the order of sort_by_total.
void put_robust_first(std::vector<Option> &options);

std::string reason_of_choice(const Rules &rules, const std::vector<Option> &options, const Option &winner);

// A line of the explanation; winner NULL: none was found.
Considered describe(const Option &option, const Option *winner);

// What a plan says of a choice, but for its parts.
PlanEntry plan_entry(const Choice &choice);

Choice to_choice(const Option &option, const std::string &role);

// What every choice is given to choose products with factors by (Choice::choose_product).
ChoicePtr choose_product(Context &context, Matrix &factor, const Query &product, const std::string &role,
                         double below_s);

// The kinds of a slot's alternative, which '+' joins.
std::vector<std::string> slot_kinds(const std::string &alternative);

// The slots of an option as a kernel's model sees them: predicted parts without states.
class SlotView {
 public:
  explicit SlotView(const std::vector<SlotChoice> &slots);
  const sxt_filled *data() const noexcept { return filled_.data(); }

 private:
  std::vector<sxt_bound> parts_;
  std::vector<std::vector<const sxt_bound *>> bounds_;
  std::vector<sxt_filled> filled_;
};

}  // namespace sextant
