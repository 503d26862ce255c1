// SPDX-License-Identifier: BSD-3-Clause
// The functions of multidot_lanes.cpp for each instruction set.
#pragma once

#include <stdint.h>

namespace sextant_multidot_tree {

enum { types = 4 };

struct Call {
  const void *const *u, *const *v;
  int64_t n;
  int32_t pairs;
};

struct Table {
  // Sums of leaf first .. last-1 of every pair: pair d, leaf l at out[d * leaves of the whole + l].
  void (*leaves[types])(const Call &, int64_t first, int64_t last, void *out);
};

}  // namespace sextant_multidot_tree
