// SPDX-License-Identifier: BSD-3-Clause
// Common parts of CPU kernels of kind sxt.reduction/1 in working precision: the queries they serve, and which
// operations read two vectors.
#pragma once

#include "sextant/plugin/kinds/reduction.h"
#include "sextant/sdk/kernel.hpp"

namespace sextant::plugin {

inline bool reads_two_vectors(std::int32_t operation) {
  return operation == SXT_REDUCTION_DOT || operation == SXT_REDUCTION_DOTC;
}

inline sxt_status working_precision_applicable(const sxt_query *query, const sxt_features *, const sxt_machine *,
                                               sxt_message *reason) {
  const auto &q = as<sxt_reduction_query>(query);
  if (q.operation < SXT_REDUCTION_SUM || q.operation > SXT_REDUCTION_MAX)
    return refuse(reason, "operation %d is not one of %d to %d", q.operation, SXT_REDUCTION_SUM, SXT_REDUCTION_MAX);
  const bool ordered = q.operation == SXT_REDUCTION_MIN || q.operation == SXT_REDUCTION_MAX;
  if (ordered && (q.q.value_type == SXT_C64 || q.q.value_type == SXT_C128))
    return refuse(reason, "complex numbers have no smallest or largest");
  if (q.accuracy != SXT_ACCURACY_WORKING && q.operation <= SXT_REDUCTION_ASUM)
    return refuse(reason, "sums in working precision; accuracy %d is asked for", q.accuracy);
  return SXT_OK;
}

}  // namespace sextant::plugin
