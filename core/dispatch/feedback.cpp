// SPDX-License-Identifier: BSD-3-Clause
#include "core/dispatch/feedback.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace sextant {

namespace {

constexpr std::int64_t runs_needed = 3, runs_remembered = 20;
constexpr double least_factor = 0.1, most_factor = 10;  // beyond, something else was measured than the kernel

}  // namespace

void Feedback::observe(const Choice &choice, double seconds) {
  const double predicted = choice.run_s / choice.correction;  // the model's own word, before earlier feedback
  if (!choice.slots.empty() || choice.no_estimate || !(predicted > 0) || !(seconds > 0)) return;
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
