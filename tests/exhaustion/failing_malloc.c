/* SPDX-License-Identifier: BSD-3-Clause */
/* Replaces glibc's allocator. Memory that was allocated and freed with no call in between is there for the next calls: so
 * the library looks whether thread-local data can be made before glibc, which ends the process else, makes it. */
#include "failing_malloc.h"

#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
void __libc_free(void *);

static atomic_bool on;
static atomic_long counted;
static long first_failing = 0, last_failing = -1;

static _Thread_local void *newest;  /* of this thread, while it made no other call */
static _Thread_local size_t spare;  /* bytes that it gave back at once */
enum { overhead = 32 };             /* that glibc may add to a piece */

static bool fails(size_t bytes) {
  if (!atomic_load_explicit(&on, memory_order_relaxed)) return false;
  const bool there = bytes + overhead <= spare;
  spare = there ? spare - bytes - overhead : 0;
  const long number = ++counted;
  if (there || number < first_failing || number > last_failing) return false;
  errno = ENOMEM;
  return true;
}
static void *made(void *memory) { return newest = memory; }

void failing_malloc_begin(long first, long last) {
  counted = 0;
  first_failing = first;
  last_failing = last;
  on = true;
}
void failing_malloc_pause(void) { on = false; }
void failing_malloc_resume(void) { on = true; }
long failing_malloc_count(void) { return counted; }

void *malloc(size_t bytes) { return made(fails(bytes) ? NULL : __libc_malloc(bytes)); }
void *calloc(size_t count, size_t bytes) { return made(fails(count * bytes) ? NULL : __libc_calloc(count, bytes)); }
void *realloc(void *memory, size_t bytes) { return made(fails(bytes) ? NULL : __libc_realloc(memory, bytes)); }
void *memalign(size_t alignment, size_t bytes) {
  return made(fails(bytes + alignment) ? NULL : __libc_memalign(alignment, bytes));
}
void *aligned_alloc(size_t alignment, size_t bytes) { return memalign(alignment, bytes); }
int posix_memalign(void **out, size_t alignment, size_t bytes) {
  void *const memory = memalign(alignment, bytes);
  if (!memory) return ENOMEM;
  *out = memory;
  return 0;
}
void free(void *memory) {
  if (memory && memory == newest) spare = malloc_usable_size(memory) + overhead;
  newest = NULL;
  __libc_free(memory);
}
