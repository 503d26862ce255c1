// SPDX-License-Identifier: BSD-3-Clause
// Who takes part in a race and what a race may cost: for the selector, and for those who ask what races would bring.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace sextant {

// A candidate before it has run.
struct Entrant {
  double before_s = 0;  // of its total, what comes before the first run
  double runs_s = 0;    // all expected runs, as predicted
  double rel_error = 0;
  double price_s = 0;  // of what comes before, what a trial alone would spend: storage and set-up
};

// Total seconds when runs are off by `errors` times their error bar (negative: faster), never below what comes before.
inline double total_within(const Entrant &entrant, double errors) {
  return entrant.before_s + entrant.runs_s * std::max(0.0, 1 + errors * entrant.rel_error);
}

// A trial that tells runs of a few microseconds apart takes so long.
inline constexpr double race_trial_s = 5e-4;

// A race takes no more than what it was given, and no more than a hundredth of what is to be run: what it brings is a
// few hundredths.
inline double race_budget(const Entrant &best, double given_s) { return std::min(given_s, 0.01 * best.runs_s); }

// Places of those who race, of entrants in the order of their totals: the first, and of the others those that within
// their error bars may beat it, `most` together, while all of them can be set up and tried within the budget. One is no
// race: none then.
inline std::vector<std::size_t> race_field(const std::vector<Entrant> &entrants, int most, double budget_s) {
  std::vector<std::size_t> field;
  double spent = 0;
  for (std::size_t i = 0; i < entrants.size() && static_cast<int>(field.size()) < most; ++i) {
    const double price = entrants[i].price_s + race_trial_s;
    const bool may_win = i == 0 || total_within(entrants[i], -1) < total_within(entrants[0], 1);
    if (may_win && spent + price <= budget_s)
      field.push_back(i), spent += price;
    else if (i == 0)
      return {};
  }
  if (field.size() < 2) field.clear();
  return field;
}

}  // namespace sextant
