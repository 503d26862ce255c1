// SPDX-License-Identifier: BSD-3-Clause
#include "core/device/stage.hpp"

#include <cstdint>

#include "core/base/aligned.hpp"
#include "core/device/host.hpp"

namespace sextant {

namespace {

sxt_space space_of(const Device &device, const void *memory, const char *name) {
  sxt_space space = SXT_SPACE_HOST;
  device.check_process();  // before its driver is asked
  if (!device.ops().locate) return space;
  std::int32_t ordinal = -1;
  const ErrorScope said;
  const sxt_status status = device.ops().locate(device.handle(), memory, &space, &ordinal);
  require(status == SXT_OK, SXT_E_DEVICE, "could not find out where ", name,
          " lies: ", said.sentence(status_sentence(status)));
  return space;
}

bool in_place(const Device &device, const void *memory, sxt_space space, std::uint64_t element, const char *name) {
  if (space == SXT_SPACE_HOST || space == SXT_SPACE_PINNED) return false;  // pinned: read over the bus only once
  device.check_reachable(memory, space, name);
  require_aligned(memory, static_cast<std::int64_t>(element), name);
  return true;
}

}  // namespace

bool in_place(const Device &device, const void *memory, std::uint64_t element, const char *name) {
  if (device.on_host() || !memory) return true;
  return in_place(device, memory, space_of(device, memory, name), element, name);
}

HostArrays &HostArrays::add(const void *memory, std::uint64_t element, const char *name) {
  if (!memory || device_.on_host()) return *this;
  const sxt_space space = space_of(device_, memory, name);
  if (space == SXT_SPACE_PINNED) pinned_ = memory;
  if (in_place(device_, memory, space, element, name)) all_ = false;
  return *this;
}

// A copy in core's own order: its streams begin after what the default one was given.
void HostArrays::wait() const {
  if (!pinned_) return;
  const DeviceBuffer there(device_, 1);
  device_.copy(there.data(), pinned_, 1);
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
