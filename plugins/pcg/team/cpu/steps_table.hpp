// SPDX-License-Identifier: BSD-3-Clause
// The functions of steps_isa.cpp for each instruction set: the vector operations of an iteration.
#pragma once

#include "sextant/sdk/cpu/group_steps.hpp"

namespace team {

using Update = void (*)(const sextant::plugin::GroupCall &, int64_t begin, int64_t end);

// Of one value type.
struct Steps {
  Update predicted;  // x r p q: r -= alpha q; x += alpha p; p = r + beta p
  Update descend;    // x r p q: x += alpha p; r -= alpha q
  Update turn;       // p r: p = r + beta p
  // conj(u) . v over the elements first .. first + count - 1, at most 1024, with the bits of a leaf of sdk/tree.hpp
  void (*dot)(const void *u, const void *v, int64_t first, int64_t count, void *out);
};

struct StepsTable {
  Steps of[4];  // by value type - 1
};

}  // namespace team
