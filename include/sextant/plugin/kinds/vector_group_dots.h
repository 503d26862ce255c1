/* SPDX-License-Identifier: BSD-3-Clause */
/* Kind "sxt.vector_group_dots/1": the vector updates of one PCG iteration and inner products of the updated vectors, in
 * one pass over memory. dots[i] = conj(a) . b, where a and b are the group's vectors of these numbers (in the order of
 * the group's names) as they are after the update. dots lies in exec's device space (host memory on the CPU) and is
 * overwritten. Vectors as in plugin/kinds/vector_group.h. */
#ifndef SEXTANT_KINDS_VECTOR_GROUP_DOTS_H
#define SEXTANT_KINDS_VECTOR_GROUP_DOTS_H
#include "sextant/plugin/kinds/vector_group.h"

#define SXT_KIND_VECTOR_GROUP_DOTS "sxt.vector_group_dots/1"
enum { SXT_VECTOR_GROUP_DOTS_MAX = 4 };

typedef struct {
  sxt_query q;
  int64_t n;
  int32_t group, n_dots;
} sxt_vector_group_dots_query;

typedef struct {
  sxt_vector_group_args g; /* g.h names this kind and size */
  int32_t n_dots, reserved0;
  int32_t a[4], b[4];      /* numbers of the group's vectors; of n_dots pairs */
  void *dots;              /* n_dots values of the vectors' type */
} sxt_vector_group_dots_args;

SXT_STATIC_ASSERT(sizeof(sxt_vector_group_dots_query) == 48, "frozen");
SXT_STATIC_ASSERT(sizeof(sxt_vector_group_dots_args) == 208, "frozen");
#endif
