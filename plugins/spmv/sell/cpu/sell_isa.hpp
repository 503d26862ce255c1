// SPDX-License-Identifier: BSD-3-Clause
// The interface of the SELL kernel to the files compiled once an instruction set: a plain struct and a table of
// functions. No C++ standard header.
#pragma once

#include <stdint.h>

#include "plugins/formats/ell_call.hpp"

namespace sextant::spmv_sell {

inline constexpr int slice_rows = 8;  // lanes of the code below

// A and the vectors of one call; alpha and beta are exact in double for both vector types.
struct SlicesCall {
  const int64_t *slice_ptr;
  const int32_t *col;
  const void *values;
  const int32_t *perm;  // row of each slot; NULL: slot i is row i
  const void *x;
  void *y;
  int64_t rows, ldx, ldy;
  int32_t n_rhs;
  double alpha, beta;
};

struct Table {
  // y = alpha A x + beta y for the rows of slices begin .. end-1, all right-hand sides.
  void (*slices[plugin::n_lane_pairs])(const SlicesCall &, int64_t begin, int64_t end);
};

}  // namespace sextant::spmv_sell
