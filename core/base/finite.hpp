// SPDX-License-Identifier: BSD-3-Clause
// Whether numbers are all finite, told without a branch, so that it is computed on whole registers.
#pragma once

#include <cstdint>

#include "sextant/types.h"

namespace sextant {

// Bytes that stay in the nearest cache from one use to the next: what is checked by such blocks is copied from there.
constexpr std::uint64_t cached_block = 16384;

// No number has an exponent of ones only.
template <class Bits, Bits exponent>
bool all_finite(const void *numbers, std::uint64_t bytes) noexcept {
  constexpr Bits one = exponent & (~exponent + 1), top = Bits{1} << (8 * sizeof(Bits) - 1);
  const auto *each = static_cast<const Bits *>(numbers);
  Bits seen = 0;
  for (std::uint64_t k = 0; k < bytes / sizeof(Bits); ++k) seen |= (each[k] & exponent) + one;
  return !(seen & top);
}

inline bool all_finite(sxt_value_type type, const void *numbers, std::uint64_t bytes) noexcept {
  const bool is_double = type == SXT_F64 || type == SXT_C128;
  return is_double ? all_finite<std::uint64_t, 0x7ff0000000000000>(numbers, bytes)
                   : all_finite<std::uint32_t, 0x7f800000>(numbers, bytes);
}

}  // namespace sextant
