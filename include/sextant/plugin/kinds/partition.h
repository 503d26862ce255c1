/* SPDX-License-Identifier: BSD-3-Clause */
/* Kind "sxt.partition/1": which rows of a square matrix go to which member of a world, from its pattern alone: an order of
 * the rows, and where in it each member's begin. Pattern and answer lie in host memory in the contexts of every device, and
 * run returns when they are there. The answer is a function of the args.
 * A member m gets entries and rows of about rate[m] / (sum of rates) of all work, which is entry_bytes for each entry and
 * row_bytes for each row: what a product reads. Beyond that, few entries should lie in columns of other members. */
#ifndef SEXTANT_KINDS_PARTITION_H
#define SEXTANT_KINDS_PARTITION_H
#include "sextant/plugin/kinds/storage.h"

#define SXT_KIND_PARTITION "sxt.partition/1"

typedef struct {
  sxt_matrix_query m;     /* expected_runs: products */
  int32_t members;        /* at least 1 */
  int32_t keeps_order;    /* 1: rows stay in their order, and each member gets some */
  char method[24];        /* "contiguous", "rcm", "metis", "one", or another that a plugin offers; "": any */
  double value_s;         /* seconds that a product takes for a value of another member's x */
  double most_rate, rate; /* bytes a second: the fastest member's, of all members together */
} sxt_partition_query;

typedef struct {
  sxt_head h;
  int64_t n;
  sxt_index_type index_type, offset_type; /* of col; of row_ptr */
  const void *row_ptr; /* n + 1 */
  const void *col;
  const int64_t *along; /* the order that ops ask for: along[k] is the row that comes k-th; NULL: none was asked for */
  int32_t members, reserved0;
  const double *rate; /* of each member, above 0 */
  double entry_bytes, row_bytes;
  int64_t *order; /* out, n: order[k] is the row that comes k-th; where members keep their rows' order it ascends in each */
  int64_t *begin; /* out, members + 1: member m gets order[begin[m]] to order[begin[m + 1] - 1] */
} sxt_partition_args;

typedef struct { /* sxt_kernel.ops; NULL: all zero */
  uint64_t struct_size;
  const char *along; /* method of an order (sxt.ordering/2) that core makes first, for args.along; NULL: none */
} sxt_partition_ops;

SXT_STATIC_ASSERT(sizeof(sxt_partition_query) == sizeof(sxt_matrix_query) + 56, "frozen");
SXT_STATIC_ASSERT(sizeof(sxt_partition_args) == 104, "frozen");
#endif
