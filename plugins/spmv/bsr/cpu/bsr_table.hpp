// SPDX-License-Identifier: BSD-3-Clause
// The functions of bsr_isa.cpp for each instruction set. No C++ standard header.
#pragma once

#include <stdint.h>

namespace spmv_bsr {

enum { least_block = 2, most_block = 8 };

struct Call {
  const int32_t *row_ptr, *col;
  const void *values, *x;
  void *y;
  int64_t rows, cols;
  double alpha[2], beta[2];
};
using Rows = void (*)(const Call &, int64_t begin, int64_t end);  // block rows

struct Table {
  Rows rows[6][most_block - least_block + 1];  // [type pair][block - 2]
};

}  // namespace spmv_bsr
