// SPDX-License-Identifier: BSD-3-Clause
// Host memory that is full of NaNs when the library gets it. Code that reads before it writes is then found on every
// run, not only where the memory was used before.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "sextant/sextant.h"

namespace poison {

constexpr int byte = 0xff;  // a NaN in f32 and f64, -1 in integers

inline void *allocate(void *, std::uint64_t bytes, std::uint64_t alignment) {
  const std::uint64_t whole = (bytes + alignment - 1) / alignment * alignment;
  void *const memory = std::aligned_alloc(alignment, whole);
  return memory ? std::memset(memory, byte, whole) : nullptr;
}
inline void release(void *, void *memory) { std::free(memory); }

// Makes a context take its host memory from here.
inline void fill(sxt_context_options &options) {
  options.allocate = allocate;
  options.release = release;
}

}  // namespace poison
