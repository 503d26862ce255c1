// SPDX-License-Identifier: BSD-3-Clause
// Arrays of numbers whose memory is touched first by the thread that fills it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>

namespace sextant::cholesky {

// Owned, of fixed size; its numbers are undefined until they are written. Throws std::bad_alloc.
template <class T>
class Array {
 public:
  Array() = default;
  explicit Array(std::int64_t size)
      : size_(size), data_(std::make_unique_for_overwrite<T[]>(static_cast<std::size_t>(size))) {}
  Array(std::int64_t size, T value) : Array(size) { std::fill_n(data(), size, value); }

  std::int64_t size() const { return size_; }
  std::uint64_t bytes() const { return static_cast<std::uint64_t>(size_) * sizeof(T); }
  T *data() { return data_.get(); }
  const T *data() const { return data_.get(); }
  T *begin() { return data(); }
  T *end() { return data() + size_; }
  const T *begin() const { return data(); }
  const T *end() const { return data() + size_; }
  T &operator[](std::int64_t i) { return data_[static_cast<std::size_t>(i)]; }
  const T &operator[](std::int64_t i) const { return data_[static_cast<std::size_t>(i)]; }
  operator std::span<const T>() const { return {data(), static_cast<std::size_t>(size_)}; }
  bool operator==(const Array &other) const { return std::equal(begin(), end(), other.begin(), other.end()); }

 private:
  std::int64_t size_ = 0;
  std::unique_ptr<T[]> data_;
};

}  // namespace sextant::cholesky
