// SPDX-License-Identifier: BSD-3-Clause
// Whether work for the caller's stream goes into a graph at present. New values must not: a graph would take them again
// at every replay, and what the host keeps would change at once.
#pragma once

#include "core/base/error.hpp"
#include "core/device/device.hpp"

namespace sextant {

// Awaits what the context's stream still has to do; true where it is captured instead.
inline bool is_captured_or_wait(const Device &device) {
  try {
    device.wait(device.callers_stream());
    return false;
  } catch (const Error &problem) {
    if (problem.status() != SXT_E_STATE) throw;
    return true;
  }
}

inline bool capturing(const Device &device) {
  return device.has_streams() && device.callers_stream() && is_captured_or_wait(device);
}

inline void require_no_capture(const Device &device, const char *what) {
  require(!capturing(device), SXT_E_STATE, "the context's stream is being captured: ", what);
}

}  // namespace sextant
