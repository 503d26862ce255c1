// SPDX-License-Identifier: BSD-3-Clause
// What group_lanes.cpp offers for each instruction set.
#pragma once

#include <stdint.h>

namespace sextant_vector_group_cpu {

enum { groups = 4, types = 4 };

// Operands of one run; the scalars that a group has are never NULL.
struct Call {
  void *const *vectors;
  const void *alpha, *beta;
};

struct Table {
  void (*update[types][groups])(const Call &, int64_t begin, int64_t end);  // the elements begin .. end-1
};

}  // namespace sextant_vector_group_cpu
