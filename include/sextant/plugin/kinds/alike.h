/* SPDX-License-Identifier: BSD-3-Clause */
/* Kinds that make cases for a query: what a kernel is tested with before it may first serve such a query. */
#ifndef SEXTANT_KINDS_ALIKE_H
#define SEXTANT_KINDS_ALIKE_H
#include "sextant/plugin/plugin.h"

/* An sxt_kind whose struct_size includes these members. Kernels of other kinds are tested with the cases of make_case
 * whose value types are the query's. */
typedef struct {
  sxt_kind one;
  /* Case i = 0, 1, ... with the types, operation and columns of `like`, and with sizes and numbers that the kind
   * chooses: around block boundaries, none so small that a wrong kernel could pass, the most revealing first.
   * SXT_NOT_APPLICABLE: there are no more. Equal calls give equal, independent cases. [any-thread] */
  sxt_status (*make_case_like)(const sxt_host *, uint64_t seed, uint64_t i, const sxt_query *like, sxt_case *out);
} sxt_kind_alike;

SXT_STATIC_ASSERT(SXT_END_OF(sxt_kind_alike, make_case_like) == sizeof(sxt_kind_alike), "no tail padding");
#endif
