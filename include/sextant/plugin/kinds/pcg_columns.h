/* SPDX-License-Identifier: BSD-3-Clause */
/* Kind "sxt.pcg/1" for several right-hand sides of one matrix at once: engines that multiply A by all of them in one
 * pass. The systems are independent: each has its own scalars, callbacks and end, and does not change after its end.
 * Core asks with SXT_QUERY_COLUMNS and the longer query; a kernel that does not declare SXT_KERNEL_COLUMNS is
 * refused. */
#ifndef SEXTANT_KINDS_PCG_COLUMNS_H
#define SEXTANT_KINDS_PCG_COLUMNS_H
#include "sextant/plugin/kinds/pcg.h"
#include "sextant/plugin/kinds/pcg_record.h"

enum { SXT_PCG_COLUMNS_MAX = 32 };

typedef struct {
  sxt_pcg_query one;
  int32_t n_rhs, reserved0; /* at most so many in a run */
} sxt_pcg_columns_query;

typedef struct {
  sxt_head h;
  int64_t n;
  int32_t n_rhs, reserved0;
  sxt_pcg_args *columns; /* as one right-hand side each; results are left in them */
} sxt_pcg_columns_args;

typedef struct {
  sxt_pcg_ops one;
  /* As sxt_kernel.run, for all columns at once. */
  sxt_status (*run_columns)(const void *state, void *session, const sxt_head *args, const sxt_exec *);
} sxt_pcg_columns_ops;
#endif
