/* SPDX-License-Identifier: BSD-3-Clause */
/* Kind "sxt.hermitian_step/1": the operations on a set of Hermitian systems beside factoring and solving: copies,
 * shifts, scaling, residuals, estimates, and masks of the systems that take part. From these and kind "sxt.hermitian/1"
 * core composes equilibration, refinement, repeated attempts and reports. Every step skips systems that are not active
 * and those whose memory cannot be used. */
#ifndef SEXTANT_KINDS_HERMITIAN_STEP_H
#define SEXTANT_KINDS_HERMITIAN_STEP_H
#include "sextant/plugin/plugin.h"

#define SXT_KIND_HERMITIAN_STEP "sxt.hermitian_step/1"

/* a, b, c are blocks; v is `value`. Steps that write a mask write it for every system. */
enum {
  SXT_HERMITIAN_CHECK = 1,      /* info = -2, -3, -4 or 0 by active and the memory of a, b, c; mask = (info == 0). With
                                 * v != 0 (a solve) only systems whose info is 0 are looked at, -2 is not written */
  SXT_HERMITIAN_COPY = 2,       /* triangle of c = triangle of a */
  SXT_HERMITIAN_COPY_RHS = 3,   /* c = b */
  SXT_HERMITIAN_SHIFT = 4,      /* numbers = v, or v times the mean of a's diagonal with variant 1; a += numbers I */
  SXT_HERMITIAN_SCALE = 5,      /* scale = powers of two near 1 / sqrt|a_ii|, 1 where a_ii is 0; a = S a S. Where an
                                 * entry would leave the range, no number above 1 */
  SXT_HERMITIAN_SCALE_RHS = 6,  /* b = S b */
  SXT_HERMITIAN_SELECT = 7,     /* mask = active, and the condition of variant */
  SXT_HERMITIAN_MERGE = 8,      /* info = info_in */
  SXT_HERMITIAN_NO_PIVOTS = 9,  /* pivots = 0 where info is 0: the factor is Cholesky's */
  SXT_HERMITIAN_RESIDUAL = 10,  /* c = c - (a + numbers_in I) b, where a is the matrix, b the solution, c the right-hand
                                 * side; numbers = |c| / (|a| |b| + |c before|) in the largest norm, the worst column,
                                 * to six digits */
  SXT_HERMITIAN_ADD = 11,       /* b += c, where the sum is finite */
  SXT_HERMITIAN_NORM = 12,      /* numbers = 1-norm of a */
  SXT_HERMITIAN_ESTIMATE = 13,  /* stage `variant` of the estimate of |A^-1| in the 1-norm, SXT_HERMITIAN_ESTIMATE_*; b is
                                 * its vector, on which the inverse was applied between stages; numbers holds the
                                 * estimate so far */
  SXT_HERMITIAN_RECIPROCAL = 14,/* numbers = 1 / (numbers numbers_in), 0 where the product is not finite */
  SXT_HERMITIAN_INERTIA = 15,   /* inertia from the factor a and pivots (NULL: all positive) */
  /* c holds numbers of half the precision: f32 for f64, c64 for c128; the same type for f32 and c64. */
  SXT_HERMITIAN_NARROW = 16,    /* triangle of c = triangle of a */
  SXT_HERMITIAN_NARROW_RHS = 17,/* c = b */
  SXT_HERMITIAN_WIDEN_RHS = 18, /* b += c; with variant 1 b = c */
  /* U is the random butterfly of depth two of order n that plugins/hermitian/shared/butterfly.hpp (sources) defines, the same for
   * every system of that order. */
  SXT_HERMITIAN_MIX = 19,       /* lower triangle of c = U^T a U, whichever triangle of a is read */
  SXT_HERMITIAN_MIX_RHS = 20,   /* c = U^T b */
  SXT_HERMITIAN_UNMIX_RHS = 21, /* b += U c; with variant 1 b = U c */
  /* Of a factor a that SXT_HERMITIAN_SIGNED left: by how much its pivots cancelled; a large number means that a pivot
   * is the rounding of zero. */
  SXT_HERMITIAN_CANCELLED = 22  /* numbers = |row k of L|^2 / |l_kk|^2 in the 2-norm, the largest of all k; 1 for n = 0 */
};

/* Variants of SELECT. */
enum {
  SXT_HERMITIAN_DONE = 0,       /* info is 0 */
  SXT_HERMITIAN_FAILED = 1,     /* info is above 0 */
  SXT_HERMITIAN_CHOLESKY = 2,   /* info is 0, first pivot 0 */
  SXT_HERMITIAN_PIVOTED = 3,    /* info is 0, first pivot not 0 */
  SXT_HERMITIAN_ABOVE = 4,      /* info is 0 and numbers is above v or NaN */
  SXT_HERMITIAN_LEFT = 5,       /* info is not 0 */
  SXT_HERMITIAN_OTHERS = 6      /* mask is 0 so far */
};

/* Stages of ESTIMATE, in their order: Hager's estimate as Higham states it (ACM TOMS 14, 1988), with two steps along the
 * gradient and Higham's alternating vector. */
enum {
  SXT_HERMITIAN_ESTIMATE_BEGIN = 0,       /* b = 1 / n */
  SXT_HERMITIAN_ESTIMATE_SIGNS = 1,       /* numbers = |b|; b = its signs, whose image is the gradient */
  SXT_HERMITIAN_ESTIMATE_UNIT = 2,        /* b = the unit vector where the gradient is largest */
  SXT_HERMITIAN_ESTIMATE_SIGNS_AGAIN = 3,
  SXT_HERMITIAN_ESTIMATE_UNIT_AGAIN = 4,
  SXT_HERMITIAN_ESTIMATE_ALTERNATE = 5,   /* numbers = max |b|; b_i = +-(1 + i / (n - 1)), for what the gradient misses */
  SXT_HERMITIAN_ESTIMATE_END = 6          /* numbers = max 2 |b| / (3 n) */
};

typedef struct {
  sxt_query q;
  int64_t batch, n_max, n_rhs;
  double sum_n1, sum_n2; /* sums of n and n^2 over the systems */
} sxt_hermitian_step_query;

/* An array of matrices or of right-hand sides, as in sxt_hermitian_args: data with stride, or array. */
typedef struct {
  void *data;
  int64_t ld, stride;
  void *const *array;     /* device space; NULL: data */
  const int64_t *ld_each; /* device space; NULL: ld */
} sxt_hermitian_block;

typedef struct {
  sxt_head h;
  int32_t step, variant;        /* SXT_HERMITIAN_* above */
  sxt_value_type value_type;
  sxt_triangle triangle;
  int64_t batch, n_max, n_rhs;
  const int32_t *orders_device; /* NULL: all n_max */
  sxt_hermitian_block a, b, c;  /* data and array NULL: not there */
  const uint8_t *active;        /* device space, as all that follow; NULL: all */
  uint8_t *mask;                /* one a system, 0 or 1 */
  int32_t *info;                /* one a system */
  const int32_t *info_in;       /* what MERGE copies */
  int32_t *pivots;              /* stride_pivots a system */
  int64_t stride_pivots;
  double *scale;                /* stride_scale a system */
  int64_t stride_scale;
  double *numbers;              /* one a system */
  const double *numbers_in;     /* NULL: 0 */
  double value;                 /* v */
  int32_t *inertia;             /* three a system */
} sxt_hermitian_step_args;

SXT_STATIC_ASSERT(sizeof(sxt_hermitian_step_args) == 280, "frozen");
#endif
