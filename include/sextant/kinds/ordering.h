/* SPDX-License-Identifier: BSD-3-Clause */
/* Kind "sxt.ordering/1": a fill-reducing permutation of a symmetric pattern, on the host. */
#ifndef SEXTANT_KINDS_ORDERING_H
#define SEXTANT_KINDS_ORDERING_H
#include "sextant/plugin.h"

#define SXT_KIND_ORDERING "sxt.ordering/1"

typedef struct {
  sxt_query q;
  int64_t n, nnz;     /* nnz: off-diagonal entries of both triangles */
  char method[24];    /* "metis", "amd", "natural"; "": any */
} sxt_ordering_query;

typedef struct {
  sxt_head h;
  int64_t n;
  const int64_t *ptr;  /* n + 1 */
  const int32_t *adj;  /* both triangles, no diagonal */
  int32_t *perm;       /* out: perm[k] is the old index of the k-th pivot */
  uint64_t seed;
} sxt_ordering_args;

SXT_STATIC_ASSERT(sizeof(sxt_ordering_args) == 56, "frozen");
#endif
