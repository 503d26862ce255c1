// SPDX-License-Identifier: BSD-3-Clause
// A better order of the rows: where gathers dominate products and the solves are many or long, the engine sees P A P^T,
// whose order is found once from the pattern. What the caller gives and gets is moved on the way; true residuals are
// those of the caller's matrix in the caller's order.
#pragma once

#include <set>
#include <string>

#include "core/pcg/choosing.hpp"
#include "core/pcg/planning.hpp"
#include "core/pcg/system.hpp"

namespace sextant {

// Lives while a set-up is planned, in one thread.
class OrderSearch {
 public:
  OrderSearch(const PcgProblem &problem, PcgChooser &chooser, LeftOut &left_out, CostBook &costs, Notes &notes)
      : problem_(problem), chooser_(chooser), left_out_(left_out), costs_(costs), notes_(notes) {}

  // The same system in another order where that is asked for, planned, or predicted to pay; else `here`. method: the
  // preconditioner that is to be in force. Throws what fails where an order was asked for.
  EngineSystem consider(EngineSystem here, const std::string &method, const Expectation &expected);

 private:
  struct Asked {            // why an order is looked for
    bool demanded = false;  // the caller
    bool planned = false;   // a loaded plan: it was made by one that paid
    bool any() const { return demanded || planned; }
  };
  ChoicePtr propose(Selector &selector, Asked asked) const;
  double beside_seconds(bool on_device) const;
  double seconds_of(const Choice &ordering) const;
  std::string why_not(EngineSystem &here, const std::string &method, const Expectation &expected,
                      const Choice &ordering);
  std::pair<double, double> gather_rates() const;
  double gather_seconds() const;
  std::optional<EngineSystem> make(const ChoicePtr &ordering, bool asked);
  EngineSystem bring_into_order(RowOrder order, const void *perm);
  bool pays(const Choice &here, const Choice &there, const Choice &ordering, double asking_s);
  std::optional<EngineSystem> try_order(EngineSystem &here, const std::string &method, const Expectation &expected,
                                        const ChoicePtr &ordering, Selector &selector, Asked asked);

  const PcgProblem &problem_;
  PcgChooser &chooser_;
  LeftOut &left_out_;
  CostBook &costs_;
  Notes &notes_;
};

}  // namespace sextant
