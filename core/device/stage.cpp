// SPDX-License-Identifier: BSD-3-Clause
#include "core/device/stage.hpp"

#include <cstdint>

#include "core/base/aligned.hpp"
#include "core/registry/host.hpp"

namespace sextant {

bool in_place(const Device &device, const void *memory, std::uint64_t element, const char *name) {
  if (device.on_host() || !memory) return true;
  if (!device.ops().locate) return false;
  sxt_space space = SXT_SPACE_HOST;
  std::int32_t ordinal = -1;
  const registry::ErrorScope said;
  const sxt_status status = device.ops().locate(device.handle(), memory, &space, &ordinal);
  require(status == SXT_OK, SXT_E_DEVICE, "could not find out where ", name,
          " lies: ", said.sentence(status_sentence(status)));
  if (space == SXT_SPACE_HOST || space == SXT_SPACE_PINNED) return false;  // pinned: read over the bus only once
  device.check_reachable(memory, space, name);
  require_aligned(memory, static_cast<std::int64_t>(element), name);
  return true;
}

Staged::Staged(Device &device, const void *memory, std::uint64_t bytes, std::uint64_t element, DeviceBuffer &kept,
               const char *name)
    : device_(device), callers_(memory), bytes_(bytes), here_(const_cast<void *>(memory)) {
  if (in_place(device, memory, element, name)) return;
  if (kept.bytes() < bytes) {
    kept = DeviceBuffer();  // first: both together may not fit
    kept = DeviceBuffer(device, bytes);
  }
  here_ = kept.data();
}

void Staged::load() {
  if (here_ != callers_) device_.copy(here_, callers_, bytes_);
}

void Staged::store(void *to) const {
  if (here_ != to) device_.copy(to, here_, bytes_);
}

}  // namespace sextant
