// SPDX-License-Identifier: BSD-3-Clause
// The elimination of a graph in an order: tree, postorder and column counts.
#pragma once

#include <span>

#include "core/cholesky/graph.hpp"

namespace sextant::cholesky {

// In postorder: perm is the given order composed with one. A child's columns come before its parent's; of siblings, the
// one with the most entries is the last, beside the parent.
struct Elimination {
  std::int64_t n = 0, n_schur = 0;
  Array<std::int32_t> perm, inverse;  // perm[k]: the caller's column that is eliminated k-th
  Array<std::int32_t> parent;         // of a column, in the order of elimination; -1: a root
  Array<std::int32_t> counts;         // entries of a column of L, the diagonal included
  std::int64_t nnz_l = 0;             // sum of counts
  double flops = 0;  // sum of their squares, without the last n_schur columns: of L without added zeros
};

// order[k]: the column that is to be eliminated k-th. The last n_schur columns keep their places, and count as dense.
// Throws SXT_E_ARGUMENT, naming the place, where the order is no permutation or n_schur is not in 0 .. n.
Elimination eliminate(const Graph &graph, std::span<const std::int32_t> order, std::int64_t n_schur, int threads);

}  // namespace sextant::cholesky
