// SPDX-License-Identifier: BSD-3-Clause
// The functions of tree_lanes.cpp for each instruction set.
#pragma once

#include "plugins/reduction/shared/terms.hpp"

namespace sextant_reduction_tree {

using namespace sextant_reduction;

struct Place {
  double value;
  int64_t index;  // -1: none
};

struct Table {
  // Sums of the leaves first .. last-1, one result each at `out` in the type of the sum.
  void (*leaves[types][term_kinds])(const Call &, int64_t first, int64_t last, void *out);
  // The first largest magnitude, the smallest and the largest of the elements begin .. end-1.
  Place (*largest[types])(const Call &, int64_t begin, int64_t end);
  Place (*least[types])(const Call &, int64_t begin, int64_t end);  // NULL for complex numbers
  Place (*most[types])(const Call &, int64_t begin, int64_t end);
};

}  // namespace sextant_reduction_tree
