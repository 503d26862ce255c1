/* SPDX-License-Identifier: BSD-3-Clause */
/* Kind "sxt.launch/1": launch policies, one pure function that picks among the configurations a kernel declared
 * itself safe for. run reads and writes host memory only. */
#ifndef SEXTANT_KINDS_LAUNCH_H
#define SEXTANT_KINDS_LAUNCH_H
#include "sextant/plugin/plugin.h"

#define SXT_KIND_LAUNCH "sxt.launch/1"

typedef struct { /* limits of one multiprocessor and of one block */
  int64_t units, threads_per_unit, blocks_per_unit, registers_per_unit, shared_per_unit;
  int64_t threads_per_block, shared_per_block, warp;
} sxt_launch_limits;

typedef struct { sxt_query q; int64_t count; } sxt_launch_query;

typedef struct {
  sxt_head h;
  sxt_launch_limits limits;
  int64_t count;
  const sxt_launch_config *configs;
  int64_t chosen; /* out: index, or -1 when the policy declines */
} sxt_launch_args;

SXT_STATIC_ASSERT(sizeof(sxt_launch_args) == 104, "frozen");
#endif
