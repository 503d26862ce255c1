/* SPDX-License-Identifier: BSD-3-Clause */
/* Kind "com.example.scale/1", defined by a third party (scale_kind.c): y = factor x on doubles. The defects of the
 * defective plugins beside this file. */
#ifndef MOCK_SCALE_H
#define MOCK_SCALE_H
#include "sextant/plugin/plugin.h"

#define KIND_SCALE "com.example.scale/1"

typedef struct {
  sxt_query q;
  int64_t n;
} scale_query;

typedef struct {
  sxt_head h;
  int64_t n;
  sxt_scalar factor;
  const double *x;
  double *y;
} scale_args;

#endif
