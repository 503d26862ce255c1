// SPDX-License-Identifier: BSD-3-Clause
// The interface of the CSR kernels to the files compiled once an instruction set: plain structs and a table of
// functions. No C++ standard header.
#pragma once

#include <stdint.h>

#include "plugins/formats/ell_call.hpp"

namespace sextant::spmv_csr {

// A and the vectors of one call; alpha and beta are exact in double for both vector types.
struct RowsCall {
  const void *row_ptr;
  const int32_t *col;
  const void *values, *x;
  void *y;
  int64_t ldx, ldy;
  int32_t n_rhs;
  double alpha, beta;
};

struct Table {
  // y = alpha A x + beta y for rows begin .. end-1, all right-hand sides; [type pair][offsets of 64 bits].
  void (*rows[plugin::n_lane_pairs][2])(const RowsCall &, int64_t begin, int64_t end);
  // sums[r] = entries begin .. end-1 times column r of x, as values of the vectors' type.
  void (*run[plugin::n_lane_pairs])(const RowsCall &, int64_t begin, int64_t end, void *sums);
};

}  // namespace sextant::spmv_csr
