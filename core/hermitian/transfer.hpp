// SPDX-License-Identifier: BSD-3-Clause
// A set in host memory worked on by a device: pieces of it pass through device memory, each in a stream of its own, so
// that copies of one overlap the work on another.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>

#include "core/hermitian/batch.hpp"

namespace sextant {

class HermitianTransfer {
 public:
  HermitianTransfer(HermitianBatch &batch, std::int32_t phase, const HermitianArrays &host);
  // Waits for the caller's stream first, if there is one, and for all results.
  void run(void *callers_stream);

 private:
  void work_in_turn() noexcept;
  void pass(std::int64_t first, std::int64_t systems, HermitianLane &lane);
  std::uint64_t bytes_of(std::int64_t first, std::int64_t systems) const;
  std::int64_t piece_size() const;

  HermitianBatch &batch_;
  const HermitianSettings &settings_;
  Device &device_;
  std::int32_t phase_;
  HermitianArrays host_;
  bool both_matrices_;  // a solve that looks at the matrix beside its factor
  std::int64_t piece_ = 0;
  std::atomic<std::int64_t> next_{0};
  std::mutex mutex_;
  std::exception_ptr problem_;  // the first
};

}  // namespace sextant
