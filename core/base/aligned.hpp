// SPDX-License-Identifier: BSD-3-Clause
// Whether callers' arrays lie where numbers of their type may.
#pragma once

#include <cstdint>

#include "core/base/types.hpp"

namespace sextant {

// What a value's address is a multiple of on the host: the size of its numbers, of which a complex value has two.
inline std::int64_t value_alignment(sxt_value_type type) noexcept {
  return type == SXT_C64 || type == SXT_C128 ? value_bytes(type) / 2 : value_bytes(type);
}
inline bool is_aligned(const void *array, std::int64_t bytes) noexcept {
  return reinterpret_cast<std::uintptr_t>(array) % static_cast<std::uintptr_t>(bytes) == 0;
}
inline void require_aligned(const void *array, std::int64_t bytes, const char *name) {
  require(is_aligned(array, bytes), SXT_E_ARGUMENT, name, " is not aligned to its numbers of ", bytes, " bytes");
}

}  // namespace sextant
