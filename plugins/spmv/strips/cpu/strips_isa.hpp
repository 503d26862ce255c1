// SPDX-License-Identifier: BSD-3-Clause
// The interface of the strips kernel to the files compiled once an instruction set: a plain struct and a table of
// functions. No C++ standard header.
#pragma once

#include <stdint.h>

#include "plugins/formats/ell_call.hpp"

namespace sextant::spmv_strips {

inline constexpr int slice_rows = 8;  // lanes of the code below

// A and the vectors of one call; alpha and beta are exact in double for both vector types.
struct StripsCall {
  const int64_t *strip_ptr, *gather_ptr;
  const int32_t *base, *col;
  const uint8_t *mask;
  const void *values;
  int64_t n_strips;
  const void *x;
  void *y;
  int64_t rows, ldx, ldy;
  int32_t n_rhs;
  double alpha, beta;
};

struct Table {
  // y = alpha A x + beta y for the rows of slices begin .. end-1, all right-hand sides.
  void (*slices[plugin::n_lane_pairs])(const StripsCall &, int64_t begin, int64_t end);
};

}  // namespace sextant::spmv_strips
