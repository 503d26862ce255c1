// SPDX-License-Identifier: BSD-3-Clause
// Host memory of the library's arrays, through the context's allocator hooks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "core/base/error.hpp"

namespace sextant {

// The caller's allocation hooks, or aligned_alloc/free when none were given. Copied by value into every buffer, so a
// buffer may outlive the context that made it as long as the caller's hooks stay valid.
struct Allocator {
  void *user = nullptr;
  void *(*allocate)(void *user, std::uint64_t bytes, std::uint64_t alignment) = nullptr;
  void (*release)(void *user, void *memory) = nullptr;

  void *get(std::uint64_t bytes, std::uint64_t alignment = 64) const;  // throws SXT_E_MEMORY naming the bytes
  void put(void *memory) const noexcept;
};

// An owned or borrowed run of bytes, 64-byte aligned when owned. Move-only. Contents start undefined.
class Buffer {
 public:
  Buffer() = default;
  Buffer(std::uint64_t bytes, const Allocator &allocator);
  Buffer(Buffer &&other) noexcept { swap(other); }
  Buffer &operator=(Buffer &&other) noexcept {
    Buffer(std::move(other)).swap(*this);
    return *this;
  }
  ~Buffer() { reset(); }

  // A view of memory that its owner keeps alive; nothing is freed.
  static Buffer borrow(const void *data, std::uint64_t bytes) noexcept;

  void reset() noexcept;
  void swap(Buffer &other) noexcept;
  bool empty() const noexcept { return bytes_ == 0; }
  bool owned() const noexcept { return owned_; }
  std::uint64_t bytes() const noexcept { return bytes_; }
  void *data() noexcept { return data_; }
  const void *data() const noexcept { return data_; }
  template <class T>
  T *as() noexcept {
    return static_cast<T *>(data_);
  }
  template <class T>
  const T *as() const noexcept {
    return static_cast<const T *>(data_);
  }

 private:
  void *data_ = nullptr;
  std::uint64_t bytes_ = 0;
  bool owned_ = false;
  Allocator allocator_;
};

}  // namespace sextant
