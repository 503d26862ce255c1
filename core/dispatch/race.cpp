// SPDX-License-Identifier: BSD-3-Clause
// The optional race: where error bars overlap, the models' best few run on the real matrix and the clock decides.
#include <algorithm>
#include <set>
#include <vector>

#include "core/dispatch/options.hpp"
#include "core/dispatch/select.hpp"
#include "core/dispatch/trial.hpp"
#include "core/registry/conformance.hpp"

namespace sextant {

namespace {

// Those who race, and for how long each repeats its runs: longer brings little on a device, where more of them are
// captured first; on a host it is other programs that disturb.
struct Field {
  std::vector<Option *> options;
  double runs_s = race_runs_s;
};

Field field_of(std::vector<Option> &options, int most, double given_s, bool on_host) {
  std::vector<Option *> able;
  std::vector<Entrant> entrants;
  for (Option &option : options) {
    if (option.kernel->has(SXT_KERNEL_REFERENCE) || option.no_estimate) continue;
    able.push_back(&option);
    entrants.push_back(entrant_of(option));
  }
  Field field;
  if (entrants.empty()) return field;
  const double budget_s = race_budget(entrants.front(), given_s);
  double left_s = budget_s;
  for (const std::size_t i : race_field(entrants, most, budget_s)) {
    field.options.push_back(able[i]);
    left_s -= entrants[i].price_s;
  }
  if (on_host && !field.options.empty())
    field.runs_s = race_trial_s + left_s / static_cast<double>(field.options.size());
  return field;
}

}  // namespace

void Selector::race(const Query &query, std::vector<Option> &options) {
  if (context_.race() < 2 || !matrix_ || !TrialProduct::possible(query)) return;
  const Field field = field_of(options, context_.race(), context_.race_seconds(), context_.device().on_host());
  if (field.options.empty()) return;
  TrialProduct product(context_, query);
  std::set<std::string> built;
  for (Option *option : field.options) {
    try {
      if (option->kernel->verdict == registry::Verdict::untested)
        registry::self_test(*option->kernel, context_.device());
      if (option->kernel->verdict == registry::Verdict::quarantined) continue;
      const auto choice = std::make_shared<Choice>(to_choice(*option, "race"));
      const Trial trial = measure(context_, choice, *matrix_, product, field.runs_s);
      if (trial.built_storage) built.insert(option->storage);
      option->measured_s = trial.run.seconds;
      option->total_s += query.expected_runs() * (trial.run.seconds - option->run_s);
    } catch (const Error &problem) {
      if (problem.status() == SXT_E_MEMORY) throw;
      option->reason = text("it failed in the race: ", problem.what());
    }
  }
  // Those that ran go first, by what was measured: it is better known than any prediction.
  std::stable_sort(options.begin(), options.end(), [](const Option &a, const Option &b) {
    if ((a.measured_s > 0) != (b.measured_s > 0)) return a.measured_s > 0;
    return a.measured_s > 0 && a.total_s < b.total_s;
  });
  for (const std::string &storage : built)
    if (storage != options.front().storage) matrix_->drop(storage);
}

}  // namespace sextant
