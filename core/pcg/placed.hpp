// SPDX-License-Identifier: BSD-3-Clause
// A set-up of conjugate gradients in a context that may use two devices: made for the one where a solve of arrays in
// host memory is predicted to end sooner, copies counted. Where the arrays lie decides afterwards.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "core/pcg/solver.hpp"

namespace sextant {

// Thread-safe.
class PlacedSolver {
 public:
  // Throws the statuses that sxt_pcg_create documents.
  PlacedSolver(std::shared_ptr<Matrix> matrix, const PcgSettings &settings);

  Matrix &matrix() const noexcept { return *matrix_; }
  // For vectors, which lie on the context's device; made at the first use where the set-up was made for the CPU.
  PcgSolver &on_device();
  // For plain arrays: b, x and what else is in use lie anywhere.
  PcgSolver &for_arrays(const void *b, const void *x);
  // What the set-up was made for.
  const PcgSolver &planned() const noexcept { return host_ ? *host_ : *device_; }
  Explanation explain() const;

 private:
  void weigh();
  bool could_win_here() const;
  double ways_seconds() const;
  double least_there_seconds(double iterations) const;

  std::shared_ptr<Matrix> matrix_;
  PcgSettings settings_;
  std::unique_ptr<PcgSolver> host_;  // NULL: arrays are solved for on the device, too
  std::string why_;
  std::mutex mutex_;  // of what follows
  std::unique_ptr<PcgSolver> device_;
};

}  // namespace sextant
