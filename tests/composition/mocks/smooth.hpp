// SPDX-License-Identifier: BSD-3-Clause
// Kind "com.example.smooth/1", a third party's: y[i] = (x[i-1] + 2 x[i] + x[i+1]) / 4, with the neighbours of the ends
// taken as zero, `passes` times. Real double precision.
#pragma once

#include <cstdint>

#include "sextant/plugin/plugin.h"

#define KIND_SMOOTH "com.example.smooth/1"

struct SmoothQuery {
  sxt_query q;
  std::int64_t n, passes;
};

struct SmoothArgs {
  sxt_head h;
  std::int64_t n, passes;
  const double *x;
  double *y;  // does not overlap x
};
