// SPDX-License-Identifier: BSD-3-Clause
// The functions of group_lanes.cpp for each instruction set.
#pragma once

#include <stdint.h>

#include "sextant/sdk/cpu/group_steps.hpp"

namespace sextant_vector_group_cpu {

enum { groups = 4, types = 4 };

using Call = sextant::plugin::GroupCall;

// The same with inner products of the updated vectors: pair d is conj(vectors[a[d]]) . vectors[b[d]].
struct DotsCall {
  Call group;
  int64_t n;
  int32_t pairs;
  const int32_t *a, *b;
};

struct Table {
  void (*update[types][groups])(const Call &, int64_t begin, int64_t end);  // the elements begin .. end-1
  // Leaves first .. last-1 of 1024 elements; the sum of pair d over leaf l goes to out[d * leaves of the whole + l].
  void (*update_leaves[types][groups])(const DotsCall &, int64_t first, int64_t last, void *out);
};

}  // namespace sextant_vector_group_cpu
