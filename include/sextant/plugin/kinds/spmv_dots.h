/* SPDX-License-Identifier: BSD-3-Clause */
/* Kind "sxt.spmv_dots/1": y = alpha A x + beta y, and in the same pass dots[i] = conj(u[i]) . v[i] for n_dots pairs of
 * vectors, where a NULL u or v stands for the new y. dots lies in exec's device space and is overwritten. */
#ifndef SEXTANT_KINDS_SPMV_DOTS_H
#define SEXTANT_KINDS_SPMV_DOTS_H
#include "sextant/plugin/kinds/spmv.h"

#define SXT_KIND_SPMV_DOTS "sxt.spmv_dots/1"

typedef struct {
  sxt_spmv_query m; /* the product */
  int32_t n_dots, reserved0;
} sxt_spmv_dots_query;

typedef struct {
  sxt_spmv_args m; /* m.h names this kind and size; n_rhs is 1 */
  int32_t n_dots, reserved0;
  const void *const *u, *const *v; /* host arrays of n_dots device pointers */
  void *dots;                      /* n_dots values of the vectors' type */
} sxt_spmv_dots_args;

SXT_STATIC_ASSERT(sizeof(sxt_spmv_dots_args) == 120, "frozen");
#endif
