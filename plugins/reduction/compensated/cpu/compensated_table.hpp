// SPDX-License-Identifier: BSD-3-Clause
// The functions of compensated_lanes.cpp for each instruction set.
#pragma once

#include <stdint.h>

namespace sextant_reduction_compensated {

enum Terms { values, products, conjugate_products, magnitudes, squares, term_kinds };
enum { types = 4, leaf_size = 4096 };

// One reduction's operands; scale, a power of two, multiplies every element before it is squared.
struct Call {
  const void *x, *y;
  int64_t n;
  double scale;
};
// A leaf's sum and the sum of the roundings it lost, for the real and the imaginary part.
struct Leaf {
  double sum[2], lost[2];
};

struct Table {
  void (*leaves[types][term_kinds])(const Call &, int64_t first, int64_t last, Leaf *out);
};

}  // namespace sextant_reduction_compensated
