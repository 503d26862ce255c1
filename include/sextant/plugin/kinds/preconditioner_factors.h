/* SPDX-License-Identifier: BSD-3-Clause */
/* Kind "sxt.preconditioner/1" for methods that multiply by their own sparse factors: M = G' G. A kernel that shows its
 * factors lets core hold each in another storage and multiply by another kernel, where that is predicted to be faster
 * than the kernel's own loop. Factors exist once the kernel is prepared, so core asks then; open receives the choice. A
 * kernel that is used alone is not asked and multiplies itself. */
#ifndef SEXTANT_KINDS_PRECONDITIONER_FACTORS_H
#define SEXTANT_KINDS_PRECONDITIONER_FACTORS_H
#include "sextant/plugin/kinds/preconditioner.h"


typedef struct { /* A sparse factor of M */
  uint64_t struct_size;
  const char *role; /* "G", "G^T": the last part of the product's role path; lives as long as the process */
  /* Canonical CSR of the vectors' type in the exec's device space. The arrays are the state's and stay where they are
   * until release; refresh changes the values only. Offsets are i32 below 2^31 entries, or i64 on the host. */
  sxt_csr csr;
  double share; /* seconds that the kernel's own loop takes for the product with this factor, in one run */
} sxt_factor;

/* open gets a slot for each factor, in their order: alternative 0 with one kernel of kind sxt.spmv/1 for y = F x (one
 * right-hand side, alpha 1, beta 0), or -1: the kernel's own loop. No slots at all (NULL): its own loops. The scratch
 * lent to a run does not include the kernels' own; open has to ask for it. */
typedef struct {
  sxt_preconditioner_ops one;
  /* Factor i of a prepared state. SXT_NOT_APPLICABLE: there are no more. [setup] */
  sxt_status (*factor)(const void *state, uint64_t i, sxt_factor *out);
} sxt_preconditioner_factors_ops;
#endif
