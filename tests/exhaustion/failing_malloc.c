/* SPDX-License-Identifier: BSD-3-Clause */
/* Replaces glibc's allocator. Memory is freed by glibc's own functions. */
#include "failing_malloc.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

static atomic_bool on;
static atomic_long counted;
static long first_failing = 0, last_failing = -1;

static bool fails(void) {
  if (!atomic_load_explicit(&on, memory_order_relaxed)) return false;
  const long number = ++counted;
  if (number < first_failing || number > last_failing) return false;
  errno = ENOMEM;
  return true;
}

void failing_malloc_begin(long first, long last) {
  counted = 0;
  first_failing = first;
  last_failing = last;
  on = true;
}
void failing_malloc_pause(void) { on = false; }
void failing_malloc_resume(void) { on = true; }
long failing_malloc_count(void) { return counted; }

void *malloc(size_t bytes) { return fails() ? NULL : __libc_malloc(bytes); }
void *calloc(size_t count, size_t bytes) { return fails() ? NULL : __libc_calloc(count, bytes); }
void *realloc(void *memory, size_t bytes) { return fails() ? NULL : __libc_realloc(memory, bytes); }
void *memalign(size_t alignment, size_t bytes) { return fails() ? NULL : __libc_memalign(alignment, bytes); }
void *aligned_alloc(size_t alignment, size_t bytes) { return fails() ? NULL : __libc_memalign(alignment, bytes); }
int posix_memalign(void **out, size_t alignment, size_t bytes) {
  if (fails()) return ENOMEM;
  void *const memory = __libc_memalign(alignment, bytes);
  if (!memory) return ENOMEM;
  *out = memory;
  return 0;
}
