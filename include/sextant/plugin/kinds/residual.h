/* SPDX-License-Identifier: BSD-3-Clause */
/* Kind "sxt.residual/1": r = b - A x for n_rhs columns, computed in twice the working precision, and its norms, each
 * with a rigorous bound of its own rounding. The library calls a solve converged only by kernels of this kind that it
 * brought itself. x, b and r are of the matrix's type and do not overlap; problem->a is the matrix in the storage the
 * candidate was asked for. Promised, in round-to-nearest with gradual underflow, for the x, b and A in memory
 * (docs/residual.md):
 *   | |b - A x|_2 - norm_2 | <= bound_2, and likewise for the max-norm (max |re| + |im|, as SXT_NORM_MAX) and for b.
 * r is rounded once to the working precision. A number that is not finite, or a sum beyond the range, makes the norm or
 * its bound infinite or NaN, never a smaller number. Equal bits for any number of threads. run allocates nothing beside
 * scratch. */
#ifndef SEXTANT_KINDS_RESIDUAL_H
#define SEXTANT_KINDS_RESIDUAL_H
#include "sextant/plugin/kinds/storage.h"

#define SXT_KIND_RESIDUAL "sxt.residual/1"

typedef struct {
  sxt_matrix_query m; /* m.matrix_type equals m.q.value_type */
  int32_t n_rhs;
  int32_t reserved0;
} sxt_residual_query;

/* The result for one column. */
typedef struct {
  double norm_2, bound_2;         /* of b - A x */
  double norm_max, bound_max;     /* alike, in the max-norm */
  double rhs_2, rhs_bound_2;      /* of b */
  double rhs_max, rhs_bound_max;  /* alike, in the max-norm */
  double size_2, size_max;        /* of |b| + |A| |x|, to about 1 %: rounding x alone moves b - A x by up to u times that */
} sxt_residual_norms;

typedef struct {
  sxt_head h;
  int32_t n_rhs;
  int32_t reserved0;
  int64_t ldx, ldb, ldr;          /* used when n_rhs > 1 */
  const void *x, *b;
  void *r;                        /* NULL: only the norms */
  sxt_residual_norms *norms;      /* n_rhs of them, in memory that the device writes: device space, or pinned */
} sxt_residual_args;

SXT_STATIC_ASSERT(sizeof(sxt_residual_query) == 88, "frozen");
SXT_STATIC_ASSERT(sizeof(sxt_residual_norms) == 80, "frozen");
SXT_STATIC_ASSERT(sizeof(sxt_residual_args) == 80, "frozen");
#endif
