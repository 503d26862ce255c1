/* SPDX-License-Identifier: BSD-3-Clause */
/* Kind "sxt.dense/1": groups of dense operations with sizes of their own, so that host BLAS and device kernels look
 * alike to a scheduler. Column-major. On the CPU a call computes on the calling thread alone, and any number of threads
 * may call at once. */
#ifndef SEXTANT_KINDS_DENSE_H
#define SEXTANT_KINDS_DENSE_H
#include "sextant/plugin/plugin.h"

#define SXT_KIND_DENSE "sxt.dense/1"

/* suffix, pinned value, name, formula. L is the lower triangle of A, with a real diagonal; with args->unit that counts as
 * ones. D is args->d; without one it is the identity; trsm takes one beside `unit` only. What
 * stands above the diagonal of a triangle changes no result; above that of a result (potrf, ldlh, syrk, gemmt) anything
 * may be left. After a pivot that failed only that pivot and info mean anything. */
#define SXT_DENSE_TABLE(X)                                                                                         \
  X(POTRF, 1, "potrf", "A (n x n, lower) = L L^H in place; info: the 1-based column whose pivot, left there, failed") \
  X(TRSM, 2, "trsm", "B (m x n) = B L^-H D^-1, L is n x n")                                                          \
  X(SYRK, 3, "syrk", "C (n x n, lower) -= A D A^H, A is n x k")                                                      \
  X(GEMM, 4, "gemm", "C (m x n) -= A D B^H, A is m x k, B is n x k")                                                 \
  X(GEMMT, 5, "gemmt", "C (n x n, lower) -= A B^H, A and B are n x k; the result is Hermitian")                      \
  X(FORWARD, 6, "forward", "B (m x n) = L^-1 B, L is m x m")                                                         \
  X(BACKWARD, 7, "backward", "B (m x n) = L^-H B, L is m x m")                                                       \
  X(PRODUCT, 8, "product", "C (m x n) -= A B, A is m x k, B is k x n")                                               \
  X(PRODUCT_H, 9, "product_h", "C (m x n) -= A^H B, A is k x m, B is k x n")                                     \
  X(LDLH, 10, "ldlh", "A (n x n, lower) = L D L^H in place, L unit, D real on the diagonal, no interchanges; info as potrf's") \
  X(RIGHT, 11, "right", "B (m x n) = B L^-1, L is n x n")
enum {
#define SXT_X(suffix, value, name, formula) SXT_DENSE_##suffix = value,
  SXT_DENSE_TABLE(SXT_X)
#undef SXT_X
};

/* What becomes of a pivot that is too small: potrf: below the tolerance or equal to it, and not below minus it; ldlh: of a
 * size no larger than the tolerance. A pivot that is not finite fails under every policy, and so does one of potrf that
 * is <= 0 and was not changed. As in sextant/cholesky.h. */
enum {
  SXT_PIVOT_POLICY_FAIL = 0,
  SXT_PIVOT_POLICY_PERTURB = 1, /* it becomes pivot_value with its own sign; in potrf + pivot_value */
  SXT_PIVOT_POLICY_REPLACE = 2  /* it becomes pivot_value */
};

typedef struct {
  sxt_query q;
  int32_t operation; /* SXT_DENSE_*; 0: all of them, as one kernel is to do the work of a scheduler's slot */
  int32_t reserved0;
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
  void *const *d;                         /* NULL, or one an item: D's real diagonal in the value type, d[0], d[incd], ... */
  const int64_t *incd;                    /* with d, one an item: the distance of its numbers */
  int32_t *info;                          /* one an item, or NULL */
  int32_t arrays_on_device;               /* where m .. info lie; the matrices always lie in device space */
  int32_t unit;                           /* 1: the diagonal of every L counts as ones */
  int32_t pivot_policy, reserved0;        /* potrf and ldlh; the same for all items */
  double pivot_tolerance, pivot_value;    /* of that policy */
  uint8_t *const *changed;                /* NULL, or one an item: n bytes, of which it sets those of changed pivots to 1 */
} sxt_dense_args;

SXT_STATIC_ASSERT(sizeof(sxt_dense_args) == 168, "frozen");
#endif
