/* SPDX-License-Identifier: BSD-3-Clause */
/* Kind "sxt.exchange/1": the values of a vector that one member of a world gives to others, from its device to where they
 * are wanted: link l gets x[index[begin + i]] for i = 0 .. count - 1. A run is work of the giving member, in the order of
 * its stream; what the receivers do before and after is ordered by core (events, or waiting).
 * Where the values go is the query's reach. SXT_REACH_PROCESS: memory of the same kind of device in this process, of any
 * ordinal. SXT_REACH_HOST: host memory, from which core takes them on, to other ranks or to members of other devices. A
 * kernel whose ops say `stages` is given host memory at SXT_REACH_PROCESS, too, and core copies from there.
 * Memory of receivers that a kernel cannot reach is found in prepare, by sxt_problem.data (sxt_exchange_plan, or NULL:
 * everything is on exec's device): SXT_NOT_APPLICABLE, with the reason, leaves the choice to others. */
#ifndef SEXTANT_KINDS_EXCHANGE_H
#define SEXTANT_KINDS_EXCHANGE_H
#include "sextant/plugin/plugin.h"

#define SXT_KIND_EXCHANGE "sxt.exchange/1"
#define SXT_KIND_EXCHANGE_PLAN "sxt.exchange_plan/1"

enum { SXT_REACH_PROCESS = 1, SXT_REACH_HOST = 2 };

typedef struct { /* What leaves one member in one exchange */
  sxt_query q;
  int64_t n;       /* values, over all links */
  int64_t n_apart; /* those of them that go to another device than they come from */
  int32_t links, links_apart; /* receivers; those of them on another device */
  int32_t reach, reserved0;   /* SXT_REACH_* */
} sxt_exchange_query;

typedef struct { /* One receiver. The links of a run follow each other in index and cover it */
  int64_t begin, count; /* in index, and in packed; count >= 1 */
  void *to;             /* count values */
} sxt_exchange_link;

typedef struct {
  sxt_head h;
  int64_t n;            /* entries of index */
  const void *x;        /* exec's device space, as what follows */
  const int64_t *index;
  void *packed;         /* room for n values; overlaps nothing */
  const sxt_exchange_link *links; /* host memory, read during the call */
  int32_t n_links, reserved0;     /* entries of links; 0 */
} sxt_exchange_args;

typedef struct { /* sxt_problem.data: where the links of later runs point to */
  sxt_head h;
  int64_t n_links; /* entries of to */
  void *const *to; /* of each link, in order */
} sxt_exchange_plan;

typedef struct { /* sxt_kernel.ops; NULL: all zero */
  uint64_t struct_size;
  int32_t stages;  /* 1: links point to host memory at every reach */
  int32_t reserved0;
} sxt_exchange_ops;

SXT_STATIC_ASSERT(sizeof(sxt_exchange_query) == 64, "frozen");
SXT_STATIC_ASSERT(sizeof(sxt_exchange_link) == 24, "frozen");
SXT_STATIC_ASSERT(sizeof(sxt_exchange_args) == 64, "frozen");
SXT_STATIC_ASSERT(sizeof(sxt_exchange_plan) == 32, "frozen");
#endif
