// SPDX-License-Identifier: BSD-3-Clause
// The order of elimination: the caller's, or the best of those that loaded kernels find.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/cholesky/choose.hpp"
#include "core/cholesky/settings.hpp"
#include "core/context/context.hpp"

namespace sextant::cholesky {

struct FoundOrder {
  std::string method;
  Elimination elimination;
  Partition partition;
  std::vector<std::string> notes;  // what was considered, for explanations
};

// factor_seconds: predicted, of one factorisation and its share of the solves. Throws SXT_E_UNKNOWN_NAME for a method
// that no kernel offers, SXT_E_NO_KERNEL where none gives an order.
FoundOrder find_order(Context &context, const Graph &graph, const Settings &settings,
                      const std::function<double(const sxt_cholesky_query &)> &factor_seconds);

}  // namespace sextant::cholesky
