// SPDX-License-Identifier: BSD-3-Clause
// All that could be chosen, to be measured by calibration, verification and races.
#include "core/choose/options.hpp"
#include "core/choose/selector.hpp"

namespace sextant {

std::vector<ChoicePtr> Selector::every(Question question, std::vector<Considered> *refused) {
  complete(question.query);
  Weighed weighed;
  gather(question, Rules{}, weighed);
  sort_by_total(weighed.options);
  std::vector<ChoicePtr> choices;
  for (const Option &option : weighed.options)
    choices.push_back(std::make_shared<Choice>(to_choice(option, question.role)));
  if (refused) *refused = std::move(weighed.refused);
  return choices;
}

}  // namespace sextant
