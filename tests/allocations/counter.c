/* SPDX-License-Identifier: BSD-3-Clause */
/* Preloaded into a program: counts what it asks of the host's allocator, and writes the number into the file that
 * COUNT_FILE names when the program ends. Over glibc, whose own functions do the work. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

static atomic_long calls;

void *malloc(size_t bytes) { return atomic_fetch_add(&calls, 1), __libc_malloc(bytes); }
void *calloc(size_t count, size_t bytes) { return atomic_fetch_add(&calls, 1), __libc_calloc(count, bytes); }
void *realloc(void *memory, size_t bytes) { return atomic_fetch_add(&calls, 1), __libc_realloc(memory, bytes); }
void *memalign(size_t alignment, size_t bytes) {
  return atomic_fetch_add(&calls, 1), __libc_memalign(alignment, bytes);
}
void *aligned_alloc(size_t alignment, size_t bytes) { return memalign(alignment, bytes); }
int posix_memalign(void **memory, size_t alignment, size_t bytes) {
  *memory = memalign(alignment, bytes);
  return *memory || bytes == 0 ? 0 : ENOMEM;
}

__attribute__((destructor)) static void tell(void) {
  const long made = atomic_load(&calls);
  const char *name = getenv("COUNT_FILE");
  FILE *file = name ? fopen(name, "w") : NULL;
  if (!file) return;
  fprintf(file, "%ld\n", made);
  fclose(file);
}
