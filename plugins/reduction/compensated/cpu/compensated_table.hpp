// SPDX-License-Identifier: BSD-3-Clause
// The functions of compensated_lanes.cpp for each instruction set.
#pragma once

#include "plugins/reduction/shared/terms.hpp"

namespace sextant_reduction_compensated {

using namespace sextant_reduction;

enum { leaf_size = 4096 };

// A leaf's sum and the sum of the roundings it lost, for the real and the imaginary part.
struct Leaf {
  double sum[2], lost[2];
};

struct Table {
  void (*leaves[types][term_kinds])(const Call &, int64_t first, int64_t last, Leaf *out);
};

}  // namespace sextant_reduction_compensated
