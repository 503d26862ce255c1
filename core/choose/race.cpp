// SPDX-License-Identifier: BSD-3-Clause
// The optional race: where error bars overlap, the models' best few run on the real matrix and the clock decides.
#include <algorithm>
#include <set>
#include <vector>

#include "core/choose/options.hpp"
#include "core/choose/selector.hpp"
#include "core/conformance/conformance.hpp"
#include "core/run/trial.hpp"

namespace sextant {

namespace {

// The options that race, and for how long each repeats its runs. Longer gains little on a device, where more runs are
// captured first; on a host other programs disturb the times.
struct Field {
  std::vector<Option *> options;
  double runs_s = race_runs_s;
};

Field field_of(std::vector<Option> &options, int most, double given_s, bool on_host) {
  std::vector<Option *> able;
  std::vector<Entrant> entrants;
  for (Option &option : options) {
    if (option.kernel->has(SXT_KERNEL_REFERENCE) || option.no_estimate || !option.reason.empty()) continue;
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

// Storages that the matrix holds because of the race; all but the leader's go with it.
class Guests {
 public:
  explicit Guests(Matrix &matrix) : matrix_(matrix) {}
  ~Guests() { make_room(); }
  Guests(const Guests &) = delete;
  Guests &operator=(const Guests &) = delete;
  // Before it may be built.
  void note(const std::string &storage) {
    if (!storage.empty() && !matrix_.holds(storage)) storages_.insert(storage);
  }
  void lead(const std::string &storage) { leader_ = storage; }
  void make_room() {
    for (const std::string &storage : storages_)
      if (storage != leader_) matrix_.drop(storage);
  }

 private:
  Matrix &matrix_;
  std::set<std::string> storages_;
  std::string leader_;
};

}  // namespace

// A race takes more memory than what is chosen in the end: a candidate that does not fit is out of it, and where none
// fits there was none.
void Selector::race(const Query &query, std::vector<Option> &options, bool *out_of_memory) {
  if (context_.race() < 2 || !matrix_ || !TrialProduct::possible(query)) return;
  const Field field = field_of(options, context_.race(), context_.race_seconds(), context_.device().on_host());
  if (field.options.empty()) return;
  Guests guests(*matrix_);
  const Option *leader = nullptr;
  std::vector<Option *> unfit;
  std::unique_ptr<TrialProduct> product;
  for (Option *option : field.options) {
    const auto fails = [&](bool for_memory, const char *why) {
      option->reason = text("it failed in the race: ", why);
      if (!for_memory) return;
      unfit.push_back(option);
      guests.make_room();
    };
    guests.note(option->storage);
    try {
      if (!product) product = std::make_unique<TrialProduct>(context_, query);
      const std::string why_not =
          conformance::self_test(*option->kernel, context_.device(), &option->query, context_.scope());
      if (!why_not.empty()) {
        option->reason = why_not;
        continue;
      }
      const auto choice = std::make_shared<Choice>(to_choice(*option, "race"));
      const Trial trial = measure(context_, choice, *matrix_, *product, field.runs_s);
      option->measured_s = trial.run.seconds;
      option->total_s += query.expected_runs() * (trial.run.seconds - option->run_s);
      if (!leader || option->total_s < leader->total_s) leader = option, guests.lead(option->storage);
    } catch (const Error &problem) {
      fails(problem.status() == SXT_E_MEMORY, problem.what());
    } catch (const std::bad_alloc &) {
      fails(true, status_sentence(SXT_E_MEMORY));
    }
  }
  if (!leader)
    for (Option *option : unfit) option->reason.clear();
  else if (!unfit.empty())
    *out_of_memory = true;
  // Those that ran go first, by what was measured: it is better known than any prediction.
  std::stable_sort(options.begin(), options.end(), [](const Option &a, const Option &b) {
    if ((a.measured_s > 0) != (b.measured_s > 0)) return a.measured_s > 0;
    return a.measured_s > 0 && a.total_s < b.total_s;
  });
}

}  // namespace sextant
