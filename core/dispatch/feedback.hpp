// SPDX-License-Identifier: BSD-3-Clause
// What measured runs say about the models: one factor for each (kernel, version, types, model class), which later
// choices of the same context multiply predictions by. Nothing that was already chosen changes.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>

#include "core/dispatch/choice.hpp"
#include "core/model/cost.hpp"

namespace sextant {

// Thread-safe.
class Feedback {
 public:
  // One run of a kernel without parts: what composed kernels do beside their parts is told by no clock. Runs of another
  // length than the one predicted do not count.
  void observe(const Choice &choice, const sxt_head &args, double seconds);
  // Measured / predicted, 1 while fewer than three runs were seen after the first, which is cold.
  double factor(const registry::Kernel &kernel, const Query &query, const sxt_candidate &candidate) const;

 private:
  struct Record {
    std::int64_t runs = 0;
    double log_ratio = 0;  // mean over the last runs, of ln(measured / predicted)
  };
  mutable std::mutex mutex_;
  std::map<ModelKey, Record> records_;
};

}  // namespace sextant
