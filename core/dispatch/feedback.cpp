// SPDX-License-Identifier: BSD-3-Clause
#include "core/dispatch/feedback.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string_view>

#include "sextant/kinds/multidot.h"
#include "sextant/kinds/reduction.h"
#include "sextant/kinds/vector.h"
#include "sextant/kinds/vector_group.h"

namespace sextant {

namespace {

constexpr std::int64_t runs_needed = 3, runs_remembered = 20;
constexpr double least_factor = 0.1, most_factor = 10;  // beyond, something else was measured than the kernel

// Vector operations are planned for a range of n, and predicted at its end.
template <class Q, class A>
bool same_length(const sxt_query *query, const sxt_head &args) {
  return reinterpret_cast<const Q *>(query)->n == reinterpret_cast<const A *>(&args)->n;
}

bool as_predicted(const Query &query, const sxt_head &args) {
  const std::string_view kind = query.kind();
  if (kind == SXT_KIND_VECTOR) return same_length<sxt_vector_query, sxt_vector_args>(query.get(), args);
  if (kind == SXT_KIND_VECTOR_GROUP)
    return same_length<sxt_vector_group_query, sxt_vector_group_args>(query.get(), args);
  if (kind == SXT_KIND_REDUCTION) return same_length<sxt_reduction_query, sxt_reduction_args>(query.get(), args);
  if (kind == SXT_KIND_MULTIDOT) return same_length<sxt_multidot_query, sxt_multidot_args>(query.get(), args);
  return true;
}

}  // namespace

void Feedback::observe(const Choice &choice, const sxt_head &args, double seconds) {
  const double predicted = choice.run_s / choice.correction;  // the model's own word, before earlier feedback
  if (!choice.slots.empty() || choice.no_estimate || !(predicted > 0) || !(seconds > 0)) return;
  if (!as_predicted(choice.query, args)) return;
  const ModelKey key = model_key(choice.kernel->table, *choice.query.get(), choice.candidate);
  const std::lock_guard lock(mutex_);
  Record &record = records_[key];
  ++record.runs;
  if (record.runs == 1) return;  // cold: pages and caches are met for the first time
  const double share = 1 / static_cast<double>(std::min(record.runs - 1, runs_remembered));
  record.log_ratio += share * (std::log(seconds / predicted) - record.log_ratio);
}

double Feedback::factor(const registry::Kernel &kernel, const Query &query, const sxt_candidate &candidate) const {
  const std::lock_guard lock(mutex_);
  const auto found = records_.find(model_key(kernel.table, *query.get(), candidate));
  if (found == records_.end() || found->second.runs <= runs_needed) return 1;
  return std::clamp(std::exp(found->second.log_ratio), least_factor, most_factor);
}

}  // namespace sextant
