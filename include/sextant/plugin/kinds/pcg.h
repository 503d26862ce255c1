/* SPDX-License-Identifier: BSD-3-Clause */
/* Kind "sxt.pcg/1": engines that drive preconditioned conjugate gradients on a Hermitian positive definite matrix. An
 * engine owns the recurrence and its numeric tests (finite, signs); core decides everything else through two callbacks:
 * the scale of the residuals, when to stop, and whether the answer is correct. An engine never claims convergence
 * itself. */
#ifndef SEXTANT_KINDS_PCG_H
#define SEXTANT_KINDS_PCG_H
#include "sextant/plugin/kinds/preconditioner.h"

#define SXT_KIND_PCG "sxt.pcg/1"

/* Recurrences: suffix, pinned value, name, source. */
#define SXT_RECURRENCE_TABLE(X)                                                                              \
  X(CLASSICAL, 1, "classical", "Hestenes and Stiefel 1952")                                                   \
  X(CHRONOPOULOS_GEAR, 2, "chronopoulos-gear", "Chronopoulos and Gear 1989")                                  \
  X(PREDICT_RECOMPUTE, 3, "predict-recompute", "Chen and Carson 2020: one synchronisation, recomputed r'r")
enum {
#define SXT_X(suffix, value, name, source) SXT_RECURRENCE_##suffix = value,
  SXT_RECURRENCE_TABLE(SXT_X)
#undef SXT_X
};

typedef struct {
  sxt_matrix_query m;
  int32_t recurrence;     /* SXT_RECURRENCE_*; 0: any */
  int32_t preconditioned; /* 1: the M slot must be filled and applied; 0: M is the identity (A already scaled) */
  double iterations;      /* expected in one solve; 0: unknown */
  char preconditioner[24]; /* the requested method, passed on to the M slot's query; "": any */
} sxt_pcg_query;

/* Answers of sxt_pcg_args.confirm. */
enum { SXT_CONFIRM_GO_ON = 0, SXT_CONFIRM_STOP = 1, SXT_CONFIRM_REPLACE = 2 };

typedef struct {
  sxt_head h;
  int64_t n;
  const void *b;          /* device space, as x */
  void *x;                /* the initial guess on entry, the last good iterate on return */
  int32_t x_is_zero, reserved0; /* 1: x holds zeros */
  double tolerance;       /* on the recursive ||r||_2 of the system the engine sees */
  int64_t max_iterations; /* stop with SXT_REASON_ITERATION_LIMIT after so many */
  int64_t replace_every;  /* recompute r = b - A x after this many iterations; 0: only when confirm asks for it */
  void *user;             /* handed to observe and confirm */
  /* New recursive residual norms of iterations first .. first + count - 1 (iteration 0: of the initial guess). Returns
   * SXT_REASON_NONE to go on, else the reason to stop with. Called on the solving thread. */
  sxt_reason (*observe)(void *user, int64_t first, int64_t count, const double *residuals);
  /* The recursive residual met the tolerance at this iterate. STOP: accepted, or out of reach; *reason says which.
   * GO_ON: with the new *tolerance. REPLACE: recompute r = b - A x, then go on with the new *tolerance. */
  int32_t (*confirm)(void *user, const void *x, int64_t iteration, double residual, double *tolerance, sxt_reason *reason);
  /* Set by the engine. */
  sxt_reason reason;
  int32_t launches;       /* kernels, graphs and runs of parts that the host launched on a device; 0: not counted */
  int64_t iterations;     /* of the iterate in x; for a failure, the iteration it was found in */
  double residual;        /* recursive, of that iterate */
  int64_t replacements, products, reductions; /* how often r was replaced, A was applied, a result was waited for */
} sxt_pcg_args;

SXT_STATIC_ASSERT(sizeof(sxt_pcg_query) == 120, "frozen");
SXT_STATIC_ASSERT(sizeof(sxt_pcg_args) == 144, "frozen");
#endif
