// SPDX-License-Identifier: BSD-3-Clause
// What one set in flight needs for itself: sessions of the kernels and work memory, in the order of one stream.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "core/run/prepared.hpp"

namespace sextant {

class HermitianLane {
 public:
  // stream NULL on devices without streams; `owned` streams were taken from the device and go back to it.
  // Others are the caller's, which may be destroyed, their work done, before the lane ends: from then on they are not
  // used.
  HermitianLane(Device &device, void *stream, bool owned);
  ~HermitianLane();
  HermitianLane(const HermitianLane &) = delete;
  HermitianLane &operator=(const HermitianLane &) = delete;

  void *stream() const noexcept { return stream_; }
  const std::shared_ptr<StreamUse> &use() const noexcept { return use_; }  // by all calls of the lane
  // One caller at a time. Work of the calling thread then goes to the lane's stream.
  std::mutex &mutex() noexcept { return mutex_; }

  void run(Prepared &kernel, sxt_head *args);
  // At least so many bytes, kept for later calls; what stood there is lost. Throws SXT_E_MEMORY.
  char *memory(std::uint64_t bytes);
  std::uint64_t bytes() const noexcept { return memory_.bytes(); }
  void wait() const { device_.wait(stream_); }
  void wait_quietly() const noexcept;  // where another error is on its way
  void call_ends() noexcept;           // of a caller's stream: what was enqueued so far is what the end waits for

 private:
  Device &device_;
  void *stream_;
  bool owned_;
  std::shared_ptr<StreamUse> use_;
  void *last_call_ = nullptr;  // event; NULL where the stream is owned
  bool called_ = false;        // it was recorded
  std::mutex mutex_;
  DeviceBuffer memory_;
  std::map<const Prepared *, std::unique_ptr<Session>> sessions_;
};

}  // namespace sextant
