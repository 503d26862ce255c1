/* SPDX-License-Identifier: BSD-3-Clause */
/* Kind "sxt.ordering/2": a permutation of the rows and columns of a square matrix, from its pattern alone: for little
 * bandwidth ("rcm"), for little fill ("amd", "metis", "dissection", "grid"), or for whatever else the method is known for.
 * Patterns and permutations lie in host memory in the contexts of every device, and run returns when the order is there. The
 * query is about the matrix whose pattern it is: a kernel may read that in a storage instead of in the args.
 * An order is a function of the pattern: it depends neither on the threads that were lent nor on earlier runs.
 * The pattern should be symmetric. One that is not still gives a permutation, and the same one each time, but rows are then
 * only followed to the columns that stand in them, and nothing is promised of bandwidth or fill. */
#ifndef SEXTANT_KINDS_ORDERING_H
#define SEXTANT_KINDS_ORDERING_H
#include "sextant/plugin/kinds/storage.h"

#define SXT_KIND_ORDERING "sxt.ordering/2"

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
  /* Out: the tree of a dissection. Node t orders rows perm[tree_first[t]] .. perm[tree_first[t+1]-1]; tree_parent[t] > t,
   * or -1 at a root. Rows of two nodes are neighbours only where one node is above the other. A method that knows more
   * nodes than tree_capacity gives a coarser tree; one that knows none gives tree_nodes = 0. NULL: no tree is wanted. */
  int64_t tree_capacity, tree_nodes;
  int64_t *tree_first;   /* tree_capacity + 1 */
  int64_t *tree_parent;  /* tree_capacity */
} sxt_ordering_args;

SXT_STATIC_ASSERT(sizeof(sxt_ordering_query) == 104, "frozen");
SXT_STATIC_ASSERT(sizeof(sxt_ordering_args) == 112, "frozen");
#endif
