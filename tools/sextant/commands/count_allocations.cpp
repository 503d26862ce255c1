// SPDX-License-Identifier: BSD-3-Clause
// Counts allocations and mappings of all code in this process, for `sextant plugin check`: run of a kernel must not
// allocate. The dynamic linker finds these functions before those of the C library.
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstdint>

namespace {
std::atomic<bool> allocation_counts{false};
std::atomic<std::uint64_t> taken{0};
}  // namespace

// Looked up by name (core/conformance/cost.cpp); counting begins with the first call.
extern "C" __attribute__((visibility("default"))) std::uint64_t sxt_count_allocations() {
  allocation_counts.store(true, std::memory_order_relaxed);
  return taken.load(std::memory_order_relaxed);
}

// Sanitizers define these functions themselves; other C libraries have no second names for theirs.
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

extern "C" {
void *__libc_malloc(std::size_t);                 // NOLINT: the C library's names
void *__libc_calloc(std::size_t, std::size_t);    // NOLINT
void *__libc_realloc(void *, std::size_t);        // NOLINT
void *__libc_memalign(std::size_t, std::size_t);  // NOLINT

#define SXT_COUNTED __attribute__((visibility("default")))

static void count() {
  if (allocation_counts.load(std::memory_order_relaxed)) taken.fetch_add(1, std::memory_order_relaxed);
}

SXT_COUNTED void *malloc(std::size_t bytes) { return count(), __libc_malloc(bytes); }
SXT_COUNTED void *calloc(std::size_t n, std::size_t each) { return count(), __libc_calloc(n, each); }
SXT_COUNTED void *realloc(void *memory, std::size_t bytes) { return count(), __libc_realloc(memory, bytes); }
SXT_COUNTED void *memalign(std::size_t alignment, std::size_t bytes) {
  return count(), __libc_memalign(alignment, bytes);
}
SXT_COUNTED void *aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return count(), __libc_memalign(alignment, bytes);
}
SXT_COUNTED int posix_memalign(void **memory, std::size_t alignment, std::size_t bytes) {
  count();
  void *const found = __libc_memalign(alignment, bytes);
  if (!found) return ENOMEM;
  *memory = found;
  return 0;
}

// The C library maps memory by internal names, so that no allocation is counted twice.
#ifdef __LP64__
SXT_COUNTED void *mmap(void *at, std::size_t bytes, int protection, int flags, int fd, off_t offset) noexcept {
  count();
  return reinterpret_cast<void *>(syscall(SYS_mmap, at, bytes, protection, flags, fd, offset));
}
SXT_COUNTED void *mmap64(void *at, std::size_t bytes, int protection, int flags, int fd, off64_t offset) noexcept {
  return mmap(at, bytes, protection, flags, fd, offset);
}
SXT_COUNTED void *mremap(void *old, std::size_t old_bytes, std::size_t bytes, int flags, ...) noexcept {
  count();
  va_list more;
  va_start(more, flags);
  void *const at = flags & MREMAP_FIXED ? va_arg(more, void *) : nullptr;
  va_end(more);
  return reinterpret_cast<void *>(syscall(SYS_mremap, old, old_bytes, bytes, flags, at));
}
void *__sbrk(std::intptr_t bytes);  // NOLINT: as above
SXT_COUNTED void *sbrk(std::intptr_t bytes) noexcept { return bytes > 0 ? count() : void(), __sbrk(bytes); }
#endif
}

#endif
