// SPDX-License-Identifier: BSD-3-Clause
// The functions of blocks_lanes.cpp for each instruction set.
#pragma once

#include "plugins/reduction/shared/terms.hpp"

namespace sextant_reduction_blocks {

using namespace sextant_reduction;

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
