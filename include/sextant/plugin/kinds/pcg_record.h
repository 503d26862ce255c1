/* SPDX-License-Identifier: BSD-3-Clause */
/* The ops of kind "sxt.pcg/1": engines that can enqueue a whole solve into a graph that the application is capturing. A
 * replay needs no host: it decides convergence itself, by the true residual. */
#ifndef SEXTANT_KINDS_PCG_RECORD_H
#define SEXTANT_KINDS_PCG_RECORD_H
#include "sextant/plugin/kinds/pcg.h"
#include "sextant/plugin/kinds/residual.h"

/* The args of record; kind SXT_KIND_PCG. */
typedef struct {
  sxt_head h;
  int64_t n;
  const void *b; /* device space, as x */
  void *x;       /* the guess, and the last good iterate */
  /* Real, of the vectors' precision: the system's residual and b are divided by these before they are compared. NULL:
   * not divided. */
  const void *scaling;       /* own x = scaling times the system's, element by element */
  int32_t x_is_zero, reserved0;
  double rtol, atol;      /* converged: |b - A x| <= max(rtol |b|, atol), in that 2-norm */
  int64_t max_iterations; /* of one replay */
  /* Every replay writes its outcome here: memory that host and device reach, or NULL. */
  sxt_reason *reason;
  int64_t *iterations, *confirmations;
  double *rhs_norm, *residual_norm, *relative_residual;
  /* The true residual: b - A x with the caller's matrix, by a kernel of kind sxt.residual/1 that core trusts. It runs
   * on any stream of the capture, with this scratch, and writes its norms where the device reads them. Only these norms
   * decide "converged" (sextant/sdk/pcg_confirm.hpp: proves_converged). */
  const sxt_bound *residual;
  void *residual_scratch;
  sxt_residual_norms *norms;
  const void *own_b;         /* the caller's b */
  void *own_x, *own_r;       /* work vectors for x and the residual in the caller's scale and order; NULL: both are the system's */
  const void *index;         /* the caller's number of each row of the system; NULL: the order is the same */
  sxt_index_type index_type;
  int32_t reserved1;
} sxt_pcg_record_args;

typedef struct {
  uint64_t struct_size;
  /* As sxt_kernel.run, on a stream that is being captured. Afterwards the session belongs to the graph. */
  sxt_status (*record)(const void *state, void *session, const sxt_head *args, const sxt_exec *);
} sxt_pcg_ops;
#endif
