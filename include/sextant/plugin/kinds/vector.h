/* SPDX-License-Identifier: BSD-3-Clause */
/* Kind "sxt.vector/1": element-wise operations on contiguous vectors. Operands may be the same array where each element
 * is combined only with itself (x == y in axpby); partial overlap is undefined. n = 0 does nothing. */
#ifndef SEXTANT_KINDS_VECTOR_H
#define SEXTANT_KINDS_VECTOR_H
#include "sextant/plugin/plugin.h"

#define SXT_KIND_VECTOR "sxt.vector/1"

/* suffix, pinned value, name, formula, elements read, elements written (a vector element each) */
#define SXT_VECTOR_TABLE(X)                                         \
  X(COPY, 1, "copy", "y = x", 1, 1)                                 \
  X(FILL, 2, "fill", "y = alpha", 0, 1)                             \
  X(SCALE, 3, "scale", "y = alpha y", 1, 1)                         \
  X(AXPY, 4, "axpy", "y = alpha x + y", 2, 1)                       \
  X(AXPBY, 5, "axpby", "y = alpha x + beta y", 2, 1)                \
  X(WAXPBY, 6, "waxpby", "z = alpha x + beta y", 2, 1)              \
  X(MULTIPLY, 7, "multiply", "z[i] = x[i] y[i]", 2, 1)              \
  X(GATHER, 8, "gather", "y[i] = x[index[i]]", 2, 1)                \
  X(SCATTER, 9, "scatter", "y[index[i]] = x[i]", 2, 1)              \
  X(REAL_MULTIPLY, 10, "real-multiply", "z[i] = x[i] y[i], x of the real type", 2, 1) \
  X(REAL_DIVIDE, 11, "real-divide", "z[i] = y[i] / x[i], x of the real type", 2, 1)
enum {
#define SXT_X(suffix, value, name, formula, reads, writes) SXT_VECTOR_##suffix = value,
  SXT_VECTOR_TABLE(SXT_X)
#undef SXT_X
};

typedef struct {
  sxt_query q;
  int64_t n;
  int32_t operation;         /* SXT_VECTOR_* */
  sxt_index_type index_type; /* gather and scatter; else 0 */
} sxt_vector_query;

typedef struct {
  sxt_head h;
  int64_t n;
  int32_t operation;
  sxt_index_type index_type;
  sxt_scalar alpha, beta; /* of the vectors' type; not looked at where the formula has none */
  const void *x;
  void *y;           /* read by operations that write z (waxpby, multiplications, real-divide), written by the others */
  void *z;           /* written by those; else not used */
  const void *index; /* zero-based; scatter's are distinct */
} sxt_vector_args;

SXT_STATIC_ASSERT(sizeof(sxt_vector_query) == 48, "frozen");
SXT_STATIC_ASSERT(sizeof(sxt_vector_args) == 96, "frozen");
#endif
