// SPDX-License-Identifier: BSD-3-Clause
// What the process has allocated and not given back, as its allocator counts it.
#pragma once

#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 33)
#include <malloc.h>
#endif

#include <cstdint>
#include <cstdlib>

namespace test {

inline std::int64_t live_bytes() {
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 33)
  const struct mallinfo2 now = mallinfo2();
  return static_cast<std::int64_t>(now.uordblks + now.hblkhd);
#else
  return 0;
#endif
}

// Whether live_bytes() says anything: other C libraries and sanitizers' allocators do not count so.
inline bool counts_live_bytes() {
  constexpr std::int64_t size = 3 << 20;
  const std::int64_t before = live_bytes();
  void *volatile block = std::malloc(size);
  const std::int64_t taken = live_bytes() - before;
  std::free(block);
  return taken >= size;
}

}  // namespace test
