/* SPDX-License-Identifier: BSD-3-Clause */
/* Kind "sxt.dense/1": groups of dense operations, each with its own sizes, so that host BLAS and device kernels look
 * alike to a scheduler. Column-major. */
#ifndef SEXTANT_KINDS_DENSE_H
#define SEXTANT_KINDS_DENSE_H
#include "sextant/plugin/plugin.h"

#define SXT_KIND_DENSE "sxt.dense/1"

/* suffix, pinned value, name, formula */
#define SXT_DENSE_TABLE(X)                                                          \
  X(POTRF, 1, "potrf", "A (n x n, lower) = L L^H in place; info: 1-based minor")    \
  X(TRSM, 2, "trsm", "B (m x n) = B L^-H, L in A (n x n, lower)")                   \
  X(SYRK, 3, "syrk", "C (n x n, lower) -= A A^H, A is n x k")                       \
  X(GEMM, 4, "gemm", "C (m x n) -= A B^H, A is m x k, B is n x k")
enum {
#define SXT_X(suffix, value, name, formula) SXT_DENSE_##suffix = value,
  SXT_DENSE_TABLE(SXT_X)
#undef SXT_X
};

typedef struct {
  sxt_query q;
  int32_t operation, reserved0;
  int64_t count, max_m, max_n, max_k; /* items, and their largest sizes */
  double flops; /* of the whole group */
} sxt_dense_query;

typedef struct {
  sxt_head h;
  int32_t operation;
  sxt_value_type value_type;
  int64_t count;                          /* items */
  const int32_t *m, *n, *k;               /* one an item; NULL where the operation has none */
  void *const *a, *const *b, *const *c;   /* one pointer an item */
  const int64_t *lda, *ldb, *ldc;
  int32_t *info;                          /* one an item, or NULL */
  int32_t arrays_on_device, reserved0;    /* where m .. info lie; the matrices always lie in device space */
} sxt_dense_args;

SXT_STATIC_ASSERT(sizeof(sxt_dense_args) == 120, "frozen");
#endif
