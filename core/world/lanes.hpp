// SPDX-License-Identifier: BSD-3-Clause
// Streams of one call on a world, one a member of this process, and the marks by which they wait for each other.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "core/device/device.hpp"
#include "core/world/world.hpp"

namespace sextant {

// What members do is enqueued, so that their devices work at once, and waited for at the end.
class Lanes {
 public:
  explicit Lanes(World &world);
  ~Lanes();
  Lanes(const Lanes &) = delete;
  Lanes &operator=(const Lanes &) = delete;

  // While it lives this thread's work goes to the member's stream.
  Device::StreamScope enter(std::size_t own) const;
  void *stream(std::size_t own) const noexcept { return lanes_[own].stream; }
  void wait(std::size_t own) const;  // throws SXT_E_DEVICE
  void finish() const;

 private:
  struct Lane {
    Device *device;
    void *stream = nullptr;  // NULL: each call waits
    std::shared_ptr<StreamUse> use;
    bool taken = false;
  };
  std::vector<Lane> lanes_;
};

// A point in a member's lane that other lanes wait for, without the host. On devices without streams everything is done
// when a call returns, and marks mean nothing.
class Mark {
 public:
  explicit Mark(Device &device);  // throws SXT_E_MEMORY, SXT_E_DEVICE
  ~Mark();
  Mark(Mark &&other) noexcept;
  Mark &operator=(Mark &&) = delete;

  void set(void *stream);  // what the stream was given so far
  // What `device` is given next on its stream begins after it; where devices have no events in common, or the mark is
  // not of a stream, the host waits.
  void await(Device &device, void *stream) const;

 private:
  Device *device_;
  void *event_ = nullptr, *stream_ = nullptr;
};

}  // namespace sextant
