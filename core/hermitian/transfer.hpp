// SPDX-License-Identifier: BSD-3-Clause
// A set in host memory worked on by a device: pieces of it pass through device memory, each in a stream of its own, so
// that copies of one overlap the work on another.
#pragma once

#include <cstdint>
#include <exception>
#include <mutex>

#include "core/hermitian/batch.hpp"

namespace sextant {

class HermitianTransfer {
 public:
  HermitianTransfer(HermitianBatch &batch, std::int32_t phase, const HermitianArrays &host);
  // Waits for the caller's stream first, if there is one, and for all results.
  void run(void *callers_stream);
  // Predicted: a set in host memory, packed, that the kernels of the device take work_s for, its copies included.
  static double predicted_seconds(const HermitianSettings &settings, const sxt_machine &device, std::int32_t phase,
                                  double work_s);

 private:
  // Systems first, first + 1, .. that go together.
  struct Span {
    std::int64_t first, systems;
  };
  void plan();
  Span next();
  void work_in_turn() noexcept;
  void pass_or_halves(Span span, HermitianLane &lane);
  void pass(Span span, HermitianLane &lane);
  std::uint64_t bytes_of(Span span) const;
  std::uint64_t work_of_one() const;

  HermitianBatch &batch_;
  const HermitianSettings &settings_;
  Device &device_;
  std::int32_t phase_;
  HermitianArrays host_;
  bool both_matrices_;             // a solve that looks at the matrix beside its factor
  int lanes_ = 1;                  // pieces in flight
  std::uint64_t piece_bytes_ = 0;  // of a piece, at most, unless it is one system
  std::int64_t most_systems_ = 1;  // that a piece may have
  std::uint64_t work_bytes_ = 0;   // of a lane's work memory, at most; 0: no limit
  std::mutex mutex_;               // of what follows
  std::int64_t next_ = 0;
  std::exception_ptr problem_;  // the first
};

}  // namespace sextant
