// SPDX-License-Identifier: BSD-3-Clause
#include "core/pcg/workspace.hpp"

#include <algorithm>
#include <utility>

#include "sextant/plugin/kinds/residual.h"

namespace sextant {

std::unique_ptr<PcgWorkspace> WorkspacePool::take_idle(const WorkspaceShape &shape) {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(idle_, shape, [](const auto &each) { return each->shape; });
  if (found == idle_.end()) return nullptr;
  auto workspace = std::move(*found);
  idle_.erase(found);
  return workspace;
}

// An engine that took over from one that declined new values wants other vectors: those of the old one are of no use.
void WorkspacePool::drop_idle() {
  std::vector<std::unique_ptr<PcgWorkspace>> dropped;
  const std::lock_guard lock(mutex_);
  dropped.swap(idle_);
}

std::unique_ptr<PcgWorkspace> WorkspacePool::take(Device &device, const WorkspaceShape &shape) {
  if (auto idle = take_idle(shape)) return idle;
  drop_idle();
  const std::uint64_t bytes = shape.bytes;
  auto workspace = std::make_unique<PcgWorkspace>();
  workspace->shape = shape;
  workspace->residual = DeviceBuffer(device, bytes);
  workspace->norms =
      DeviceBuffer(device, sizeof(sxt_residual_norms), device.on_host() ? SXT_SPACE_HOST : SXT_SPACE_PINNED);
  if (device.captures()) workspace->truth_scratch = DeviceBuffer(device, shape.truth_scratch);
  if (shape.sum) workspace->sum = DeviceBuffer(device, bytes);
  if (shape.rhs) workspace->rhs = DeviceBuffer(device, bytes);
  if (shape.candidate) workspace->candidate = DeviceBuffer(device, bytes);
  if (shape.solvable) workspace->solvable = DeviceBuffer(device, bytes);
  if (shape.own_order) {
    workspace->own_x = DeviceBuffer(device, bytes);
    workspace->own_residual = DeviceBuffer(device, bytes);
  }
  workspace->iterate = DeviceBuffer(device, bytes);
  return workspace;
}

void WorkspacePool::give_back(std::unique_ptr<PcgWorkspace> workspace) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(workspace));
  } catch (...) {  // no memory for the pool's list: the workspace is freed
  }
}

}  // namespace sextant
