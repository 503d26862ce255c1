/* SPDX-License-Identifier: BSD-3-Clause */
/* Kind "sxt.ordering/1": a permutation of the rows and columns of a square matrix, from its pattern alone: for small
 * bandwidth ("rcm"), for little fill, or for another aim of the method. Patterns and permutations lie in host memory in
 * the contexts of every device, and run returns when the order is complete. The query describes the matrix of the
 * pattern: a kernel may read it in a storage instead of in the args.
 * The pattern should be symmetric. One that is not still gives a permutation, the same one each time, but a row is then
 * followed only to its own columns, and nothing is promised about the bandwidth. */
#ifndef SEXTANT_KINDS_ORDERING_H
#define SEXTANT_KINDS_ORDERING_H
#include "sextant/plugin/kinds/storage.h"

#define SXT_KIND_ORDERING "sxt.ordering/1"

typedef struct {
  sxt_matrix_query m;
  char method[24]; /* the requested method: "rcm", or another that a plugin offers; "": any */
} sxt_ordering_query;

typedef struct {
  sxt_head h;
  int64_t n;
  sxt_index_type index_type, offset_type; /* of col and perm; of row_ptr */
  const void *row_ptr; /* n + 1 */
  const void *col;     /* ascending in a row; diagonal entries mean nothing */
  void *perm;          /* out: perm[k] is the row that comes k-th; undefined where run does not return SXT_OK */
  /* Methods that go by levels (sets of rows whose neighbours lie in the same level or one beside it) return
   * SXT_NOT_APPLICABLE, soon, where one level would hold more rows; 0: never. */
  int64_t most_width;
  int64_t width, levels; /* out: rows of the widest level, and how many levels there are; 0: the method knows none */
} sxt_ordering_args;

SXT_STATIC_ASSERT(sizeof(sxt_ordering_query) == 104, "frozen");
SXT_STATIC_ASSERT(sizeof(sxt_ordering_args) == 80, "frozen");
#endif
