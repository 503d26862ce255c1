// SPDX-License-Identifier: BSD-3-Clause
// Where an answer comes from: what this selector said before, what was said of a matrix alike, a loaded plan, the
// models.
#include <cmath>
#include <cstdint>
#include <tuple>
#include <utility>

#include "core/choose/options.hpp"
#include "core/choose/past.hpp"
#include "core/choose/selector.hpp"
#include "core/matrix/matrix.hpp"

namespace sextant {

ChoicePtr Selector::choose(const Question &question) {
  // What is asked about no matrix has the same answer whatever is seen of one.
  const bool sees = question.query.about_matrix();
  const auto key = std::make_tuple(question.role + "|" + question.storage, question.query.hash(), question.part,
                                   sees ? question.tiers : 0, sees && question.all_tiers);
  if (const auto found = memo_.find(key); found != memo_.end()) return found->second;
  Rules limits = rules(question);
  const std::uint64_t likeness = answers_again(question, limits) ? likeness_of(context_, question.query, *matrix_) : 0;
  if (likeness) {
    if (const ChoicePtr choice = choose_again(question, limits, likeness)) return memo_[key] = choice;
  }
  Weighed weighed = weigh(question, limits);
  const auto weigh_again = [&](const Question &again) {
    const bool held_back = weighed.held_back;
    weighed = weigh(again, limits);
    weighed.held_back |= held_back;
  };
  if (limits.plan) {
    // What a plan names seldom has to be told more of the matrix than its sizes.
    limits.plan_note = follow_plan(*limits.plan, weighed.options, false, question.role);
    if (!limits.plan_note.empty()) {
      Question with_all = question;
      with_all.all_tiers = true;
      weigh_again(with_all);
      limits.plan_note = follow_plan(*limits.plan, weighed.options, context_.plan().required(), question.role);
    }
    if (!limits.plan_note.empty()) {  // decided anew, among everything
      limits.plan.reset();
      weigh_again(question);
    }
  }
  const ChoicePtr choice = settle(question, limits, std::move(weighed));
  if (likeness && choice->correction == 1 && !choice->kernel->has(SXT_KERNEL_REFERENCE))
    PastChoices::of(context_)->keep(likeness, plan_entry(*choice));
  memo_[key] = choice;
  return choice;
}

// Whether an earlier answer would do: nothing but models and sizes counts.
bool Selector::answers_again(const Question &question, const Rules &limits) const {
  const bool asked_plainly = options_.forced.empty() && options_.left_out.empty() && options_.asked == 0 &&
                             !options_.own_only && std::isinf(options_.own_way_s) &&
                             std::isinf(options_.most_features_s);
  const bool by_models = limits.forced.empty() && !context_.plan().loaded() && !context_.deterministic() &&
                         !(context_.feedback() && context_.feedback()->all());
  return matrix_ && question.query.about_matrix() && !question.part && question.storage.empty() && asked_plainly &&
         by_models;
}

// What was chosen for a matrix alike, where it still applies; NULL: it has to be decided.
ChoicePtr Selector::choose_again(const Question &question, Rules limits, std::uint64_t likeness) {
  const std::shared_ptr<PastChoices> past = PastChoices::of(context_);
  limits.plan = past->find(likeness);
  if (!limits.plan) return nullptr;
  limits.past = true;
  try {
    Weighed weighed = weigh(question, limits);
    if (follow_plan(*limits.plan, weighed.options, false, question.role).empty() &&
        weighed.options.front().correction == 1)
      return settle(question, limits, std::move(weighed));
  } catch (const Error &) {  // it suited the other matrix only, or memory, which shows where it is built
  }
  past->forget(likeness);
  return nullptr;
}

}  // namespace sextant
