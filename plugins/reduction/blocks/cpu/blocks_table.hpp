// SPDX-License-Identifier: BSD-3-Clause
// The functions of blocks_lanes.cpp for each instruction set.
#pragma once

#include <stdint.h>

namespace sextant_reduction_blocks {

enum Terms { values, products, conjugate_products, magnitudes, squares, term_kinds };
enum { types = 4 };

// One reduction's operands; scale multiplies every element before it is squared.
struct Call {
  const void *x, *y;
  int64_t n;
  double scale;
};
// The result of one range: a sum (re, im), or an extreme and its index.
struct Partial {
  double value[2];
  int64_t index;  // -1: none
};
using Function = Partial (*)(const Call &, int64_t begin, int64_t end);

struct Table {
  Function sum[types][term_kinds];
  // The same over all elements into a result of the sum's type, for values, products and magnitudes: for one thread,
  // without partial results.
  void (*whole[types][term_kinds])(const Call &, void *result);
  Function largest[types];             // largest magnitude; index: -1 of none, else of no meaning
  Function first_largest[types];       // and its first index
  Function least[types], most[types];  // NULL for complex numbers
};

}  // namespace sextant_reduction_blocks
