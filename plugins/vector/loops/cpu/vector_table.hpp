// SPDX-License-Identifier: BSD-3-Clause
// The functions of vector_lanes.cpp for each instruction set.
#pragma once

#include <stdint.h>

namespace sextant_vector_cpu {

enum { operations = 12, types = 4 };

// Operands of one run; alpha and beta are never NULL where the operation has them.
struct Call {
  const void *x;
  void *y, *z;
  const void *alpha, *beta, *index;
};
// Works on the elements begin .. end-1.
using Function = void (*)(const Call &, int64_t begin, int64_t end);

struct Table {
  Function plain[types][operations];          // by value type - 1 and operation; gather and scatter of i32 indices
  Function past_caches[types][operations];    // NULL where the operation reads what it writes
  Function gather_wide[types], scatter_wide[types];  // i64 indices
};

}  // namespace sextant_vector_cpu
