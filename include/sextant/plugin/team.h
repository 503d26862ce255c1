/* SPDX-License-Identifier: BSD-3-Clause */
/* Service "sxt.team/1" of sxt_host.get_service: the threads of the process's one pool. A kernel that computes on
 * several threads takes them from here and creates none itself, so that it behaves the same from every caller: in an
 * OpenMP region or task of the caller, in a thread of any other runtime, in a child after fork.
 *
 * No call waits for a thread that has not started: the caller does the shares of threads that are busy elsewhere or
 * that the system has not run yet. Results must therefore not depend on which thread does a part. */
#ifndef SEXTANT_TEAM_H
#define SEXTANT_TEAM_H

#include "sextant/plugin/plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SXT_SERVICE_TEAM "sxt.team/1"

typedef struct { /* Threads for a kernel. Every member [any-thread]; neither allocates memory for the work nor throws */
  uint64_t struct_size;
  /* Calls work(arg, part) for part 0 .. parts-1, each once, on at most `threads` threads of which the caller is one,
   * and returns when all have returned. Parts may run one after another. work must not throw. */
  void (*run)(const sxt_host *, int32_t parts, int32_t threads, void (*work)(void *arg, int32_t part), void *arg);
  /* Calls work(arg, rank, size) once on each of `size` threads at the same time, rank 0 on the caller, and returns when
   * all have returned: 1 <= size <= threads, as many as started in time. work may wait for the others. */
  void (*meet)(const sxt_host *, int32_t threads, void (*work)(void *arg, int32_t rank, int32_t size), void *arg);
} sxt_team_service;

#ifdef __cplusplus
}
#endif
#endif
