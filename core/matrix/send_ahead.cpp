// SPDX-License-Identifier: BSD-3-Clause
// New values of a matrix whose CSR is on a device: one pass over them checks them, writes them on the host and sends
// them, where three passes would be bound by the host's memory three times.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "core/base/finite.hpp"
#include "core/base/stream_copy.hpp"
#include "core/context/context.hpp"
#include "core/matrix/matrix.hpp"
#include "sextant/plugin/kinds/storage.h"

namespace sextant {

// The values of before stay on the device until all is known to be right, so that the host's copy can be restored.
SentAhead Matrix::send_ahead(const void *values) {
  Device &device = context_->device();
  CsrArrays &own = data_.csr;
  const std::uint64_t bytes = own.values.bytes();
  const bool in_order = !data_.order.kept || data_.order.identity;
  const bool any_diagonal = data_.order.symmetry == SXT_GENERAL || data_.order.symmetry == SXT_SYMMETRIC;
  if (!in_order || !any_diagonal || scaling_ || !device.sending_pays(bytes)) return {};
  const auto csr = forms_.find(SXT_KIND_STORAGE_CSR);
  if (csr == forms_.end() || csr->second == given_ || !csr->second->trusted()) return {};
  const auto &there = *reinterpret_cast<const sxt_csr *>(csr->second->view());
  if (csr->second->values() != version() || there.s.value_type != own.value_type) return {};

  DeviceBuffer ahead;
  try {
    ahead = DeviceBuffer(device, bytes);
    device.wait(device.callers_stream());  // in whose order it was allocated
  } catch (const Error &) {
    return {};
  }
  const auto write = [&](std::uint64_t begin, std::uint64_t end, void *pinned) {
    for (std::uint64_t at = begin; at < end; at += cached_block) {
      const std::uint64_t length = std::min(cached_block, end - at);
      char *const sent = static_cast<char *>(pinned) + (at - begin);
      std::memcpy(sent, static_cast<const char *>(values) + at, length);
      if (check_finite_ && !all_finite(own.value_type, sent, length)) return false;
      stream_copy(own.values.as<char>() + at, sent, length);
    }
    return true;
  };
  bool failed = false;
  if (device.send_ahead(ahead.data(), own.values.data(), bytes, write, &failed)) return {device, std::move(ahead)};
  if (failed) device.copy(own.values.data(), there.values, bytes);
  return {};
}

}  // namespace sextant
