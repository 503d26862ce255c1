// SPDX-License-Identifier: BSD-3-Clause
// The functions of rows_isa.cpp for each instruction set.
#pragma once

#include <stdint.h>

#include "plugins/residual/shared/residual.hpp"

namespace sextant_residual_csr {

// One call. Arrays have the types of the table entry; a complex number is two reals.
struct Call {
  const void *row_ptr, *col, *values, *x, *b;
  void *r;  // NULL: only the norms
  int64_t rows, ldx, ldb, ldr;
  int32_t n_rhs;
  sextant::residual::Norms *norms;  // of column c of a block of rows: at block * n_rhs + c
};

enum { types = 4, index_types = 2 };

struct Table {
  // By value type, offset type and index type, each counted from 0: blocks first .. last - 1.
  void (*blocks[types][index_types][index_types])(const Call &, int64_t first, int64_t last);
};

}  // namespace sextant_residual_csr
