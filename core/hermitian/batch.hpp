// SPDX-License-Identifier: BSD-3-Clause
// Batches of Hermitian systems: one description, any number of sets of it, several of them in flight on streams.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "core/context/context.hpp"
#include "core/hermitian/kernels.hpp"
#include "core/hermitian/lane.hpp"
#include "core/hermitian/piece.hpp"
#include "core/hermitian/settings.hpp"

namespace sextant {

class HermitianBatch {
 public:
  // Throws the statuses that sxt_hermitian_create documents.
  HermitianBatch(std::shared_ptr<Context> context, HermitianSettings settings);
  ~HermitianBatch();

  Context &context() const noexcept { return *context_; }
  const HermitianSettings &settings() const noexcept { return settings_; }
  // phase: SXT_HERMITIAN_FACTOR, _SOLVE or _FACTOR_SOLVE. Any number of threads.
  void run(std::int32_t phase, const sxt_hermitian_set &set);
  sxt_hermitian_report report() const;
  Explanation explain() const { return kernels_.explain(); }
  HermitianKernels &kernels() noexcept { return kernels_; }

 private:
  friend class HermitianTransfer;
  // A lane for one call; given back by its holder's end.
  class Lent {
   public:
    Lent(HermitianBatch &batch, void *stream);
    ~Lent();
    Lent(const Lent &) = delete;
    Lent &operator=(const Lent &) = delete;
    HermitianLane &lane() noexcept { return *lane_; }

   private:
    HermitianBatch &batch_;
    std::unique_ptr<HermitianLane> own_;  // of the batch's own; NULL: a caller's stream's
    HermitianLane *lane_;
    std::unique_lock<std::mutex> lock_;
  };

  void in_place(std::int32_t phase, const HermitianArrays &arrays, void *stream);
  // Works through systems of arrays in device space, in pieces as large as memory and `limit` bytes (0: none) allow.
  void work(std::int32_t phase, const HermitianArrays &arrays, std::int64_t systems, HermitianLane &lane,
            std::uint64_t limit);
  void note(std::uint64_t bytes, std::int64_t piece);

  std::shared_ptr<Context> context_;
  HermitianSettings settings_;
  HermitianKernels kernels_;
  DeviceBuffer orders_;       // in device space
  mutable std::mutex mutex_;  // of what follows
  std::map<void *, std::unique_ptr<HermitianLane>> by_stream_;
  std::vector<std::unique_ptr<HermitianLane>> idle_;
  std::uint64_t workspace_bytes_ = 0;
  std::int64_t piece_ = 0;
};

}  // namespace sextant
