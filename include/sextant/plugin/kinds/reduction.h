/* SPDX-License-Identifier: BSD-3-Clause */
/* Kind "sxt.reduction/1": one number from one or two vectors. nrm2 neither overflows nor underflows on the way.
 * n = 0 gives the neutral element: 0; of min +infinity, of max -infinity; iamax -1. A NaN operand gives NaN, also
 * beside an infinity; iamax then gives the first NaN. Infinities propagate. A zero that min or max returns is +0.
 * min and max compare real values; complex numbers have no order, and kernels refuse them. */
#ifndef SEXTANT_KINDS_REDUCTION_H
#define SEXTANT_KINDS_REDUCTION_H
#include "sextant/plugin/plugin.h"

#define SXT_KIND_REDUCTION "sxt.reduction/1"

/* suffix, pinned value, name, formula, vectors read; result type: value type V or its real type R, I int64 */
#define SXT_REDUCTION_TABLE(X)                                                     \
  X(SUM, 1, "sum", "sum x[i]", 1, V)                                               \
  X(DOT, 2, "dot", "sum x[i] y[i]", 2, V)                                          \
  X(DOTC, 3, "dotc", "sum conj(x[i]) y[i]", 2, V)                                  \
  X(NRM2, 4, "nrm2", "sqrt(sum |x[i]|^2)", 1, R)                                   \
  X(ASUM, 5, "asum", "sum |re x[i]| + |im x[i]|", 1, R)                            \
  X(AMAX, 6, "amax", "max |re x[i]| + |im x[i]|", 1, R)                            \
  X(IAMAX, 7, "iamax", "first i (zero-based) with the largest |re| + |im|", 1, I)  \
  X(MIN, 8, "min", "smallest x[i], real types", 1, R)                              \
  X(MAX, 9, "max", "largest x[i], real types", 1, R)
enum {
#define SXT_X(suffix, value, name, formula, vectors, result) SXT_REDUCTION_##suffix = value,
  SXT_REDUCTION_TABLE(SXT_X)
#undef SXT_X
};

/* How sums are rounded. WORKING: in the value type, in any order. DOUBLED: as if in twice its precision and rounded
 * once, by compensation or a wider accumulator; matters to sum, dot, dotc, asum and nrm2. */
enum { SXT_ACCURACY_WORKING = 0, SXT_ACCURACY_DOUBLED = 1 };

typedef struct {
  sxt_query q;
  int64_t n;
  int32_t operation;
  int32_t accuracy; /* SXT_ACCURACY_*: the least accuracy required */
} sxt_reduction_query;

typedef struct {
  sxt_head h;
  int64_t n;
  int32_t operation;
  int32_t result_on_device; /* else result is host memory and run returns when it is written */
  const void *x, *y;        /* n values each; y NULL where one vector is read */
  void *result;             /* one number of the type that the table states */
} sxt_reduction_args;

SXT_STATIC_ASSERT(sizeof(sxt_reduction_query) == 48, "frozen");
SXT_STATIC_ASSERT(sizeof(sxt_reduction_args) == 56, "frozen");
#endif
