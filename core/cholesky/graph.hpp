// SPDX-License-Identifier: BSD-3-Clause
// The pattern of a Hermitian matrix, as the caller has it and as a graph.
#pragma once

#include "core/cholesky/array.hpp"
#include "sextant/types.h"

namespace sextant::cholesky {

// Which entries the caller's CSR holds besides the diagonal's.
enum class Triangles : std::int32_t { both = 0, lower = 1, upper = 2 };

// Canonical CSR of a square matrix: zero-based, columns strictly ascending in a row. Borrowed.
struct Pattern {
  std::int64_t n = 0;
  sxt_index_type index_type = SXT_I32, offset_type = SXT_I32;
  const void *row_ptr = nullptr;  // n + 1
  const void *col = nullptr;
  Triangles triangles = Triangles::both;
};

// The pattern as a graph: neighbours of i are col[row_ptr[i]] .. col[row_ptr[i+1]-1], ascending, both triangles, no
// diagonal.
struct Graph {
  std::int64_t n = 0;
  Array<std::int64_t> row_ptr;
  Array<std::int32_t> col;
};

// Throws SXT_E_NOT_SUPPORTED from 2^31 rows on, SXT_E_ARGUMENT where an entry lies in a triangle that is not given,
// SXT_E_NOT_SYMMETRIC, naming row and column, where both are given and an entry has no mirror image.
Graph make_graph(const Pattern &pattern, int threads);

}  // namespace sextant::cholesky
