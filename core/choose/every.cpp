// SPDX-License-Identifier: BSD-3-Clause
// All that could be chosen, for those who measure it: calibration, verification, races.
#include "core/choose/options.hpp"
#include "core/choose/selector.hpp"

namespace sextant {

std::vector<ChoicePtr> Selector::every(Query query, const std::string &role, const std::string &storage,
                                       std::vector<Considered> *refused) {
  if (context_.deterministic()) query.get()->flags |= SXT_QUERY_DETERMINISTIC;
  if (matrix_ && query.about_matrix()) query.matrix_part().matrix = matrix_;
  std::vector<Option> options;
  std::vector<Considered> declined;
  gather(query, role, storage, false, Rules{}, options, declined);
  sort_by_total(options);
  std::vector<ChoicePtr> choices;
  for (const Option &option : options) choices.push_back(std::make_shared<Choice>(to_choice(option, role)));
  if (refused) *refused = std::move(declined);
  return choices;
}

}  // namespace sextant
