// SPDX-License-Identifier: BSD-3-Clause
// Large arrays of ordinary host memory on their way to a device. A driver copies such memory through pinned memory of
// its own, on one thread; here several threads fill one half of a pinned buffer while the other half is on its way.
#pragma once

#include <cstdint>
#include <mutex>

#include "sextant/kinds/device.h"

namespace sextant {

// Any number of threads; one at a time is served, the others copy the plain way.
class Upload {
 public:
  Upload() = default;
  Upload(const Upload &) = delete;
  Upload &operator=(const Upload &) = delete;

  // In the order of the stream, and waits: true when the bytes are there. False: it is not such memory, not worth it,
  // or something failed, and the plain way must be taken.
  bool bring(const sxt_device_ops &ops, void *device, int threads, void *stream, void *to, const void *from,
             std::uint64_t bytes) noexcept;
  void release(const sxt_device_ops &ops, void *device) noexcept;  // before the device is closed

 private:
  struct Half {
    void *memory = nullptr, *stream = nullptr;
  };
  bool begin(const sxt_device_ops &ops, void *device) noexcept;

  std::mutex lock_;
  Half halves_[2];
};

}  // namespace sextant
