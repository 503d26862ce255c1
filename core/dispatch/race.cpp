// SPDX-License-Identifier: BSD-3-Clause
// The optional race: where error bars overlap, the models' best few run on the real matrix and the clock decides.
#include <algorithm>
#include <set>

#include "core/dispatch/options.hpp"
#include "core/dispatch/select.hpp"
#include "core/dispatch/trial.hpp"
#include "core/registry/conformance.hpp"

namespace sextant {

namespace {

// The first few whose predictions, within their error bars, may beat the best. One is no race.
std::vector<Option *> field_of(std::vector<Option> &options, int most, double budget_s) {
  std::vector<Option *> field;
  for (Option &option : options) {
    if (static_cast<int>(field.size()) == most) break;
    if (option.kernel->has(SXT_KERNEL_REFERENCE) || option.no_estimate) continue;
    if (!field.empty() && total_within(option, -1) >= total_within(*field.front(), 1)) continue;
    if (!field.empty() && option.setup_s + option.storage_s > budget_s) continue;  // it would not get to run
    field.push_back(&option);
  }
  if (field.size() < 2) field.clear();
  return field;
}

}  // namespace

void Selector::race(const Query &query, std::vector<Option> &options) {
  if (context_.race() < 2 || !matrix_ || !TrialProduct::possible(query)) return;
  const std::vector<Option *> field = field_of(options, context_.race(), context_.race_seconds());
  if (field.empty()) return;
  TrialProduct product(context_, query);
  std::set<std::string> built;
  for (Option *option : field) {
    try {
      if (option->kernel->verdict == registry::Verdict::untested)
        registry::self_test(*option->kernel, context_.device());
      if (option->kernel->verdict == registry::Verdict::quarantined) continue;
      const auto choice = std::make_shared<Choice>(to_choice(*option, "race"));
      const Trial trial =
          measure(context_, choice, *matrix_, product, context_.race_seconds() / static_cast<double>(field.size()));
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
