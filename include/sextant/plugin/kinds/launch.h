/* SPDX-License-Identifier: BSD-3-Clause */
/* Kind "sxt.launch/1": launch policies, one pure function that picks among the configurations a kernel declared
 * itself safe for. run reads and writes host memory only. */
#ifndef SEXTANT_KINDS_LAUNCH_H
#define SEXTANT_KINDS_LAUNCH_H
#include "sextant/plugin/plugin.h"

#define SXT_KIND_LAUNCH "sxt.launch/1"

/* Limits of a device of `units` multiprocessors: of one multiprocessor (threads_per_unit, blocks_per_unit, registers_per_unit,
 * shared_per_unit in bytes), of one block (threads_per_block, shared_per_block), and threads of a warp. */
typedef struct {
  int64_t units, threads_per_unit, blocks_per_unit, registers_per_unit, shared_per_unit;
  int64_t threads_per_block, shared_per_block, warp;
} sxt_launch_limits;

typedef struct { sxt_query q; int64_t count; /* configurations to pick from */ } sxt_launch_query;

typedef struct {
  sxt_head h;
  sxt_launch_limits limits; /* of the device */
  int64_t count;            /* configurations in configs */
  const sxt_launch_config *configs; /* what may be picked */
  int64_t chosen; /* out: index, or -1 when the policy declines */
} sxt_launch_args;

SXT_STATIC_ASSERT(sizeof(sxt_launch_args) == 104, "frozen");
#endif
