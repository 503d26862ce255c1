// SPDX-License-Identifier: BSD-3-Clause
// Filling the slots of a composed kernel: for each slot the cheapest alternative whose parts are all available.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/base/intern.hpp"
#include "core/base/shortage.hpp"
#include "core/choose/options.hpp"
#include "core/choose/selector.hpp"
#include "core/matrix/matrix.hpp"
#include "sextant/plugin/kinds/preconditioner.h"

namespace sextant {

using registry::Kernel;

namespace {

double cost_of(const SlotChoice &slot, double runs) {
  double cost = 0;
  for (const ChoicePtr &part : slot.parts) cost += part->setup_s + runs * part->run_s;
  return cost;
}

// What was forced goes before what a loaded plan names, and that before what is cheaper.
bool better(const SlotChoice &a, const SlotChoice &b) {
  const auto rank = [](const SlotChoice &slot) {
    const auto forced = [](const ChoicePtr &part) { return part->forced; };
    const auto planned = [](const ChoicePtr &part) { return part->by_plan; };
    if (std::any_of(slot.parts.begin(), slot.parts.end(), forced)) return 2;
    return std::all_of(slot.parts.begin(), slot.parts.end(), planned) ? 1 : 0;
  };
  if (rank(a) != rank(b)) return rank(a) > rank(b);
  const double runs = a.parts.front()->query.expected_runs();
  return cost_of(a, runs) < cost_of(b, runs);
}

}  // namespace

std::vector<std::string> slot_kinds(const std::string &alternative) {
  std::vector<std::string> kinds;
  for (std::size_t begin = 0, end = 0; end != std::string::npos; begin = end + 1) {
    end = alternative.find('+', begin);
    kinds.push_back(alternative.substr(begin, end - begin));
  }
  return kinds;
}

std::vector<SlotChoice> Selector::fill_slots(const Kernel &kernel, const Question &question, bool &held_back) {
  std::vector<SlotChoice> slots;
  for (std::uint64_t slot = 0; slot < kernel.table.n_slots; ++slot)
    slots.push_back(fill_slot(kernel, question, slot, held_back));
  return slots;
}

SlotChoice Selector::fill_slot(const Kernel &kernel, const Question &question, std::uint64_t slot, bool &held_back) {
  const sxt_slot &wanted = kernel.table.slots[slot];
  SlotChoice best;
  best.role = wanted.role;
  std::string problems;
  bool against_plan = false, against_force = false;
  for (std::int32_t i = 0; wanted.alternatives[i]; ++i) {
    SlotChoice filled;
    try {
      filled = fill_alternative(kernel, question, slot, i, held_back);
    } catch (const Error &problem) {
      if (out_of_memory(problem)) throw;
      against_plan = against_plan || problem.status() == SXT_E_PLAN;  // a required plan names one alternative only
      against_force = against_force || problem.status() == SXT_E_NOT_SUPPORTED;
      problems += text("\n  ", wanted.alternatives[i], ": ", problem.what());
      continue;
    }
    if (filled.instances < wanted.min_count || filled.instances == 0) continue;
    if (best.alternative < 0 || better(filled, best)) best = std::move(filled);
  }
  // Another alternative would not use what was forced, and say nothing.
  require(!against_force, SXT_E_NOT_SUPPORTED, "its slot ", wanted.role, " cannot be filled as forced:", problems);
  require(best.alternative >= 0 || wanted.min_count == 0, against_plan ? SXT_E_PLAN : SXT_NOT_APPLICABLE, "its slot ",
          wanted.role, " cannot be filled:", problems.empty() ? " no alternative was asked for" : problems);
  if (best.alternative < 0) best.problems = std::move(problems);
  return best;
}

SlotChoice Selector::fill_alternative(const Kernel &kernel, const Question &question, std::uint64_t slot,
                                      std::int32_t alternative, bool &held_back) {
  const sxt_slot &wanted = kernel.table.slots[slot];
  const Query &query = question.query;
  const std::vector<std::string> kinds = slot_kinds(wanted.alternatives[alternative]);
  SlotChoice out;
  out.role = wanted.role;
  out.alternative = alternative;
  out.kinds_per_instance = static_cast<std::uint32_t>(kinds.size());
  for (std::uint64_t instance = 0; instance < wanted.max_count; ++instance) {
    for (const std::string &kind : kinds) {
      Query part;
      const sxt_status status =
          kernel.table.slot_query(query.get(), slot, instance, intern(kind), part.buffer(), Query::capacity);
      if (status == SXT_NOT_APPLICABLE) return out;  // no more instances
      require(status == SXT_OK, SXT_NOT_APPLICABLE, kernel.name(), " could not say what it asks of ", kind);
      part.adopt(kernel.name());
      part.get()->flags |= query.get()->flags & (SXT_QUERY_DETERMINISTIC | SXT_QUERY_CAPTURABLE);
      if (wanted.required_flags & SXT_KERNEL_CAPTURABLE) part.get()->flags |= SXT_QUERY_CAPTURABLE;
      if (wanted.required_flags & SXT_KERNEL_DETERMINISTIC) part.get()->flags |= SXT_QUERY_DETERMINISTIC;
      if (part.about_matrix()) part.matrix_part().matrix = query.about_matrix() ? query.matrix_part().matrix : nullptr;
      // A preconditioner reads the matrix when it is prepared, in whatever form it can, not the one that products read.
      const bool bound_to_storage = part.about_matrix() && kind != SXT_KIND_PRECONDITIONER;
      out.parts.push_back(choose({.query = part,
                                  .role = question.role + "/" + wanted.role,
                                  .storage = bound_to_storage ? question.storage : "",
                                  .part = true,
                                  .tiers = question.tiers,
                                  .all_tiers = question.all_tiers}));
      held_back |= out.parts.back()->held_back;
    }
    ++out.instances;
  }
  return out;
}

}  // namespace sextant
