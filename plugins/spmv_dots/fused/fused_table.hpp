// SPDX-License-Identifier: BSD-3-Clause
// What the files compiled once an instruction set offer: rows of y, and inner products of a leaf. No C++ standard
// header.
#pragma once

#include "sextant/plugin_dia.hpp"

namespace spmv_dots_fused {

// Rows that are multiplied and then summed while they are in the first cache: a leaf of the summation tree.
inline constexpr int64_t leaf = 1024;
static_assert(leaf % sextant::plugin::dia_block == 0);

// y = alpha A x + beta y with A in CSR (start: row pointers) or in slices of eight rows (start: slice pointers, where
// perm gives the row of a slot; NULL: its own). Columns are 32 bits wide.
struct RowsCall {
  const void *start;
  const int32_t *col, *perm;
  const void *values, *x;
  void *y;
  int64_t rows;
  double alpha[2], beta[2];
};
using Rows = void (*)(const RowsCall &, int64_t begin, int64_t end);

// Pairs of vectors; where one is absent it stands for y. Pair d of leaf l is put at leaves[d * stride + l].
struct DotsCall {
  const void *const *u, *const *v;
  const void *y;
  int32_t n_dots;
  int64_t n, stride;
  void *leaves;
};

struct RowsTable {
  Rows csr[6][2];  // [type pair][offsets of 64 bits]
  Rows sell[6];    // real types; NULL for complex ones
  sextant::plugin::DiaRows dia[6];
};
struct DotsTable {
  void (*leaf[4])(const DotsCall &, int64_t leaf);  // by value type - 1
};

}  // namespace spmv_dots_fused
