/* SPDX-License-Identifier: BSD-3-Clause */
/* Kind "sxt.preconditioner/1": z = M r with M close to the inverse of A, symmetric (Hermitian) positive definite where
 * A is. prepare refuses a matrix for which M would not be, naming the row. */
#ifndef SEXTANT_KINDS_PRECONDITIONER_H
#define SEXTANT_KINDS_PRECONDITIONER_H
#include "sextant/plugin/kinds/storage.h"

#define SXT_KIND_PRECONDITIONER "sxt.preconditioner/1"

typedef struct {
  sxt_matrix_query m;
  char method[24]; /* the requested method: "jacobi", or with a number "block-jacobi:8"; "": any */
} sxt_preconditioner_query;

typedef struct {
  sxt_head h;
  int64_t n;
  const void *r;
  void *z; /* does not overlap r */
} sxt_preconditioner_args;

/* Optional ops. A preconditioner that is a symmetric scaling, M = S S, lets core solve S A S (x / s) = S b instead, so
 * that no iteration applies it. */
typedef struct {
  uint64_t struct_size;
  const char *method; /* the name users give: "jacobi" */
  /* *s: n numbers of the value type's real type in device space, valid until release or refresh. NULL: no scaling. */
  sxt_status (*scaling)(const void *state, const void **s);
  /* Names with a number that should be tried beside the plain one, NULL-terminated: {"block-jacobi:4", ..}; NULL:
   * none. */
  const char *const *variants;
  /* Iterations as a share of those with M = diag(A)^-1: the median over the matrices it was tried on, for the plain
   * name. A prior for the choice of methods to probe, not a promise. 0: unknown. */
  double typical_iterations;
} sxt_preconditioner_ops;

/* SXT_KERNEL_POLYNOMIAL (flags.h): M is a polynomial in D^-1 A of a degree that does not depend on the matrix's values, so
 * that iterations fall by nearly the same factor for every matrix. typical_iterations is then used without a trial. */

SXT_STATIC_ASSERT(sizeof(sxt_preconditioner_args) == 40, "frozen");
#endif
