/* SPDX-License-Identifier: BSD-3-Clause */
/* Kind "sxt.preconditioner/1" for several vectors at once: Z = M R in one pass over the arrays of M. A query with
 * SXT_QUERY_SIDE_BY_SIDE is the longer struct and is served only by kernels that declare SXT_KERNEL_SIDE_BY_SIDE. */
#ifndef SEXTANT_KINDS_PRECONDITIONER_COLUMNS_H
#define SEXTANT_KINDS_PRECONDITIONER_COLUMNS_H
#include "sextant/plugin/kinds/preconditioner.h"

/* SXT_KERNEL_SIDE_BY_SIDE (flags.h): run also takes the longer args, recognised by their struct_size, and is then lent
 * n_rhs times the scratch that its candidate asks for. Kernels that were chosen for its factors serve single vectors only. */

typedef struct {
  sxt_preconditioner_query one;
  int32_t n_rhs, reserved0; /* of each run: a power of two, at most 32. Candidates state the seconds of all */
} sxt_preconditioner_columns_query;

typedef struct {
  sxt_preconditioner_args one; /* r, z: n rows of n_rhs values each, row after row */
  int32_t n_rhs, reserved0;    /* a power of two, at most 32 */
} sxt_preconditioner_columns_args;
#endif
