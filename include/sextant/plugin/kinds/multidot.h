/* SPDX-License-Identifier: BSD-3-Clause */
/* Kind "sxt.multidot/1": up to 8 inner products result[i] = conj(u[i]) . v[i] in one pass over memory. An array that
 * occurs in several pairs is read once. result lies in exec's device space (host memory on the CPU). */
#ifndef SEXTANT_KINDS_MULTIDOT_H
#define SEXTANT_KINDS_MULTIDOT_H
#include "sextant/plugin/plugin.h"

#define SXT_KIND_MULTIDOT "sxt.multidot/1"
enum { SXT_MULTIDOT_MAX = 8 };

typedef struct {
  sxt_query q;
  int64_t n;
  int32_t n_dots, distinct; /* pairs; distinct arrays among them, for the model */
} sxt_multidot_query;

typedef struct {
  sxt_head h;
  int64_t n;
  int32_t n_dots, reserved0;
  const void *const *u, *const *v; /* host arrays of n_dots pointers */
  void *result;                    /* n_dots values of the vectors' type */
} sxt_multidot_args;

SXT_STATIC_ASSERT(sizeof(sxt_multidot_args) == 56, "frozen");
#endif
