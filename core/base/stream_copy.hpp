// SPDX-License-Identifier: BSD-3-Clause
// Copying what is not read soon: past the caches, so that a line is not read before it is overwritten.
#pragma once

#include <cstdint>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace sextant {

// to: aligned to 16 bytes. Another thread sees the bytes after the usual synchronisation.
inline void stream_copy(void *to, const void *from, std::uint64_t bytes) noexcept {
  std::uint64_t done = 0;
#ifdef __SSE2__
  auto *target = static_cast<__m128i *>(to);
  const auto *source = static_cast<const __m128i *>(from);
  for (; done + sizeof(__m128i) <= bytes; done += sizeof(__m128i))
    _mm_stream_si128(target++, _mm_loadu_si128(source++));
  _mm_sfence();
#endif
  std::memcpy(static_cast<char *>(to) + done, static_cast<const char *>(from) + done, bytes - done);
}

}  // namespace sextant
