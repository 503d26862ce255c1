// SPDX-License-Identifier: BSD-3-Clause
// The core side of the host table: where a plugin's sentences and messages go, and what it was lent.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/log.hpp"
#include "sextant/plugin/plugin.h"

namespace sextant {

class Device;

// The table lent to plugins; calls find their context through sxt_exec.call.
const sxt_host &host();

// Collects what plugins say through set_error without a call (exec NULL) on this thread, while it lives.
class ErrorScope {
 public:
  ErrorScope() noexcept;
  ~ErrorScope();
  ErrorScope(const ErrorScope &) = delete;
  ErrorScope &operator=(const ErrorScope &) = delete;
  // What was said, or `otherwise`.
  std::string sentence(const std::string &otherwise) const { return sentence_.empty() ? otherwise : sentence_; }

 private:
  friend struct HostCalls;
  std::string sentence_;
  ErrorScope *outer_;
};

// Sends the messages of plugins on this thread to this sink, while it lives: for loading, where there is no device.
class LogScope {
 public:
  explicit LogScope(const LogSink &sink) noexcept;
  ~LogScope();
  LogScope(const LogScope &) = delete;
  LogScope &operator=(const LogScope &) = delete;

 private:
  friend struct HostCalls;
  const LogSink &sink_;
  LogScope *outer_;
};

// Devices come and go with their contexts; a message without a call is delivered to those that are alive.
void add_device(Device &device);
void remove_device(Device &device);                // reports, as misbehaving, what plugins did not give back
void set_current_device(Device &device) noexcept;  // of this thread's next calls into plugins

// How many allocations made for this device through the host table are not yet freed.
std::uint64_t live_allocations(const Device &device);

}  // namespace sextant
