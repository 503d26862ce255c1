// SPDX-License-Identifier: BSD-3-Clause
// What measured runs say about the models: one factor for each (kernel, version, types, model class), which later
// choices of the same context multiply predictions by. Nothing that was already chosen changes.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <tuple>

#include "core/base/query.hpp"
#include "core/registry/registry.hpp"

namespace sextant {

// What a model was asked about.
struct Predicted {
  const registry::Kernel &kernel;
  const Query &query;
  const sxt_candidate &candidate;
};

// Thread-safe.
class Feedback {
 public:
  // all: every measured run counts, else gross misses only.
  explicit Feedback(bool all) : all_(all) {}
  bool all() const noexcept { return all_; }
  // Runs of a kernel that are worth timing where only gross misses count.
  static constexpr int watched_runs = 12;
  // One run of a kernel without parts, and what its model alone, without earlier feedback, said of it. Runs of another
  // length than the one predicted do not count, but for gross misses: predictions are for the greatest length. True
  // when a gross miss was found now: choices should be made anew.
  bool observe(const Predicted &what, double predicted_s, const sxt_head &args, double seconds);
  // Measured / predicted, 1 while fewer than three runs were seen after the first, which is cold. A gross miss, more
  // than ten times the prediction in each of several runs that a clock can tell, counts in full.
  double factor(const Predicted &what) const;

 private:
  struct Record {
    std::int64_t runs = 0;
    double log_ratio = 0;    // mean over the last runs, of ln(measured / predicted)
    std::int64_t told = 0;   // runs that lasted long enough to be told
    double least_ratio = 0;  // of those
    bool gross() const noexcept;
  };
  const bool all_;
  mutable std::mutex mutex_;
  // As models are told apart in profiles, without a string: a run allocates nothing but its kernel's first record.
  using Key = std::tuple<const registry::Kernel *, sxt_value_type, sxt_value_type, std::uint32_t>;
  static Key key_of(const Predicted &what);
  std::map<Key, Record> records_;
};

}  // namespace sextant
