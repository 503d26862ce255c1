// SPDX-License-Identifier: BSD-3-Clause
// The arguments of plugin_ell_lanes.hpp, for ISA sources and those who call them. No C++ standard header here.
#pragma once

#include <stdint.h>

namespace sextant::plugin {

// ELL arrays (column -1: padding) and the vectors of one call; alpha and beta are exact in double for f32 and f64.
struct EllCall {
  const int32_t *col;
  const void *values;
  int64_t width, ld;
  const void *x;
  void *y;
  int64_t ldx, ldy;
  int32_t n_rhs;
  double alpha, beta;
};

// Coordinates sorted by row.
struct CooArrays {
  const int32_t *row, *col;
  const void *values;
};

// Pairs of vector and matrix type with code in lanes.
enum { f64_of_f64, f64_of_f32, f32_of_f32, n_lane_pairs };

}  // namespace sextant::plugin
