// SPDX-License-Identifier: BSD-3-Clause
// Which columns stand together in a supernode, and what that costs.
#pragma once

#include "core/cholesky/elimination.hpp"
#include "sextant/plugin/kinds/cholesky.h"

namespace sextant::cholesky {

struct SupernodeOptions {
  std::int64_t amalgamation = 64;  // a parent and its last child may be joined where both are narrower; <= 1: none are
  std::int64_t block = 1024;       // columns of a block column, at most
  // Joined columns of up to widths[k] may have so many of their entries added as zeros; wider ones zeros[3] (Davis and
  // others, CHOLMOD's nrelax and zrelax).
  std::int64_t widths[3] = {4, 16, 48};
  double zeros[4] = {1, 0.8, 0.1, 0.05};
};

// Supernode s owns columns super_ptr[s] .. super_ptr[s+1]-1 and has rows[s] rows, its columns' own included.
struct Partition {
  SupernodeOptions options;
  std::int64_t n = 0, n_schur = 0, n_super = 0;
  std::int64_t nnz_l = 0;  // without added zeros
  Array<std::int64_t> super_ptr;
  Array<std::int32_t> parent;  // of a supernode; -1: a root
  Array<std::int32_t> rows;
};

// One pass over the columns; a second one with other options costs a pass over the fundamental supernodes.
Partition fundamental(const Elimination &elimination);
Partition amalgamate(const Partition &fundamental, const SupernodeOptions &options);
// Whether amalgamation by `other` gives what that by `done` gave, whose widest supernode has max_width columns: nothing
// was refused for its width, and nothing is cut.
bool gives_the_same(const SupernodeOptions &done, std::int64_t max_width, const SupernodeOptions &other);
inline Partition partition(const Elimination &elimination, const SupernodeOptions &options) {
  return amalgamate(fundamental(elimination), options);
}

// What schedulers' models look at: all of a query but m, phase, factors, n_rhs and n_sets, which stay 0. One pass over
// the supernodes. update_values counts contribution blocks as squares; stack_values is what lies on a stack of them
// while a supernode's own is made and its children's still lie there.
sxt_cholesky_query summary(const Partition &partition);

// Floating-point operations of a supernode of real numbers: sum of squares of its columns' entries; so many columns of
// so many rows.
double supernode_flops(double rows, double width);

// Into how many block columns of at most `block` columns a supernode is cut.
std::int64_t block_columns(std::int64_t width, std::int64_t block);

}  // namespace sextant::cholesky
