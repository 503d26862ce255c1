// SPDX-License-Identifier: BSD-3-Clause
// What a selector writes into the plan of its context, and what it finds in a loaded one.
#include <cstdint>

#include "core/base/hash.hpp"
#include "core/choose/options.hpp"
#include "core/choose/selector.hpp"
#include "core/matrix/matrix.hpp"

namespace sextant {

PlanKey Selector::plan_key(const std::string &role, const Query &query, std::uint64_t asked) const {
  const std::uint64_t hash = query.hash();
  return {role, query.kind(), asked ? fnv1a(&asked, sizeof asked, hash) : hash,
          matrix_ && query.about_matrix() ? matrix_->pattern_hash() : 0};
}

// Only what was chosen goes into the plan, not what the refused engines would have used.
void Selector::record(const Choice &choice) const {
  context_.plan().record(plan_key(choice.role, choice.query, options_.asked), plan_entry(choice));
  for (const SlotChoice &slot : choice.slots)
    for (const ChoicePtr &part : slot.parts) record(*part);
}

// The entry made for equal options of the caller, else the one made for none, where it fits.
std::optional<PlanEntry> Selector::planned(const std::string &role, const Query &query, std::string &why_not) const {
  const PlanBook &plan = context_.plan();
  const std::string types = plan_types(query), machine = context_.fingerprint();
  std::optional<PlanEntry> found = plan.find(plan_key(role, query, options_.asked), types, machine, why_not);
  if (!found && options_.asked) found = plan.find(plan_key(role, query, 0), types, machine, why_not);
  return found;
}

bool Selector::is_planned(Question question) const {
  if (!context_.plan().loaded()) return false;
  complete(question.query);
  std::string why_not;
  return planned(question.role, question.query, why_not).has_value();
}

}  // namespace sextant
