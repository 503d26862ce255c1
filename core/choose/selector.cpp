// SPDX-License-Identifier: BSD-3-Clause
#include "core/choose/selector.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>

#include "core/base/intern.hpp"
#include "core/base/shortage.hpp"
#include "core/choose/options.hpp"
#include "core/conformance/capture_check.hpp"
#include "core/conformance/conformance.hpp"
#include "core/context/feedback.hpp"
#include "core/matrix/matrix.hpp"
#include "sextant/plugin/kinds/pcg_columns.h"
#include "sextant/plugin/kinds/preconditioner_columns.h"
#include "sextant/plugin/order.h"
#include "sextant/sdk/arithmetic.hpp"

namespace sextant {

using registry::Kernel;

namespace {

bool requires_storage(const Kernel &kernel) { return kernel.table.storages && kernel.table.storages[0]; }

bool any_part_reads_storage(const std::vector<SlotChoice> &slots) {
  for (const SlotChoice &slot : slots)
    for (const ChoicePtr &part : slot.parts)
      if (!part->storage.empty()) return true;
  return false;
}

// No model of its own, or a part without one, on which no sum of costs can be built.
bool lacks_estimate(const Kernel &kernel, const std::vector<SlotChoice> &slots) {
  if (!kernel.table.candidates) return true;
  for (const SlotChoice &slot : slots)
    for (const ChoicePtr &part : slot.parts)
      if (part->no_estimate) return true;
  return false;
}

// Whether a feature that matters is not known.
bool lacks_feature(const sxt_features &features, bool transposes) {
  for (std::uint64_t i = 0; i < features.count; ++i)
    if (std::isnan(features.values[i]) && (transposes || !tells_of_transpose(features.names[i]))) return true;
  return false;
}

// A line for each reason, with the kernels that have it: a force refuses dozens for one reason.
std::string list_refusals(const std::vector<Considered> &refused) {
  std::vector<std::pair<std::string, std::string>> lines;  // reason, kernels
  for (const Considered &each : refused) {
    const std::string name = text(each.kernel, each.format.empty() ? "" : " on ", each.format);
    const auto same =
        std::find_if(lines.begin(), lines.end(), [&](const auto &line) { return line.first == each.reason; });
    if (same == lines.end())
      lines.emplace_back(each.reason, name);
    else if (text(", ", same->second, ",").find(text(", ", name, ",")) == std::string::npos)
      same->second += ", " + name;
  }
  std::string all;
  for (const auto &[reason, kernels] : lines) all += text("\n  ", kernels, ": ", reason);
  return all.empty() ? " (none of that kind is loaded for this device)" : all;
}

// The tests a kernel takes before it may first win. "" or why it cannot be used now.
std::string test_first(const Option &option, Context &context, bool *out_of_memory) {
  const registry::Kernel &kernel = *option.kernel;
  try {
    if (kernel.verdict == registry::Verdict::untested) {
      std::string why_not = conformance::self_test(kernel, context.device(), &option.query, context.scope());
      if (!why_not.empty()) return why_not;
    }
    if (option.query.has(SXT_QUERY_CAPTURABLE) && kernel.verdict != registry::Verdict::passed)
      conformance::capture_test(kernel, context.device(), context.scope());
  } catch (const Error &problem) {
    if (problem.status() != SXT_E_MEMORY) throw;
    *out_of_memory = true;
    return text("there was no memory to test it: ", problem.what());
  }
  return kernel.verdict == registry::Verdict::quarantined ? "quarantined: " + kernel.quarantine_reason : "";
}

}  // namespace

Selector::Selector(Context &context, Matrix *matrix, SelectorOptions options)
    : context_(context), matrix_(matrix), options_(std::move(options)) {
  for (const auto &[kind, kernel] : options_.forced) context_.check_names(kind, kernel);
}

ChoicePtr Selector::select(Question question) {
  ChoicePtr choice = propose(std::move(question));
  if (!options_.own_only) record(*choice);
  return choice;
}

ChoicePtr Selector::propose(Question question) {
  context_.device().begin_setup();
  complete(question.query);
  return choose(question);
}

// With what the context demands of every answer, and the matrix that is meant.
void Selector::complete(Query &query) const {
  if (context_.deterministic()) query.get()->flags |= SXT_QUERY_DETERMINISTIC;
  if (matrix_ && query.about_matrix()) query.matrix_part().matrix = matrix_;
}

void Selector::gather(const Question &question, const Rules &limits, Weighed &weighed) {
  std::vector<const Kernel *> composed;
  for (const Kernel *kernel : kernels(question.query.kind())) {
    if (options_.why_not_composed && !question.part && kernel->table.n_slots > options_.slots_not_spared)
      composed.push_back(kernel);
    else
      consider(*kernel, question, limits, weighed);
  }
  double least_s = std::numeric_limits<double>::infinity();
  for (const Option &option : weighed.options)
    if (!option.no_estimate && !option.kernel->has(SXT_KERNEL_REFERENCE)) least_s = std::min(least_s, option.total_s);
  for (const Kernel *kernel : composed) {
    Considered line;
    line.kernel = kernel->name();
    line.device = kernel->table.device;
    line.reason = why_spared(*kernel, limits, least_s);
    if (line.reason.empty())
      consider(*kernel, question, limits, weighed);
    else
      weighed.refused.push_back(std::move(line));
  }
}

// Where the kernel or a part is forced, every kernel is asked.
std::string Selector::why_spared(const Kernel &kernel, const Rules &limits, double least_total_s) const {
  if (!limits.forced.empty() || limits.plan) return "";
  const char *by = nullptr;
  for (std::uint64_t slot = 0; slot < kernel.table.n_slots; ++slot)
    for (const char *const *kinds = kernel.table.slots[slot].alternatives; *kinds; ++kinds)
      for (const std::string &kind : slot_kinds(*kinds))
        if (!context_.forced(kind, &by).empty()) return "";
  return options_.why_not_composed(least_total_s);
}

std::vector<const Kernel *> Selector::kernels(const char *kind) const {
  if (!options_.own_only) return context_.scope().kernels(kind, context_.device_name());
  return registry::Registry::instance().own_kernels(kind, context_.device_name());
}

std::string Selector::forced(const char *kind, const char **by) const {
  return options_.own_only ? "" : context_.forced(kind, by);
}

Rules Selector::rules(const Question &question) const {
  const Query &query = question.query;
  Rules limits;
  limits.forced = forced(query.kind(), &limits.forced_by);
  if (const auto found = options_.forced.find(query.kind()); found != options_.forced.end()) {
    limits.forced = found->second;
    limits.forced_by = "by option";
  }
  if (options_.own_only || !context_.plan().loaded()) return limits;
  limits.plan = planned(question.role, query, limits.plan_note);
  if (!limits.forced.empty()) {  // a plan made under the same force says with which storage and parts
    if (limits.plan && limits.plan->kernel != limits.forced) limits.plan.reset();
    limits.plan_note.clear();
    return limits;
  }
  require(limits.plan || !context_.plan().required(), SXT_E_PLAN, "the plan is required but has no entry for ",
          question.role, " (", query.kind(), ") on this query and matrix: ", limits.plan_note);
  return limits;
}

void Selector::consider(const Kernel &kernel, const Question &question, const Rules &limits, Weighed &weighed) {
  const auto refuse = [&](const std::string &form, std::string reason, bool against_force = false) {
    Considered &line = weighed.refused.emplace_back();
    line.kernel = kernel.name();
    line.device = kernel.table.device;
    line.format = form;
    line.reason = std::move(reason);
    line.against_force = against_force;
  };
  if (limits.plan && limits.plan->kernel != kernel.name())
    return refuse(
        "", (limits.past ? "chosen before for a matrix alike: " : "the loaded plan names ") + limits.plan->kernel);
  if (!limits.forced.empty() && limits.forced != kernel.name())
    return refuse("", text(limits.forced, " was forced ", limits.forced_by));
  // A planned choice reads the planned storage; where another is demanded, the plan does not fit and that is found
  // later.
  const std::string &demanded = question.storage;
  const std::vector<std::string> storages =
      storages_for(kernel, question.query, limits.plan && demanded.empty() ? limits.plan->storage : demanded);
  if (storages.empty())
    refuse("", demanded.empty() ? "no storage that it reads can be built here" : "it does not read " + demanded);
  Question on = question;
  for (const std::string &form : storages) {
    if (on.query.about_matrix()) on.query.matrix_part().storage = form.empty() ? nullptr : intern(form);
    on.storage = form;
    const plugin::FloatKeeper arithmetic;
    try {
      std::string refusal;
      const bool reads_storage = consider_on(kernel, on, weighed, refusal);
      if (!refusal.empty())
        refuse(form, std::move(refusal));
      else if (!reads_storage)
        break;
    } catch (const Error &problem) {
      if (problem.status() == SXT_E_PLAN || out_of_memory(problem)) throw;
      refuse(form, problem.what(), problem.status() == SXT_E_NOT_SUPPORTED);
    } catch (const std::bad_alloc &) {
      throw;
    } catch (const std::exception &problem) {  // a plugin broke its contract: that costs it this choice, not the call
      refuse(form, text("it threw: ", problem.what()));
    } catch (...) {
      refuse(form, "it threw something that is no std::exception");
    }
  }
}

// Storages that any kernel of the device reads, asked of the registry once.
const std::vector<const char *> &Selector::forms_read() {
  if (!forms_read_.empty()) return forms_read_;
  const auto known = [&](const char *form) {
    return std::any_of(forms_read_.begin(), forms_read_.end(),
                       [&](const char *each) { return std::string_view(each) == form; });
  };
  for (const Kernel *any : context_.scope().all_kernels())
    for (const char *const *form = any->table.storages; form && *form; ++form)
      if (std::string_view(any->table.device) == context_.device_name() && !known(*form)) forms_read_.push_back(*form);
  return forms_read_;
}

std::vector<std::string> Selector::storages_for(const Kernel &kernel, const Query &query, const std::string &storage) {
  if (!query.about_matrix()) return {""};
  std::vector<std::string> forms;
  const auto add = [&](const char *form) {
    if (!storage.empty() && storage != form) return;
    if (std::find(forms.begin(), forms.end(), form) != forms.end()) return;
    if (!context_.scope().kernels(form, context_.device_name()).empty()) forms.emplace_back(form);
  };
  if (requires_storage(kernel)) {
    for (const char *const *form = kernel.table.storages; *form; ++form) add(*form);
  } else if (kernel.table.n_slots > 0) {  // its parts read the matrix: every storage that anything here reads
    for (const char *form : forms_read()) add(form);
    if (forms.empty() && storage.empty()) forms.emplace_back("");  // perhaps none of its parts reads one
  } else {
    forms.emplace_back("");
  }
  return forms;
}

// False: neither the kernel nor a part of it reads the question's storage, so that others need not be tried. why_not:
// set where it does not apply.
bool Selector::consider_on(const Kernel &kernel, const Question &question, Weighed &weighed, std::string &why_not) {
  const Query &query = question.query;
  const std::string &storage = question.storage;
  const std::size_t count = feature_ids(kernel).size();
  std::vector<double> values;
  if (count)
    values = matrix_ && query.about_matrix()
                 ? matrix_->features_for(kernel, question.tiers, sees_known(), query.transposes())
                 : std::vector<double>(count, std::nan(""));
  const sxt_features features{count, kernel.table.features, values.data()};
  why_not = refusal(kernel, query, features);
  if (!why_not.empty()) return true;

  Option base;
  base.kernel = &kernel;
  base.query = query;
  base.slots = fill_slots(kernel, question, weighed.held_back);
  const bool reads_storage = requires_storage(kernel) || any_part_reads_storage(base.slots);
  if (reads_storage) base.storage = storage;
  if (!base.storage.empty() && matrix_ && !question.part) {
    const auto [at, is_new] = weighed.offers.try_emplace(storage);
    StorageOffer &offer = at->second;
    if (is_new)
      offer.offered =
          matrix_->storage_offered(storage, &offer.setup_s, &offer.bytes, &offer.reason, question.tiers, sees_known());
    why_not = offer.offered ? "" : offer.reason;
    if (!offer.offered) return true;
    base.storage_s = offer.setup_s;
    base.storage_bytes = offer.bytes;
  }
  price(question.part, std::move(base), features, weighed.options);
  return reads_storage;
}

std::string Selector::refusal(const Kernel &kernel, const Query &query, const sxt_features &features) const {
  const sxt_kernel &table = kernel.table;
  if (kernel.verdict == registry::Verdict::quarantined) return "quarantined: " + kernel.quarantine_reason;
  if (const auto out = options_.left_out.find(&kernel); out != options_.left_out.end())
    return "it declined: " + out->second;
  const std::uint32_t bit = 1u << query.value_type();
  if (table.value_types && !(table.value_types & bit))
    return text("does not compute in ", value_name(query.value_type()));
  if (table.min_level > context_.machine().level)
    return text("needs device level ", table.min_level, ", this one is ", context_.machine().level);
  if (query.has(SXT_QUERY_DETERMINISTIC) && !kernel.has(SXT_KERNEL_DETERMINISTIC))
    return "its bits may differ from run to run";
  if (query.has(SXT_QUERY_ONE_ORDER) && !kernel.has(SXT_KERNEL_ONE_ORDER))
    return "it adds in an order of its own, and deterministic mode demands the one that all engines share";
  if (query.has(SXT_QUERY_COLUMNS) && !kernel.has(SXT_KERNEL_COLUMNS)) return "it takes one right-hand side at a time";
  if (query.has(SXT_QUERY_SIDE_BY_SIDE) && !kernel.has(SXT_KERNEL_SIDE_BY_SIDE)) return "it takes one vector at a time";
  if (query.has(SXT_QUERY_CAPTURABLE) && !kernel.has(SXT_KERNEL_CAPTURABLE))
    return "it may not run inside a captured graph";
  if (!table.applicable) return "";
  char reason[256] = "";
  sxt_message message{reason, sizeof reason};
  const sxt_status status = table.applicable(query.get(), &features, &context_.machine(), &message);
  if (status == SXT_OK) return "";
  return *reason ? reason : text("it declined without a reason (", status_name(status), ")");
}

std::vector<LaunchProposal> Selector::ask_policies(const Kernel &kernel, const Query &query,
                                                   std::span<const sxt_candidate> candidates,
                                                   const std::vector<Prediction> &predictions) const {
  if (!kernel.table.launch_config) return {};
  std::vector<double> seconds;
  for (const Prediction &prediction : predictions) seconds.push_back(prediction.seconds);
  return launch_proposals(context_, kernel, query.get(), candidates, seconds);
}

// Why slots are empty that something was asked for; "" where none is.
static std::string empty_slots(const std::vector<SlotChoice> &slots) {
  std::string all;
  for (const SlotChoice &slot : slots)
    if (!slot.problems.empty()) all += text("; its slot ", slot.role, " stays empty:", slot.problems);
  return all;
}

void Selector::price(bool part, Option base, const sxt_features &features, std::vector<Option> &options) {
  const Kernel &kernel = *base.kernel;
  const Query &query = base.query;
  base.parts_setup_s = 0;
  for (const SlotChoice &slot : base.slots)
    for (const ChoicePtr &each : slot.parts) base.parts_setup_s += each->setup_s;
  // Made once, since clearing them all for every question would take longer than most questions.
  candidates_.resize(candidate_capacity);
  std::fill_n(candidates_.begin(), std::exchange(candidates_written_, candidate_capacity), sxt_candidate{});
  std::uint64_t count = 1;
  if (kernel.table.candidates) {
    const SlotView slots(base.slots);
    const sxt_status status = kernel.table.candidates(query.get(), &features, &context_.machine(), slots.data(),
                                                      candidates_.data(), candidate_capacity, &count);
    require(status == SXT_OK && count > 0, SXT_NOT_APPLICABLE, "its model gave no candidate (", status_name(status),
            ")", empty_slots(base.slots));
  } else {
    candidates_[0].run_s = std::numeric_limits<double>::infinity();
  }
  candidates_written_ = std::min(count, candidate_capacity);
  const std::span<const sxt_candidate> candidates(candidates_.data(), candidates_written_);
  const bool no_estimate = lacks_estimate(kernel, base.slots);
  // A model that lacks a feature it asks for guesses, however well it was fitted.
  const bool unknown = lacks_feature(features, query.transposes());
  bool any_usable = false;
  std::string problem;
  std::vector<Prediction> predictions;
  predictions.reserve(candidates.size());
  for (const sxt_candidate &candidate : candidates)
    predictions.push_back(
        predict(kernel.table, *query.get(), candidate, context_.machine(), context_.profile(), !unknown));
  const std::vector<LaunchProposal> proposals = ask_policies(kernel, query, candidates, predictions);
  const LaunchProposal *only = forced_proposal(context_, proposals);
  for (std::uint64_t i = 0; i < candidates.size(); ++i) {
    if (only && only->candidate != static_cast<std::int64_t>(i)) continue;
    Option option = base;  // slots are shared pointers: cheap
    option.candidate = candidates[i];
    option.proposed_by = proposed_by(proposals, i);
    const Prediction &run = predictions[i];
    option.correction = context_.feedback() ? context_.feedback()->factor({kernel, query, candidates[i]}) : 1;
    option.run_s = run.seconds * option.correction;
    option.rel_error = unknown ? std::max(run.rel_error, analytic_rel_error) : run.rel_error;
    option.setup_s = run.setup_s + base.parts_setup_s;
    option.total_s = option.setup_s + (part ? 0 : option.storage_s) + query.expected_runs() * option.run_s;
    option.no_estimate = no_estimate;
    const bool usable =
        option.no_estimate || (std::isfinite(option.total_s) && option.run_s >= 0 && candidates[i].setup_s >= 0);
    if (usable)
      options.push_back(std::move(option));
    else
      problem = text("its model predicted ", run.seconds, " s a run and ", candidates[i].setup_s,
                     " s of set-up, which cannot be");
    any_usable = any_usable || usable;
  }
  require(any_usable, SXT_NOT_APPLICABLE, problem);
}

// Builds the storage that an option reads. "" or why it could not be built: that a form does not suit the matrix, or
// does not fit into memory, may turn out only then.
std::string Selector::build_storage(const Option &option, bool *out_of_memory) const {
  if (!matrix_ || option.storage.empty() || matrix_->holds(option.storage)) return "";
  try {
    matrix_->lend(option.storage);
    return "";
  } catch (const Error &problem) {
    *out_of_memory = *out_of_memory || problem.status() == SXT_E_MEMORY;
    return text(option.storage, " could not be built: ", problem.what());
  }
}

static bool has_forced_part(const Option &option) {
  return std::any_of(option.slots.begin(), option.slots.end(), [](const SlotChoice &slot) {
    return std::any_of(slot.parts.begin(), slot.parts.end(), [](const ChoicePtr &part) { return part->forced; });
  });
}

ChoicePtr Selector::settle(const Question &question, const Rules &limits, Weighed weighed) {
  std::vector<Option> &options = weighed.options;
  std::vector<Considered> &refused = weighed.refused;
  sort_by_total(options);
  const bool bypasses =
      std::any_of(refused.begin(), refused.end(), [](const Considered &line) { return line.against_force; });
  // So would a kernel that does everything itself.
  if (limits.forced.empty() && (bypasses || std::any_of(options.begin(), options.end(), has_forced_part)))
    for (Option &option : options)
      if (option.slots.empty()) option.reason = "it would pass over what was forced for a part of others";
  bool out_of_memory = false;  // then another attempt may succeed, and the status has to say so
  if (limits.forced.empty() && !limits.plan) {
    for (Option &option : options)
      // Where the caller has no way of its own, kernels without an estimate may serve, too.
      if (!question.part && std::isfinite(options_.own_way_s) && option.total_s >= options_.own_way_s)
        option.reason = "the caller has a way that is predicted to end sooner";
    race(question.query, options, &out_of_memory);
    if (options.empty() || options.front().measured_s == 0) put_robust_first(options);
  }
  Option *winner = nullptr;
  std::map<std::string, std::string> unbuilt;  // storages with the reason why they could not be built, "" for none
  for (Option &option : options) {
    if (!option.reason.empty()) continue;  // it failed in the race
    option.reason = test_first(option, context_, &out_of_memory);
    if (!question.part && options_.builds && option.reason.empty()) {
      const auto [built, first] = unbuilt.try_emplace(option.storage);  // no second attempt for another launch
      if (first) built->second = build_storage(option, &out_of_memory);
      option.reason = built->second;
    }
    if (!option.reason.empty()) continue;
    winner = &option;
    break;
  }
  // The reference would do, but only by passing over what was forced for a part of the others.
  if (winner && bypasses && winner->kernel->has(SXT_KERNEL_REFERENCE) && limits.forced.empty()) winner = nullptr;
  if (!winner) {
    for (const Option &option : options) refused.push_back(describe(option, nullptr));
    const sxt_status unasked = limits.forced.empty() && !bypasses ? SXT_E_NO_KERNEL : SXT_E_NOT_SUPPORTED;
    const std::string by =
        limits.forced.empty() ? "" : text(" (", limits.forced, " was forced ", limits.forced_by, ")");
    fail(out_of_memory ? SXT_E_MEMORY : unasked, "no kernel of kind ", question.query.kind(), " can do this", by, ":",
         list_refusals(refused));
  }
  winner->reason = reason_of_choice(limits, options, *winner);
  if (!limits.plan_note.empty()) winner->reason += "; " + limits.plan_note;

  auto choice = std::make_shared<Choice>(to_choice(*winner, question.role));
  choice->forced = !limits.forced.empty();
  choice->by_plan = limits.plan.has_value() && !limits.past;
  choice->held_back = weighed.held_back;
  choice->spreads = context_.deterministic() && context_.device().on_host();
  for (const Option &option : options) choice->considered.push_back(describe(option, winner));
  choice->considered.insert(choice->considered.end(), refused.begin(), refused.end());
  return choice;
}

}  // namespace sextant
