// SPDX-License-Identifier: BSD-3-Clause
// What the plugin and the code of each instruction set agree on: one item.
#pragma once

#include <stdint.h>

#include "sextant/sdk/dense_pivots.hpp"

namespace sextant_dense_loops {

struct Work {
  int32_t operation;
  bool unit;
  int64_t m, n, k;
  void *a, *b, *c;
  int64_t lda, ldb, ldc;
  const void *d;  // NULL: the identity
  int64_t incd;
  sextant_dense::PivotRule rule;
  uint8_t *marks;
};

// Returns info of a factorisation, 0 of all else.
typedef int32_t (*Function)(const Work &);
struct Table {
  Function work[4];  // f32, f64, c64, c128
};

}  // namespace sextant_dense_loops
