/* SPDX-License-Identifier: BSD-3-Clause */
/* Kind "sxt.cholesky/1": schedulers of a supernodal sparse Cholesky factorisation. The symbolic structure is core's and
 * reaches a scheduler as plain host arrays (problem->data), so a scheduler only schedules; dense work goes through
 * slots of kind sxt.dense/1. */
#ifndef SEXTANT_KINDS_CHOLESKY_H
#define SEXTANT_KINDS_CHOLESKY_H
#include "sextant/plugin/kinds/storage.h"

#define SXT_KIND_CHOLESKY "sxt.cholesky/1"

/* Supernode s owns columns super_ptr[s] .. super_ptr[s+1]-1 (permuted order) and rows rows[row_ptr[s]..], its own
 * columns first; its values are a dense column-major block at value_ptr[s] with leading dimension
 * row_ptr[s+1] - row_ptr[s]. block_ptr cuts wide supernodes into block columns. */
typedef struct {
  sxt_head h;
  int64_t n, n_super, n_blocks, nnz_l, values; /* columns; supernodes; block columns; entries of L; values: numbers stored, padding included */
  const int64_t *super_ptr, *row_ptr, *block_ptr, *value_ptr;
  const int32_t *rows, *parent, *perm; /* parent: of each supernode, -1 at a root; perm: the caller's number of each column */
  double flops; /* of the factorisation */
} sxt_symbolic;

typedef struct {
  sxt_matrix_query m;
  int64_t n_super, n_rhs, max_front, nnz_l; /* supernodes; right-hand sides; rows of the largest; entries of L */
  double flops; /* of the factorisation */
} sxt_cholesky_query;

/* Phases. */
enum { SXT_CHOLESKY_FACTOR = 1, SXT_CHOLESKY_SOLVE = 2 };

typedef struct {
  sxt_head h;
  int32_t phase, n_rhs;      /* SXT_CHOLESKY_* */
  const sxt_csr *a;          /* factor: the values, in the caller's numbering */
  void *b;                   /* solve: right-hand sides in, solutions out, permuted numbering */
  int64_t ldb;
  int64_t failed_column;     /* out: permuted column whose pivot was not positive; -1: none */
  double failed_pivot;       /* out: that pivot */
} sxt_cholesky_args;

SXT_STATIC_ASSERT(sizeof(sxt_cholesky_args) == 64, "frozen");
#endif
