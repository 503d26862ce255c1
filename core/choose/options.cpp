// SPDX-License-Identifier: BSD-3-Clause
#include "core/choose/options.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

#include "core/base/types.hpp"
#include "core/base/units.hpp"
#include "core/run/prepared.hpp"

namespace sextant {

namespace {

constexpr double near_equal = 1.03;  // totals within this factor differ by less than any model tells

bool is_reference(const Option &option) { return option.kernel->has(SXT_KERNEL_REFERENCE); }

// Without streams, and usual ratios without printf: every choice tells a sentence about each of its options.
std::string ratio_text(double ratio) {
  if (ratio >= 1 && ratio < 9.994) {  // three digits, without zeros at the end
    const auto hundredths = static_cast<int>(std::nearbyint(100 * ratio));
    std::string digits(1, static_cast<char>('0' + hundredths / 100));
    if (hundredths % 100) digits += {'.', static_cast<char>('0' + hundredths / 10 % 10)};
    if (hundredths % 10) digits += static_cast<char>('0' + hundredths % 10);
    return digits;
  }
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.*g", ratio < 10 ? 3 : 4, ratio);
  return digits;
}

// Why the winner goes before an option of the same total.
const char *tie_text(const Option &option, const Option &winner) {
  if (total_within(option, 1) != total_within(winner, 1)) return "decided by the error bars";
  return option.kernel == winner.kernel ? "the first one offered is taken" : "decided by name";
}

// "2.5 times that of B". What rounds to 1 is told in words.
std::string ratio_to(const Option &option, const Option &winner, const std::string &name) {
  if (option.total_s == winner.total_s) return "equal to that of " + name + "; " + tie_text(option, winner);
  const std::string ratio = ratio_text(option.total_s / winner.total_s);
  return ratio == "1" ? "less than 0.5 % from that of " + name : ratio + " times that of " + name;
}

std::string why_not(const Option &option, const Option &winner) {
  if (!option.reason.empty()) return option.reason;
  if (is_reference(option) && !is_reference(winner)) return "reference kernel: taken only when nothing else applies";
  if (option.no_estimate) return "it gives no estimate: taken only when forced";
  if (option.measured_s > 0) return "measured total " + ratio_to(option, winner, winner.kernel->name());
  if (winner.measured_s > 0)
    return "predicted run " + ratio_text(option.run_s / winner.run_s) + " times that predicted for " +
           winner.kernel->name() + ": not among those that raced";
  const bool same = option.kernel == winner.kernel;
  return "predicted total " + ratio_to(option, winner, winner.kernel->name() + std::string(same ? " as chosen" : ""));
}

bool less_total(const Option &a, const Option &b) {
  if (is_reference(a) != is_reference(b)) return is_reference(b);
  if (a.no_estimate != b.no_estimate) return b.no_estimate;
  if (a.total_s != b.total_s) return a.total_s < b.total_s;
  return std::string_view(a.kernel->name()) < b.kernel->name();
}

}  // namespace

Entrant entrant_of(const Option &option) {
  const double runs = option.query.expected_runs() * option.run_s;
  return {option.total_s - runs, runs, option.rel_error,
          option.setup_s - option.features_s + option.storage_s + race_trial_price(option.run_s)};
}

double total_within(const Option &option, double errors) { return total_within(entrant_of(option), errors); }

// Each option is moved once: they are large, and a sort would move them many times.
void sort_by_total(std::vector<Option> &options) {
  std::vector<std::size_t> order(options.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return less_total(options[a], options[b]); });
  std::vector<Option> sorted;
  sorted.reserve(options.size());
  for (const std::size_t i : order) sorted.push_back(std::move(options[i]));
  options = std::move(sorted);
}

void put_robust_first(std::vector<Option> &options) {
  const auto in_question = [&](const Option &option) {
    return !option.no_estimate && !is_reference(option) && option.reason.empty();
  };
  const auto first = std::find_if(options.begin(), options.end(), in_question);
  if (first == options.end()) return;
  auto robust = first;
  for (auto option = first; option != options.end() && option->total_s <= near_equal * first->total_s; ++option)
    if (in_question(*option) && total_within(*option, 1) < total_within(*robust, 1)) robust = option;
  std::rotate(first, robust, robust + 1);
}

