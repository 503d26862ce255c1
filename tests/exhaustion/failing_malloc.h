/* SPDX-License-Identifier: BSD-3-Clause */
/* The allocator of this process, which can be made to fail. */
#ifndef FAILING_MALLOC_H
#define FAILING_MALLOC_H

#ifdef __cplusplus
extern "C" {
#endif

/* Allocations since this call, from 1 on, that fail: those from `first` to `last`. Counted while it is on. */
void failing_malloc_begin(long first, long last);
void failing_malloc_pause(void);
void failing_malloc_resume(void);
long failing_malloc_count(void);

#ifdef __cplusplus
}
#endif

#endif
