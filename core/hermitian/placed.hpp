// SPDX-License-Identifier: BSD-3-Clause
// Sets of one description in a context that may use two devices: those in host memory are worked on where a call is
// predicted to end sooner, copies counted; all others on the context's device.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/hermitian/batch.hpp"

namespace sextant {

// Thread-safe.
class PlacedHermitian {
 public:
  // Throws the statuses that sxt_hermitian_create documents.
  PlacedHermitian(std::shared_ptr<Context> context, const HermitianSettings &settings);

  Context &context() const noexcept { return there_.context(); }
  void run(std::int32_t phase, const sxt_hermitian_set &set);
  sxt_hermitian_report report() const;
  Explanation explain() const;

 private:
  void weigh();
  void weigh(std::int32_t phase, Context &beside, bool planned);
  bool on_host(const sxt_hermitian_set &set) const;

  HermitianBatch there_;                  // on the context's device
  std::unique_ptr<HermitianBatch> here_;  // on the CPU beside it; NULL: no phase is worked on there
  bool is_here_[SXT_HERMITIAN_FACTOR_SOLVE + 1] = {};
  std::vector<std::string> why_;
  std::atomic<bool> last_here_{false};  // the last call
};

}  // namespace sextant
