/* SPDX-License-Identifier: BSD-3-Clause */
/* Kinds that make cases for a query: what a kernel is tested with before it may first serve such a query. */
#ifndef SEXTANT_KINDS_ALIKE_H
#define SEXTANT_KINDS_ALIKE_H
#include "sextant/plugin/plugin.h"

/* An sxt_kind whose struct_size says that it goes on. Other kinds' kernels are tested with the cases of make_case whose
 * value types are the query's. */
typedef struct {
  sxt_kind one;
  /* Case i = 0, 1, ... that asks what `like` asks in types, operation and columns, of sizes and numbers of the kind's
   * own: around the borders of blocks, none of them so small that a wrong kernel could pass; those that tell most
   * first. SXT_NOT_APPLICABLE: there are no more. Equal calls give equal, independent cases. [any-thread] */
  sxt_status (*make_case_like)(const sxt_host *, uint64_t seed, uint64_t i, const sxt_query *like, sxt_case *out);
} sxt_kind_alike;

SXT_STATIC_ASSERT(SXT_END_OF(sxt_kind_alike, make_case_like) == sizeof(sxt_kind_alike), "no tail padding");
#endif
