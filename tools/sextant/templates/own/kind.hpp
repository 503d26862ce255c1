// SPDX-License-Identifier: BSD-3-Clause
// The kind "@DOMAIN@.@NAME@/1": y[i] = (x[i-1] + 2 x[i] + x[i+1]) / 4, elements beyond the ends being 0. What programs
// ask and pass, and what the plugin's files share. A change of these structs is a new revision: ".../2".
#pragma once

#include <cstdint>

#include "sextant/plugin/plugin.h"

#define KIND_OWN "@DOMAIN@.@NAME@/1"

// What a model may look at: plain data without pointers.
struct OwnQuery {
  sxt_query q;
  std::int64_t n;
};

// The operands of one run; x and y do not overlap, and have the query's value type.
struct OwnArgs {
  sxt_head h;
  std::int64_t n;
  const void *x;
  void *y;
};
