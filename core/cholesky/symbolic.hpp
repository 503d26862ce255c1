// SPDX-License-Identifier: BSD-3-Clause
// The symbolic half of a sparse Cholesky factorisation: plain arrays, no devices, no kernels. Everything here is a pure
// function of its arguments; `threads` bounds the threads that one call uses and does not change its result.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sextant/plugin/kinds/cholesky.h"

namespace sextant::cholesky {

// The pattern of a Hermitian matrix as a graph: neighbours of i are col[row_ptr[i]] .. , ascending, both triangles, no
// diagonal.
struct Graph {
  std::int64_t n = 0;
  std::vector<std::int64_t> row_ptr;
  std::vector<std::int32_t> col;
};

// The elimination of a graph in an order: in postorder, so perm is the given order composed with it.
struct Elimination {
  std::vector<std::int32_t> perm, inverse;  // perm[k]: the caller's column that is eliminated k-th
  std::vector<std::int32_t> parent;         // of a column, in the order of elimination; -1: a root
  std::vector<std::int64_t> counts;         // entries of a column of L, the diagonal included
  std::int64_t nnz_l = 0;
  double flops = 0;                         // sum of counts^2: of L without amalgamation
};

struct SupernodeOptions {
  std::int64_t amalgamation = 64;  // parent and child are joined where both are narrower
  std::int64_t block = 1024;       // columns of a block column, at most
  std::int64_t n_schur = 0;        // columns that stay unfactored: the last ones of the order
};

// Which columns stand together, and what that costs; cheap, so that several options can be compared.
struct Partition {
  SupernodeOptions options;
  std::vector<std::int64_t> super_ptr;
  std::vector<std::int32_t> parent;  // of a supernode
  std::vector<std::int64_t> rows;    // of a supernode
};

// Owns the arrays of an sxt_symbolic.
class Symbolic;

}  // namespace sextant::cholesky
