/* SPDX-License-Identifier: BSD-3-Clause */
/* Kind "sxt.spmv/1": y = alpha op(A) x + beta y for n_rhs columns of x and y (column-major). beta == 0 never reads y.
 * x and y do not overlap. problem->a is the matrix in the storage the candidate was asked for. */
#ifndef SEXTANT_KINDS_SPMV_H
#define SEXTANT_KINDS_SPMV_H
#include "sextant/plugin/kinds/storage.h"

#define SXT_KIND_SPMV "sxt.spmv/1"

typedef struct {
  sxt_matrix_query m; /* m.q.value_type: of x and y */
  sxt_op op;
  int32_t n_rhs;
} sxt_spmv_query;

typedef struct {
  sxt_head h;
  sxt_op op;
  int32_t n_rhs;
  int64_t ldx, ldy;         /* used when n_rhs > 1 */
  sxt_scalar alpha, beta;   /* of the vectors' value type */
  const void *x;
  void *y;
} sxt_spmv_args;

SXT_STATIC_ASSERT(sizeof(sxt_spmv_query) == 88, "frozen");
SXT_STATIC_ASSERT(sizeof(sxt_spmv_args) == 88, "frozen");
#endif
