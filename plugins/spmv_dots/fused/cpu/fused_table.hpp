// SPDX-License-Identifier: BSD-3-Clause
// The functions of the files compiled once an instruction set: rows of y (plugins/formats/row_products.hpp), and inner
// products of a leaf. No C++ standard header.
#pragma once

#include "plugins/formats/row_products.hpp"

namespace spmv_dots_fused {

// Rows that are multiplied and then summed while they are in the first cache: a leaf of the summation tree.
inline constexpr int64_t leaf = 1024;
static_assert(leaf % sextant::plugin::dia_block == 0);

// Pairs of vectors; where one is absent, y is used. Pair d of leaf l is stored at leaves[d * stride + l].
struct DotsCall {
  const void *const *u, *const *v;
  const void *y;
  int32_t n_dots;
  int64_t n, stride;
  void *leaves;
};

struct DotsTable {
  void (*leaf[4])(const DotsCall &, int64_t leaf);  // by value type - 1
};

}  // namespace spmv_dots_fused
