/* SPDX-License-Identifier: BSD-3-Clause */
/* Kind "sxt.vector_group/1": the vector updates of one PCG iteration as one pass over memory. Scalars and vectors stand
 * in the order of the formula's names. Vectors do not overlap, except that a vector that is only read may also be one
 * that is written (u may be r): an element is read before it is written. */
#ifndef SEXTANT_KINDS_VECTOR_GROUP_H
#define SEXTANT_KINDS_VECTOR_GROUP_H
#include "sextant/plugin/plugin.h"

#define SXT_KIND_VECTOR_GROUP "sxt.vector_group/1"

/* suffix, pinned value, name, formula (in order), scalars, vectors */
#define SXT_VECTOR_GROUP_TABLE(X)                                                                            \
  X(CLASSICAL_XR, 1, "classical-xr", "x += alpha p; r -= alpha q", "alpha", "x r p q")                        \
  X(CHRONOPOULOS_GEAR, 2, "chronopoulos-gear", "p = u + beta p; s = w + beta s; x += alpha p; r -= alpha s",   \
    "alpha beta", "x r p s u w")                                                                              \
  X(PREDICT_RECOMPUTE, 3, "predict-recompute", "r -= alpha q; x += alpha p; p = r + beta p", "alpha beta",     \
    "x r p q")
enum {
#define SXT_X(suffix, value, name, formula, scalars, vectors) SXT_GROUP_##suffix = value,
  SXT_VECTOR_GROUP_TABLE(SXT_X)
#undef SXT_X
};

typedef struct {
  sxt_query q;
  int64_t n;
  int32_t group, reserved0;
} sxt_vector_group_query;

typedef struct {
  sxt_head h;
  int64_t n;
  int32_t group, reserved0;
  sxt_scalar scalars[4]; /* of the vectors' type */
  void *vectors[8];      /* n values each */
} sxt_vector_group_args;

SXT_STATIC_ASSERT(sizeof(sxt_vector_group_args) == 160, "frozen");
#endif
