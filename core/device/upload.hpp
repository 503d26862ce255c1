// SPDX-License-Identifier: BSD-3-Clause
// Large arrays of ordinary host memory on their way to a device. A driver copies such memory through pinned memory of
// its own, on one thread; here each of several threads fills one piece of pinned memory while another is on its way.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <mutex>

#include "sextant/plugin/kinds/device.h"

namespace sextant {

// Any number of threads; one at a time is served, the others copy the plain way.
class Upload {
 public:
  Upload() = default;
  Upload(const Upload &) = delete;
  Upload &operator=(const Upload &) = delete;

  // In the order of the stream: true when the bytes are there, or, where they were sent ahead, enqueued. False: it is
  // not such memory, not worth it, or something failed, and the plain way must be taken.
  bool bring(const sxt_device_ops &ops, void *device, int threads, void *stream, void *to, const void *from,
             std::uint64_t bytes) noexcept;

  // Writes bytes [begin, end) of an array to pinned memory; false ends the upload. It must not throw. Several threads.
  using Write = std::function<bool(std::uint64_t begin, std::uint64_t end, void *pinned)>;
  // Whether send_ahead() could be worth it.
  static bool pays(int threads, std::uint64_t bytes) noexcept;
  // For an array that is only now written at `array`, in host memory: what write() gives goes to `ahead`, memory of the
  // device as large as the array, where bring() finds it until recall(). Calls write() for all bytes, or, where it
  // returns false, no parts after that. False, and nothing was written, where another caller is served or memory is
  // short; *failed: something went wrong on the way.
  bool send_ahead(const sxt_device_ops &ops, void *device, int threads, void *ahead, const void *array,
                  std::uint64_t bytes, const Write &write, bool *failed) noexcept;
  void recall() noexcept;

  void release(const sxt_device_ops &ops, void *device) noexcept;  // before the device is closed

 private:
  struct Slot {
    char *memory = nullptr;  // part of pinned_
    void *stream = nullptr;
  };
  struct Ahead {
    const void *array = nullptr, *there = nullptr;
    std::uint64_t bytes = 0;
  };
  static constexpr int most_lanes = 12;  // more are no faster

  static int lanes_for(int threads, std::uint64_t bytes) noexcept;
  bool begin(const sxt_device_ops &ops, void *device, int lanes) noexcept;
  bool pass(const sxt_device_ops &ops, void *device, int lanes, void *to, std::uint64_t bytes,
            const Write &write) noexcept;
  bool was_sent(const void *array, std::uint64_t bytes, const void **there) noexcept;

  std::mutex lock_;
  int lanes_ = 0;  // that pinned_ has room for
  void *pinned_ = nullptr;
  std::array<Slot, 2 * most_lanes> slots_;  // two a lane
  std::mutex ahead_lock_;
  Ahead ahead_;
};

}  // namespace sextant
