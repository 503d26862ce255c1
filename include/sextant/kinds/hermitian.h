/* SPDX-License-Identifier: BSD-3-Clause */
/* Kind "sxt.hermitian/1": factor and solve a set of dense Hermitian (symmetric) systems in one call. Column-major.
 * Orders are given on the host, so that models and launches see them without reading the device. */
#ifndef SEXTANT_KINDS_HERMITIAN_H
#define SEXTANT_KINDS_HERMITIAN_H
#include "sextant/plugin.h"

#define SXT_KIND_HERMITIAN "sxt.hermitian/1"

enum { SXT_HERMITIAN_FACTOR = 1, SXT_HERMITIAN_SOLVE = 2, SXT_HERMITIAN_FACTOR_SOLVE = 3 };
enum { SXT_HERMITIAN_DEFINITE = 1, SXT_HERMITIAN_INDEFINITE = 2, SXT_HERMITIAN_TRY_DEFINITE = 3 };

typedef struct {
  sxt_query q;
  int64_t batch, n_max, n_rhs;
  double sum_n1, sum_n2, sum_n3; /* sums of n, n^2, n^3 over the systems */
  int32_t phase, definiteness;
  int32_t pointer_array, orders_vary;
} sxt_hermitian_query;

typedef struct {
  sxt_head h;
  int32_t phase, definiteness;
  sxt_value_type value_type;
  sxt_triangle triangle;               /* which one is read and overwritten by the factor */
  int64_t batch, n_max, n_rhs;
  const int32_t *orders;               /* host; NULL: all n_max */
  const int32_t *orders_device;        /* optional copy in device space */
  void *a;                             /* exactly one of a with stride_a, or a_array */
  int64_t lda, stride_a;
  void *const *a_array;                /* batch pointers, in device space */
  void *b;                             /* as a; NULL when phase is FACTOR */
  int64_t ldb, stride_b;
  void *const *b_array;
  const int64_t *lda_each, *ldb_each;  /* device space; NULL: uniform */
  const uint8_t *active;               /* device space; NULL: all; systems with 0 are left alone */
  int32_t *info;                       /* device space, one a system: 0 done, k > 0 leading minor k (1-based) is not
                                        * positive, -1 NaN or infinity in the input, -2 not active */
} sxt_hermitian_args;

SXT_STATIC_ASSERT(sizeof(sxt_hermitian_args) == 168, "frozen");
#endif
