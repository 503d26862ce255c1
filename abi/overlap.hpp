// SPDX-License-Identifier: BSD-3-Clause
// Whether memory that a call reads overlaps memory that it writes.
#pragma once

#include <cstdint>

namespace sextant::abi {

inline bool apart(const void *x, std::int64_t x_bytes, const void *y, std::int64_t y_bytes) {
  const auto first = reinterpret_cast<std::uintptr_t>(x), second = reinterpret_cast<std::uintptr_t>(y);
  return x_bytes == 0 || y_bytes == 0 || first + static_cast<std::uintptr_t>(x_bytes) <= second ||
         second + static_cast<std::uintptr_t>(y_bytes) <= first;
}

// The same for so many columns of `bytes` each, which begin x_step and y_step bytes apart. Columns of one block may lie
// between columns of the other.
inline bool columns_apart(const void *x, std::int64_t x_step, const void *y, std::int64_t y_step, std::int64_t count,
                          std::int64_t bytes) {
  const auto *const first = static_cast<const char *>(x), *const second = static_cast<const char *>(y);
  for (std::int64_t i = 0, j = 0; i < count && j < count;) {
    const char *const one = first + i * x_step, *const other = second + j * y_step;
    if (!apart(one, bytes, other, bytes)) return false;
    ++(reinterpret_cast<std::uintptr_t>(one) < reinterpret_cast<std::uintptr_t>(other) ? i : j);
  }
  return true;
}

}  // namespace sextant::abi
