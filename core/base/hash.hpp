// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

namespace sextant {

// FNV-1a (Fowler, Noll, Vo 1991), 64 bits: for keys, not for security.
inline std::uint64_t fnv1a(const void *data, std::size_t bytes, std::uint64_t seed = 14695981039346656037ull) noexcept {
  const auto *byte = static_cast<const unsigned char *>(data);
  for (std::size_t i = 0; i < bytes; ++i) seed = (seed ^ byte[i]) * 1099511628211ull;
  return seed;
}

}  // namespace sextant
