// SPDX-License-Identifier: BSD-3-Clause
// What sums on the CPU are made of, and their operands, for the tables of each instruction set. Includes no C++
// standard header.
#pragma once

#include <stdint.h>

namespace sextant_reduction {

enum Terms { values, products, conjugate_products, magnitudes, squares, term_kinds };
enum { types = 4 };

// One reduction's operands; scale, a power of two, multiplies every element before it is squared.
struct Call {
  const void *x, *y;
  int64_t n;
  double scale;
};

}  // namespace sextant_reduction
