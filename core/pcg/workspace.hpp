// SPDX-License-Identifier: BSD-3-Clause
// Work vectors of solves: one set a concurrent caller, kept for the next one.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "core/device/device.hpp"

namespace sextant {

// Which vectors a solve needs from its beginning.
struct WorkspaceShape {
  std::uint64_t bytes = 0;          // of a vector
  std::uint64_t truth_scratch = 0;  // of true residuals in captured solves; 0: none
  bool rhs = false, sum = false, candidate = false, solvable = false, own_order = false;
  bool operator==(const WorkspaceShape &) const = default;
};

// Work vectors of one solve.
struct PcgWorkspace {
  WorkspaceShape shape;  // it was made for
  DeviceBuffer rhs, iterate, candidate, residual;
  DeviceBuffer best;                 // of the iterates that were confirmed; made when one was not good enough
  DeviceBuffer guess;                // the caller's, where x is scaled; made when that is met
  DeviceBuffer near;                 // the caller's b scaled, where it lies far from 1; made when that is met
  DeviceBuffer solvable;             // the part of the caller's b that A can reach, where it has a null space
  DeviceBuffer sum;                  // of corrections; made when the first is needed
  DeviceBuffer own_x, own_residual;  // in the caller's order, where the engine's is another
  DeviceBuffer norms;                // of a true residual, in memory that host and device reach
  DeviceBuffer truth_scratch;        // of true residuals in captured solves
  DeviceBuffer staged_b, staged_x;   // of callers whose arrays lie where the device does not reach
};

// Thread-safe. Outlives what it lends.
class WorkspacePool {
 public:
  // One of this shape that was given back, or a new one in the place of those of another shape. Throws SXT_E_MEMORY.
  std::unique_ptr<PcgWorkspace> take(Device &device, const WorkspaceShape &shape);
  // NULL where none of this shape was given back: nothing is allocated or freed, as a stream may be captured.
  std::unique_ptr<PcgWorkspace> take_idle(const WorkspaceShape &shape);
  void give_back(std::unique_ptr<PcgWorkspace> workspace) noexcept;

 private:
  void drop_idle();

  std::mutex mutex_;
  std::vector<std::unique_ptr<PcgWorkspace>> idle_;
};

// Goes back whatever happens.
class LentWorkspace {
 public:
  LentWorkspace(WorkspacePool &pool, Device &device, const WorkspaceShape &shape)
      : pool_(pool), workspace_(pool.take(device, shape)) {}
  ~LentWorkspace() { pool_.give_back(std::move(workspace_)); }
  LentWorkspace(const LentWorkspace &) = delete;
  LentWorkspace &operator=(const LentWorkspace &) = delete;
  PcgWorkspace &operator*() const noexcept { return *workspace_; }
  PcgWorkspace *operator->() const noexcept { return workspace_.get(); }

 private:
  WorkspacePool &pool_;
  std::unique_ptr<PcgWorkspace> workspace_;
};

}  // namespace sextant
