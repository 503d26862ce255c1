// SPDX-License-Identifier: BSD-3-Clause
// A caller's array as the device sees it: in place where the device reaches it, else copied to memory that is kept from
// solve to solve.
#pragma once

#include <cstdint>

#include "core/device/device.hpp"

namespace sextant {

// Whether kernels of the device can use the memory where it lies. Throws SXT_E_ARGUMENT for memory of another device,
// or memory that is not aligned to its values of `element` bytes.
bool in_place(const Device &device, const void *memory, std::uint64_t element, const char *name);

// Arrays of one call that the CPU may work on instead, where none of them lies in a device's memory.
class HostArrays {
 public:
  explicit HostArrays(Device &device) : device_(device) {}
  // memory NULL: there is none. Throws as in_place does.
  HostArrays &add(const void *memory, std::uint64_t element, const char *name);
  bool all_on_host() const noexcept { return all_; }
  // For earlier work of the device's default stream, which may still read and write pinned memory.
  void wait() const;

 private:
  Device &device_;
  bool all_ = true;
  const void *pinned_ = nullptr;  // one of them
};

class Staged {
 public:
  // kept: where copies lie; grows to `bytes` if it is smaller. Nothing is copied yet.
  Staged(Device &device, const void *memory, std::uint64_t bytes, std::uint64_t element, DeviceBuffer &kept,
         const char *name);
  void *data() const noexcept { return here_; }
  void load();                 // the caller's values to the device
  void store(void *to) const;  // the device's values to the caller

 private:
  Device &device_;
  const void *callers_;
  std::uint64_t bytes_;
  void *here_;
};

}  // namespace sextant
