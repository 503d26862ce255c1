// SPDX-License-Identifier: BSD-3-Clause
// Which candidates take part in a race and what a race may cost: for the selector, and for callers that estimate the
// gain of races.
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
  double price_s = 0;  // what a trial would spend: storage, set-up and runs
};

// Total seconds when runs are off by `errors` times their error bar (negative: faster), never below what comes before.
inline double total_within(const Entrant &entrant, double errors) {
  return entrant.before_s + entrant.runs_s * std::max(0.0, 1 + errors * entrant.rel_error);
}

// On a device a trial repeats its runs for the first of these, which tells those of a few microseconds apart, and takes
// about the second: they are captured before. Of slow runs it needs some all the same.
inline constexpr double race_runs_s = 5e-4, race_trial_s = 2e-3;
inline constexpr int race_runs = 12;
inline double race_trial_price(double run_s) { return std::max(race_trial_s, race_runs * run_s); }

// A race takes no more than what it was given, and no more than a hundredth of what is to be run: what it brings is a
// few hundredths.
inline double race_budget(const Entrant &best, double given_s) { return std::min(given_s, 0.01 * best.runs_s); }

// Which entrants race, of entrants in the order of their totals: the first, and the others that within their error
// bars may beat it, at most `most` together, while all of them can be tried within the budget. Empty where only one
// would race.
inline std::vector<std::size_t> race_field(const std::vector<Entrant> &entrants, int most, double budget_s) {
  std::vector<std::size_t> field;
  double spent = 0;
  for (std::size_t i = 0; i < entrants.size() && static_cast<int>(field.size()) < most; ++i) {
    const double price = entrants[i].price_s;
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
