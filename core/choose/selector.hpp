// SPDX-License-Identifier: BSD-3-Clause
// The choice: over all kernels of a kind, storages they read and launch configurations they offer, the least predicted
// setup + N * run. Composed kernels have their slots filled first, for each storage, by the same rule.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/choose/launch.hpp"
#include "core/context/context.hpp"
#include "core/run/choice.hpp"

namespace sextant {

class Matrix;
struct Option;  // one applicable candidate, with its slots filled (options.hpp)
struct Rules;   // what restricts a choice: force, plan

// Kernels that declined when they were built or refreshed, and why: they are out of the choice.
using LeftOut = std::map<const registry::Kernel *, std::string>;

// What it would take to build a storage here; not offered: the reason.
struct StorageOffer {
  bool offered = false;
  double setup_s = 0;
  std::uint64_t bytes = 0;
  std::string reason;
};

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
  Selector(Context &context, Matrix *matrix) : context_(context), matrix_(matrix) {}

  // Only this kernel of a kind, whatever the context says. Throws SXT_E_UNKNOWN_NAME.
  void force(const std::string &kind, const std::string &kernel);
  // Kernels with more slots than these take long to ask. From now on they come last, and only where `why_not`, told the
  // least total of the others in seconds (infinite: there is none), answers ""; else its answer is what the explanation
  // says of them.
  void spare_composed(std::uint64_t slots, std::function<std::string(double)> why_not) {
    slots_not_spared_ = slots;
    why_not_composed_ = std::move(why_not);
  }
  // Kernels that are refused for a reason found elsewhere.
  void leave_out(LeftOut kernels) { left_out_ = std::move(kernels); }
  // What a choice would read is not built for it: the caller may yet choose otherwise.
  void build_nothing() { builds_ = false; }
  // Features that could tell candidates apart are computed for no more than so many seconds; whether some were not.
  void spend_at_most(double seconds) { most_spent_s_ = seconds; }
  bool held_back() const { return held_back_; }
  // The asker has a way of its own that takes so many seconds, set-up and all runs: what takes longer is refused,
  // unless it is forced or planned.
  void only_below(double total_s) { own_way_s_ = total_s; }
  // storage: "" for any; else the only one that may be read. Throws SXT_E_NO_KERNEL with every candidate's reason.
  ChoicePtr select(Query query, const std::string &role, const std::string &storage = "");
  // The same without an entry in the plan, for who may yet do without; record makes the entry.
  ChoicePtr propose(Query query, const std::string &role, const std::string &storage = "");
  void record(const Choice &choice) const;
  // Every applicable candidate (kernel x storage x launch), least predicted total first, references (flagged on the
  // kernel) last; each can be made into a Prepared. Forces, plans and quarantines of the kind itself have no say, and
  // nothing is decided or recorded. refused, if given, gets who does not apply and why.
  std::vector<ChoicePtr> every(Query query, const std::string &role, const std::string &storage = "",
                               std::vector<Considered> *refused = nullptr);

  // Every candidate for a query about no matrix, with the seconds its model predicts: cheap, for those who ask at many
  // sizes. Kernels with slots are left out; forces count, plans do not.
  std::vector<Estimate> estimates(Query query) const;

 private:
  using Memo = std::map<std::tuple<std::string, std::uint64_t, bool>, ChoicePtr>;

  ChoicePtr choose(const Query &query, const std::string &role, const std::string &storage, bool part);
  // Candidates with as many tiers of features as could change the choice; returns the seconds they are predicted to
  // take.
  double gather_in_tiers(const Query &query, const std::string &role, const std::string &storage, bool part,
                         const Rules &rules, std::vector<Option> &options, std::vector<Considered> &refused);
  void gather_again(const Query &query, const std::string &role, const std::string &storage, bool part,
                    const Rules &limits, unsigned opened, std::vector<Option> &options,
                    std::vector<Considered> &refused);
  double least_seconds(const Query &query) const;
  unsigned tiers_at_once(const Query &query, const Rules &rules, double &spent) const;
  std::vector<int> wanted_features(const std::set<const registry::Kernel *> &kernels, bool transposes, int tier) const;
  bool sees_known() const;
  void forget_parts();
  // out_of_memory: set where a candidate had no room.
  void race(const Query &query, std::vector<Option> &options, bool *out_of_memory);
  void gather(const Query &query, const std::string &role, const std::string &storage, bool part, const Rules &rules,
              std::vector<Option> &options, std::vector<Considered> &refused);
  Rules rules(const Query &query, const std::string &role) const;
  std::string why_spared(const registry::Kernel &kernel, const Rules &rules, double least_total_s) const;
  void consider(const registry::Kernel &kernel, const Query &query, const std::string &role, const std::string &storage,
                bool part, const Rules &rules, std::vector<Option> &options, std::vector<Considered> &refused);
  const std::vector<const char *> &forms_read();
  std::vector<std::string> storages_for(const registry::Kernel &kernel, const Query &query, const std::string &storage);
  bool consider_on(const registry::Kernel &kernel, const Query &query, const std::string &role,
                   const std::string &storage, bool part, std::vector<Option> &options, std::string &refusal);
  const StorageOffer &offer_of(const std::string &storage);
  std::string refusal(const registry::Kernel &kernel, const Query &query, const sxt_features &features) const;
  std::vector<SlotChoice> fill_slots(const registry::Kernel &kernel, const Query &query, const std::string &role,
                                     const std::string &storage);
  SlotChoice fill_slot(const registry::Kernel &kernel, const Query &query, std::uint64_t slot, const std::string &role,
                       const std::string &storage);
  void fill_alternative(const registry::Kernel &kernel, const Query &query, std::uint64_t slot,
                        const std::string &kinds, const std::string &role, const std::string &storage, SlotChoice &out);
  std::vector<LaunchProposal> ask_policies(const registry::Kernel &kernel, const Query &query,
                                           std::span<const sxt_candidate> candidates,
                                           const std::vector<Prediction> &predictions) const;
  std::int64_t forced_launch(const registry::Kernel &kernel, const Query &query, const std::vector<sxt_candidate> &list,
                             std::uint64_t count) const;
  void price(bool part, Option base, const sxt_features &features, std::vector<Option> &options);
  std::string build_storage(const Option &option, bool *out_of_memory) const;
  ChoicePtr settle(const Query &query, const std::string &role, bool part, std::vector<Option> options,
                   std::vector<Considered> refused, const Rules &rules);

  Context &context_;
  Matrix *matrix_;
  unsigned tiers_ = 15;  // of features that kernels see while they are asked; bit t: tier t
  std::map<std::string, std::string> forced_;
  LeftOut left_out_;
  std::function<std::string(double)> why_not_composed_;
  std::uint64_t slots_not_spared_ = 0;
  bool builds_ = true, held_back_ = false, all_tiers_ = false;
  double most_spent_s_ = std::numeric_limits<double>::infinity();
  double own_way_s_ = std::numeric_limits<double>::infinity();
  std::map<std::string, StorageOffer> offers_;  // while candidates are gathered
  Memo memo_;                                   // parts that several engines and storages ask for alike
  std::vector<const char *> forms_read_;
  std::vector<sxt_candidate> candidates_;  // of the kernel being priced; zero beyond those written
  std::uint64_t candidates_written_ = 0;
};

}  // namespace sextant
