// SPDX-License-Identifier: BSD-3-Clause
// Many calls in succession on a stream of their own: none of them waits for the device, which a call without a stream
// does.
#pragma once

#include <memory>
#include <optional>

#include "core/base/error.hpp"
#include "core/device/device.hpp"

namespace sextant {

class OwnStream {
 public:
  // Nothing changes where the application has a stream, or the device none.
  explicit OwnStream(Device &device) : device_(device) {
    if (!device.has_streams() || device.callers_stream()) return;
    use_ = std::make_shared<StreamUse>();
    stream_ = device.take_stream();
    scope_.emplace(device, stream_, use_);
  }
  ~OwnStream() {
    if (!stream_) return;
    try {
      device_.wait(stream_);
    } catch (...) {  // after a failure, which is on its way to the caller
    }
    use_->end();
    scope_.reset();
    device_.give_stream(stream_);
  }
  OwnStream(const OwnStream &) = delete;
  OwnStream &operator=(const OwnStream &) = delete;

  // Until everything is done. Throws SXT_E_DEVICE when some of it failed.
  void finish() const { device_.wait(stream_); }

 private:
  Device &device_;
  void *stream_ = nullptr;
  std::shared_ptr<StreamUse> use_;
  std::optional<Device::StreamScope> scope_;
};

}  // namespace sextant
