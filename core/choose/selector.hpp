// SPDX-License-Identifier: BSD-3-Clause
// The choice: over all kernels of a kind, storages they read and launch configurations they offer, the least predicted
// setup + N * run. Composed kernels have their slots filled first, for each storage, by the same rule.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/choose/launch.hpp"
#include "core/choose/question.hpp"
#include "core/context/context.hpp"
#include "core/run/choice.hpp"

namespace sextant {

class Matrix;
struct Option;   // one applicable candidate, with its slots filled (options.hpp)
struct Rules;    // what restricts a choice: force, plan
struct Weighed;  // the options of a question, and the kernels that do not apply

// A candidate of a kernel and what it would cost.
struct Estimate {
  const registry::Kernel *kernel = nullptr;
  std::uint64_t candidate = 0;  // its place in the kernel's list
  std::int64_t launch[4] = {0, 0, 0, 0};
  double run_s = 0, total_s = 0;  // total: setup + N * run
  int rank = 0;                   // 1 without a model, +2 for a reference: a lower rank goes first whatever the total
};

class Selector {
 public:
  // matrix NULL: the query is about none, or about sizes only (every storage counts as held, features are unknown).
  // Throws SXT_E_UNKNOWN_NAME for a forced kernel that is not loaded.
  Selector(Context &context, Matrix *matrix, SelectorOptions options = {});

  // Throws SXT_E_NO_KERNEL with every candidate's reason.
  ChoicePtr select(Question question);
  // The same without an entry in the plan, for a choice that may not be used; record makes the entry.
  ChoicePtr propose(Question question);
  void record(const Choice &choice) const;
  // Whether a loaded plan has an entry for it.
  bool is_planned(Question question) const;
  // Every applicable candidate (kernel x storage x launch), least predicted total first, references (flagged on the
  // kernel) last; each can be made into a Prepared. Forces, plans and quarantines of the kind itself do not
  // count; nothing is decided or recorded. refused, if given, gets the kernels that do not apply and why.
  std::vector<ChoicePtr> every(Question question, std::vector<Considered> *refused = nullptr);

  // Every candidate for a query about no matrix, with the seconds its model predicts: cheap, for callers with many
  // sizes. Kernels with slots are left out; forces count, plans do not.
  std::vector<Estimate> estimates(Query query) const;

 private:
  using Memo = std::map<std::tuple<std::string, std::uint64_t, bool, unsigned, bool>, ChoicePtr>;

  void complete(Query &query) const;
  ChoicePtr choose(const Question &question);
  bool answers_again(const Question &question, const Rules &rules) const;
  ChoicePtr choose_again(const Question &question, Rules rules, std::uint64_t likeness);
  // Candidates with as many tiers of features as could change the choice.
  Weighed weigh(Question question, const Rules &rules);
  void gather_again(const Question &question, const Rules &rules, unsigned opened, Weighed &weighed);
  double least_seconds(const Query &query) const;
  unsigned tiers_at_once(const Query &query, const Rules &rules, double &spent) const;
  std::vector<int> wanted_features(const std::set<const registry::Kernel *> &kernels, bool transposes, int tier) const;
  bool sees_known() const;
  // out_of_memory: set where a candidate had no room.
  void race(const Query &query, std::vector<Option> &options, bool *out_of_memory);
  void gather(const Question &question, const Rules &rules, Weighed &weighed);
  Rules rules(const Question &question) const;
  PlanKey plan_key(const std::string &role, const Query &query, std::uint64_t asked) const;
  std::optional<PlanEntry> planned(const std::string &role, const Query &query, std::string &why_not) const;
  std::vector<const registry::Kernel *> kernels(const char *kind) const;  // those that are asked
  std::string forced(const char *kind, const char **by) const;            // as the context says, unless own_only
  std::string why_spared(const registry::Kernel &kernel, const Rules &rules, double least_total_s) const;
  void consider(const registry::Kernel &kernel, const Question &question, const Rules &rules, Weighed &weighed);
  const std::vector<const char *> &forms_read();
  std::vector<std::string> storages_for(const registry::Kernel &kernel, const Query &query, const std::string &storage);
  bool consider_on(const registry::Kernel &kernel, const Question &question, Weighed &weighed, std::string &why_not);
  std::string refusal(const registry::Kernel &kernel, const Query &query, const sxt_features &features) const;
  // held_back: set where a part was chosen with less than all that could tell.
  std::vector<SlotChoice> fill_slots(const registry::Kernel &kernel, const Question &question, bool &held_back);
  SlotChoice fill_slot(const registry::Kernel &kernel, const Question &question, std::uint64_t slot, bool &held_back);
  SlotChoice fill_alternative(const registry::Kernel &kernel, const Question &question, std::uint64_t slot,
                              std::int32_t alternative, bool &held_back);
  std::vector<LaunchProposal> ask_policies(const registry::Kernel &kernel, const Query &query,
                                           std::span<const sxt_candidate> candidates,
                                           const std::vector<Prediction> &predictions) const;
  std::int64_t forced_launch(const registry::Kernel &kernel, const Query &query, const std::vector<sxt_candidate> &list,
                             std::uint64_t count) const;
  void price(bool part, Option base, const sxt_features &features, std::vector<Option> &options);
  std::string build_storage(const Option &option, bool *out_of_memory) const;
  ChoicePtr settle(const Question &question, const Rules &rules, Weighed weighed);

  Context &context_;
  Matrix *matrix_;
  const SelectorOptions options_;
  Memo memo_;  // parts that several engines and storages ask for alike
  std::vector<const char *> forms_read_;
  std::vector<sxt_candidate> candidates_;  // of the kernel being priced; zero beyond those written
  std::uint64_t candidates_written_ = 0;
};

}  // namespace sextant
