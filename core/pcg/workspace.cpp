// SPDX-License-Identifier: BSD-3-Clause
#include "core/pcg/workspace.hpp"

#include <utility>

#include "sextant/plugin/kinds/residual.h"

namespace sextant {

std::unique_ptr<PcgWorkspace> WorkspacePool::take_idle(const WorkspaceShape &shape) {
  const std::lock_guard lock(mutex_);
  while (!idle_.empty() && !(idle_.back()->shape == shape)) idle_.pop_back();
  if (idle_.empty()) return nullptr;
  auto workspace = std::move(idle_.back());
  idle_.pop_back();
  return workspace;
}

std::unique_ptr<PcgWorkspace> WorkspacePool::take(Device &device, const WorkspaceShape &shape) {
  if (auto idle = take_idle(shape)) return idle;
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
