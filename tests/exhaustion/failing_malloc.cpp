// SPDX-License-Identifier: BSD-3-Clause
// Stands before glibc's allocator. What frees is glibc's own.
#include "failing_malloc.hpp"

#include <atomic>
#include <cerrno>
#include <cstddef>

extern "C" {
void *__libc_malloc(std::size_t);
void *__libc_calloc(std::size_t, std::size_t);
void *__libc_realloc(void *, std::size_t);
void *__libc_memalign(std::size_t, std::size_t);
}

namespace {

std::atomic<bool> on{false};
std::atomic<long> counted{0};
long first_failing = 0, last_failing = -1;

bool fails() {
  if (!on.load(std::memory_order_relaxed)) return false;
  const long number = ++counted;
  if (number < first_failing || number > last_failing) return false;
  errno = ENOMEM;
  return true;
}

}  // namespace

namespace failing_malloc {

void begin(long first, long last) {
  counted = 0;
  first_failing = first;
  last_failing = last;
  on = true;
}
void pause() { on = false; }
void resume() { on = true; }
long count() { return counted; }

}  // namespace failing_malloc

extern "C" {
void *malloc(std::size_t bytes) { return fails() ? nullptr : __libc_malloc(bytes); }
void *calloc(std::size_t count, std::size_t bytes) { return fails() ? nullptr : __libc_calloc(count, bytes); }
void *realloc(void *memory, std::size_t bytes) { return fails() ? nullptr : __libc_realloc(memory, bytes); }
void *memalign(std::size_t alignment, std::size_t bytes) {
  return fails() ? nullptr : __libc_memalign(alignment, bytes);
}
void *aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return fails() ? nullptr : __libc_memalign(alignment, bytes);
}
int posix_memalign(void **out, std::size_t alignment, std::size_t bytes) {
  if (fails()) return ENOMEM;
  void *const memory = __libc_memalign(alignment, bytes);
  if (!memory) return ENOMEM;
  *out = memory;
  return 0;
}
}
