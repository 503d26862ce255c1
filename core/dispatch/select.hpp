// SPDX-License-Identifier: BSD-3-Clause
// The choice: over all kernels of a kind, storages they read and launch configurations they offer, the least predicted
// setup + N * run. Composed kernels have their slots filled first, for each storage, by the same rule.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "core/context/context.hpp"
#include "core/dispatch/choice.hpp"

namespace sextant {

class Matrix;
struct Option;  // one applicable candidate, with its slots filled (options.hpp)
struct Rules;   // what restricts a choice: force, plan

class Selector {
 public:
  // matrix NULL: the query is about none, or about sizes only (every storage counts as held, features are unknown).
  Selector(Context &context, Matrix *matrix) : context_(context), matrix_(matrix) {}

  // Only this kernel of a kind, whatever the context says. Throws SXT_E_UNKNOWN_NAME.
  void force(const std::string &kind, const std::string &kernel);
  // storage: "" for any; else the only one that may be read. Throws SXT_E_NO_KERNEL with every candidate's reason.
  ChoicePtr select(Query query, const std::string &role, const std::string &storage = "");

 private:
  using Memo = std::map<std::tuple<std::string, std::uint64_t, bool>, ChoicePtr>;

  ChoicePtr choose(const Query &query, const std::string &role, const std::string &storage, bool part);
  void gather(const Query &query, const std::string &role, const std::string &storage, bool part, const Rules &rules,
              std::vector<Option> &options, std::vector<Considered> &refused);
  Rules rules(const Query &query, const std::string &role) const;
  void consider(const registry::Kernel &kernel, const Query &query, const std::string &role, const std::string &storage,
                bool part, const Rules &rules, std::vector<Option> &options, std::vector<Considered> &refused);
  std::vector<std::string> storages_for(const registry::Kernel &kernel, const Query &query,
                                        const std::string &storage) const;
  bool consider_on(const registry::Kernel &kernel, const Query &query, const std::string &role,
                   const std::string &storage, bool part, std::vector<Option> &options);
  std::string refusal(const registry::Kernel &kernel, const Query &query, const sxt_features &features) const;
  std::vector<SlotChoice> fill_slots(const registry::Kernel &kernel, const Query &query, const std::string &role,
                                     const std::string &storage);
  SlotChoice fill_slot(const registry::Kernel &kernel, const Query &query, std::uint64_t slot, const std::string &role,
                       const std::string &storage);
  void fill_alternative(const registry::Kernel &kernel, const Query &query, std::uint64_t slot,
                        const std::string &kinds, const std::string &role, const std::string &storage, SlotChoice &out);
  void price(bool part, Option base, const sxt_features &features, std::vector<Option> &options) const;
  void record(const Choice &choice) const;
  ChoicePtr settle(const Query &query, const std::string &role, std::vector<Option> options,
                   std::vector<Considered> refused, const Rules &rules);

  Context &context_;
  Matrix *matrix_;
  std::map<std::string, std::string> forced_;
  Memo memo_;  // parts that several engines and storages ask for alike
};

}  // namespace sextant