std::string follow_plan(const PlanEntry &entry, std::vector<Option> &options, bool required, const std::string &role) {
  const auto matches = [&](const Option &option) {
    return entry.kernel == option.kernel->name() && entry.storage == option.storage &&
           std::equal(entry.launch, entry.launch + 4, option.candidate.launch);
  };
  std::string problem;
  const auto found = std::find_if(options.begin(), options.end(), matches);
  if (found == options.end()) {
    problem = text("the plan's ", entry.kernel, " does not apply here any more");
  } else if (found->kernel->table.version != entry.version) {
    problem = text("the plan was made with version ", entry.version, " of ", entry.kernel, ", this is version ",
                   found->kernel->table.version);
  } else {
    options = {*found};
    // Without the features that it was predicted from, the model's word then is better than now.
    if (Option &planned = options.front(); entry.run_s > 0 && std::isfinite(entry.run_s)) {
      planned.total_s += planned.query.expected_runs() * (entry.run_s - planned.run_s);
      planned.run_s = entry.run_s;
    }
    return "";
  }
  require(!required, SXT_E_PLAN, "the plan is required but cannot be followed at ", role, ": ", problem);
  return problem + ", so it was decided anew";
}

std::string reason_of_choice(const Rules &rules, const std::vector<Option> &options, const Option &winner) {
  if (!rules.forced.empty()) return text("forced ", rules.forced_by);
  if (rules.past) return "chosen before for a matrix alike";
  if (rules.plan) return "the loaded plan says so";
  const Option *second = nullptr;
  for (const Option &option : options)
    if (option.kernel != winner.kernel || option.storage != winner.storage)
      if (!is_reference(option) && option.reason.empty() && !option.no_estimate &&
          (!second || option.total_s < second->total_s))
        second = &option;
  if (winner.measured_s > 0) {
    const auto raced = std::count_if(options.begin(), options.end(), [](const Option &o) { return o.measured_s > 0; });
    return text("a race of ", raced, " on this matrix: measured ", seconds_text(winner.measured_s),
                " a run, predicted ", seconds_text(winner.run_s));
  }
  if (!second) return is_reference(winner) ? "nothing but the reference applies" : "nothing else applies";
  const std::string ratio = ratio_text(second->total_s / winner.total_s);
  const std::string beside = second->total_s == winner.total_s ? text(", equal; ", tie_text(*second, winner))
                             : ratio == "1"                    ? " within 0.5 %"
                                                               : " at " + ratio + " times";
  const char *before = second->total_s < winner.total_s ? "least predicted total within its error bar; on average "
                                                        : "least predicted total; next best: ";
  return before + (second->kernel->name() + beside);
}

Considered describe(const Option &option, const Option *winner) {
  Considered line;
  line.kernel = option.kernel->name();
  line.device = option.kernel->table.device;
  line.format = option.storage;
  std::copy(option.candidate.launch, option.candidate.launch + 4, line.launch);
  line.setup_s = option.setup_s + option.storage_s;
  line.run_s = option.run_s;
  line.total_s = option.total_s;
  line.rel_error = option.rel_error;
  line.measured_s = option.measured_s;
  line.memory_bytes = option.candidate.state_bytes + option.candidate.scratch_bytes + option.storage_bytes;
  line.applicable = true;
  line.chosen = &option == winner;
  line.reason = line.chosen ? option.reason : winner ? why_not(option, *winner) : option.reason;
  if (!option.proposed_by.empty()) line.reason += "; proposed by " + option.proposed_by;
  return line;
}

PlanEntry plan_entry(const Choice &choice) {
  PlanEntry entry;
  entry.kernel = choice.kernel->name();
  entry.storage = choice.storage;
  entry.value_type = plan_types(choice.query);
  entry.version = choice.kernel->table.version;
  std::copy(choice.candidate.launch, choice.candidate.launch + 4, entry.launch);
  entry.run_s = choice.run_s;
  return entry;
}

Choice to_choice(const Option &option, const std::string &role) {
  Choice choice;
  choice.role = role;
  choice.query = option.query;
  choice.kernel = option.kernel;
  choice.storage = option.storage;
  choice.candidate = option.candidate;
  choice.run_s = option.run_s;
  choice.setup_s = option.setup_s;
  choice.storage_s = option.storage_s;
  choice.total_s = option.total_s;
  choice.rel_error = option.rel_error;
  choice.features_s = option.features_s;
  choice.measured_s = option.measured_s;
  choice.correction = option.correction;
  choice.reason = option.reason;
  choice.no_estimate = option.no_estimate;
  choice.slots = option.slots;
  choice.choose_product = choose_product;
  return choice;
}

SlotView::SlotView(const std::vector<SlotChoice> &slots) {
  std::size_t parts = 0;
  for (const SlotChoice &slot : slots) parts += slot.parts.size();
  parts_.reserve(parts);  // bounds_ points into it
  for (const SlotChoice &slot : slots) {
    auto &bounds = bounds_.emplace_back();
    for (const ChoicePtr &part : slot.parts) {
      parts_.push_back({part->kernel->name(), nullptr, nullptr, part->kernel->table.run, part->candidate.scratch_bytes,
                        part->run_s, part->kernel->table.flags, 0});
      bounds.push_back(&parts_.back());
    }
  }
  for (std::size_t i = 0; i < slots.size(); ++i) filled_.push_back(filled_slot(slots[i], bounds_[i]));
}

}  // namespace sextant
