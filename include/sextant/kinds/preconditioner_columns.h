/* SPDX-License-Identifier: BSD-3-Clause */
/* Kind "sxt.preconditioner/1" for several vectors at once: Z = M R in one pass over what M is kept as. */
#ifndef SEXTANT_KINDS_PRECONDITIONER_COLUMNS_H
#define SEXTANT_KINDS_PRECONDITIONER_COLUMNS_H
#include "sextant/kinds/preconditioner.h"

/* In sxt_kernel.flags: run takes the longer args, too, told by their struct_size, and is then lent n_rhs times the scratch
 * that its candidate asks for. Kernels that were chosen for its factors serve single vectors only. */
#define SXT_KERNEL_SIDE_BY_SIDE 0x1000u

typedef struct {
  sxt_preconditioner_args one; /* r, z: n rows of n_rhs values each, row after row */
  int32_t n_rhs, reserved0;    /* a power of two, at most 32 */
} sxt_preconditioner_columns_args;
#endif
