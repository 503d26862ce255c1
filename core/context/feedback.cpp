// SPDX-License-Identifier: BSD-3-Clause
#include "core/context/feedback.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string_view>

#include "sextant/plugin/kinds/multidot.h"
#include "sextant/plugin/kinds/reduction.h"
#include "sextant/plugin/kinds/vector.h"
#include "sextant/plugin/kinds/vector_group.h"

namespace sextant {

namespace {

constexpr std::int64_t runs_needed = 3, runs_remembered = 20;
constexpr double least_factor = 0.1, most_factor = 10;  // beyond, something else was measured than the kernel
// Unless it is so in every one of several runs.
constexpr std::int64_t gross_runs = 5;
// What a call takes beside its kernel, at most, where nothing interrupts it: longer runs tell of the kernel.
constexpr double told_s = 2e-5, told_by_device_s = 2e-4;

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

Feedback::Key Feedback::key_of(const Predicted &what) {
  const Query &query = what.query;
  const sxt_value_type matrix = query.about_matrix() ? query.matrix_part().matrix_type : sxt_value_type{};
  return {&what.kernel, query.value_type(), matrix, what.candidate.model_class};
}

// Where most runs were too short to tell, those that did were interrupted.
bool Feedback::Record::gross() const noexcept {
  return told >= gross_runs && 2 * told > runs && least_ratio > most_factor;
}

bool Feedback::observe(const Predicted &what, double predicted_s, const sxt_head &args, double seconds) {
  if (!(predicted_s > 0) || !(seconds > 0)) return false;
  const bool comparable = as_predicted(what.query, args);
  const Key key = key_of(what);
  const std::lock_guard lock(mutex_);
  Record &record = records_[key];
  if (record.runs == 0) return ++record.runs, false;  // cold: pages and caches are met for the first time
  const bool known = record.gross();
  // One that ends about as predicted clears the model, however short: else a thread that was interrupted now and then
  // would be all that is seen of runs of a few microseconds.
  const bool on_host = std::string_view(what.kernel.table.device) == "cpu";
  if (seconds >= (on_host ? told_s : told_by_device_s) || seconds <= most_factor * predicted_s)
    record.least_ratio =
        record.told++ == 0 ? seconds / predicted_s : std::min(record.least_ratio, seconds / predicted_s);
  if (!comparable) return record.gross() && !known;
  ++record.runs;
  const double share = 1 / static_cast<double>(std::min(record.runs - 1, runs_remembered));
  record.log_ratio += share * (std::log(seconds / predicted_s) - record.log_ratio);
  return record.gross() && !known;
}

double Feedback::factor(const Predicted &what) const {
  const std::lock_guard lock(mutex_);
  const auto found = records_.find(key_of(what));
  if (found == records_.end()) return 1;
  if (found->second.gross()) return found->second.least_ratio;
  if (!all_ || found->second.runs <= runs_needed) return 1;
  return std::clamp(std::exp(found->second.log_ratio), least_factor, most_factor);
}

}  // namespace sextant
