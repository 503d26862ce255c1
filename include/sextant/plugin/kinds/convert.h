/* SPDX-License-Identifier: BSD-3-Clause */
/* Kind "sxt.convert/1": vectors between the working precision and its single precision, f64 and f32 or c128 and c64,
 * scaled on the way, so that a factor in single precision can serve corrections of a solution. Contiguous vectors that
 * do not overlap. n = 0 does nothing. */
#ifndef SEXTANT_KINDS_CONVERT_H
#define SEXTANT_KINDS_CONVERT_H
#include "sextant/plugin/plugin.h"

#define SXT_KIND_CONVERT "sxt.convert/1"

enum {
  SXT_CONVERT_NARROW = 1, /* y[i] = alpha (scale[i] x[i]), rounded to nearest; y in single precision */
  SXT_CONVERT_ADD = 2     /* y[i] = y[i] + beta (alpha (scale[i] x[i])); x in single precision, arithmetic in the working
                           * one. Two factors, as their product may leave the range where the result does not */
};

typedef struct {
  sxt_query q;       /* value_type: the working precision, SXT_F64 or SXT_C128 */
  int64_t n;
  int32_t operation; /* SXT_CONVERT_* */
  int32_t reserved0; /* 0 */
} sxt_convert_query;

typedef struct {
  sxt_head h;
  int64_t n;
  int32_t operation;   /* SXT_CONVERT_* */
  int32_t reserved0;   /* 0 */
  double alpha, beta;  /* of the operation's formula, in host memory */
  const double *scale; /* n numbers in device space; NULL: 1 */
  const void *x;       /* n values in device space, of the type that the operation reads */
  void *y;             /* n values in device space, of the type that it writes */
} sxt_convert_args;

SXT_STATIC_ASSERT(sizeof(sxt_convert_query) == 48, "frozen");
SXT_STATIC_ASSERT(sizeof(sxt_convert_args) == 72, "frozen");
#endif
