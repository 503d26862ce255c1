/* SPDX-License-Identifier: BSD-3-Clause */
/* Preloaded into a program: counts its requests to the host's allocator between the end of its second solve and the end
 * of its last, and writes the number of solves and that of requests into the file that COUNT_FILE names when the
 * program ends. Allocations of a set-up depend on its measurements, so they are left out; a first step may end with a
 * line of output, for which the language's runtime allocates. Built on glibc, whose own functions do the work. */
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
static long solves, after_second, after_last;

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

/* Replaces the library's own: sxt_pcg *, n, b, x, options, report. */
int sxt_pcg_solve_array(void *pcg, long n, const void *b, void *x, const void *options, void *report) {
  static int (*solve)(void *, long, const void *, void *, const void *, void *);
  if (!solve) *(void **)&solve = dlsym(RTLD_NEXT, "sxt_pcg_solve_array");
  const int status = solve(pcg, n, b, x, options, report);
  after_last = atomic_load(&calls);
  if (++solves == 2) after_second = after_last;
  return status;
}

__attribute__((destructor)) static void tell(void) {
  const char *name = getenv("COUNT_FILE");
  FILE *file = name ? fopen(name, "w") : NULL;
  if (!file) return;
  fprintf(file, "%ld %ld\n", solves, after_last - after_second);
  fclose(file);
}
