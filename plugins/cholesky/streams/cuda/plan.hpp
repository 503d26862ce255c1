// SPDX-License-Identifier: BSD-3-Clause
// What follows from a structure alone, made once on the host: which leaf subtrees are one block of threads' work, in
// which order the other supernodes' tasks are issued, who contributes to whom.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sextant/plugin/kinds/cholesky.h"

namespace sextant_cholesky_streams {

// How tasks are made of supernodes: launch[1] of a candidate.
enum class Mapping : std::int64_t {
  published = 0,  // potrf, trsm, syrk, gemm and modify, each a task, for every supernode
  joined = 1      // leaf subtrees in one launch; narrow supernodes in two each; the others as published
};

// Supernodes first .. last, whose contributions to columns beyond them gather in a square block of `below` rows.
struct Subtree {
  std::int32_t first, last;
  std::int32_t below;
  std::int32_t reserved0;
  std::int64_t update_at;  // numbers before its block
};

// The rows of a supernode that are columns of one block column: rows begin .. end-1 of its list.
struct Target {
  std::int32_t block;
  std::int32_t begin, end;
};

// A node of the tree as solves see it: a leaf subtree or one supernode.
struct Level {
  std::vector<std::int32_t> narrow;  // jobs, each (first, last)
  std::vector<std::int32_t> wide;    // supernodes
};

struct Limits {
  std::int64_t panel = 8192;                           // numbers of a supernode that one block of threads keeps
  std::int64_t rows = 160;                             // of a front of a subtree
  double flops = 4e6;                                  // of a subtree
  std::int64_t narrow_width = 64, narrow_below = 512;  // factor: of a supernode that takes two launches
  std::int64_t solve_width = 64, solve_rows = 4096;    // solves: of a supernode for one block of threads
};
inline constexpr std::int64_t widest_in_subtree = 160;

class Plan {
 public:
  Plan(const sxt_symbolic &s, const Limits &limits, Mapping mapping, bool solves);

  const sxt_symbolic &s;
  const Limits limits;
  const Mapping mapping;

  std::int64_t width(std::int64_t p) const { return s.super_ptr[p + 1] - s.super_ptr[p]; }
  std::int64_t rows(std::int64_t p) const { return s.row_ptr[p + 1] - s.row_ptr[p]; }
  std::int64_t below(std::int64_t p) const { return rows(p) - width(p); }
  bool is_factored(std::int64_t p) const { return s.super_ptr[p] < s.n_factored; }
  bool in_subtree(std::int64_t p) const { return subtree_of_[p] >= 0; }
  bool is_narrow(std::int64_t p) const {
    return mapping == Mapping::joined && width(p) <= limits.narrow_width && below(p) <= limits.narrow_below &&
           blocks_begin(p) + 1 == blocks_begin(p + 1);
  }
  std::int64_t blocks_begin(std::int64_t p) const { return block_of_super_[p]; }
  std::int64_t block_width(std::int64_t b) const { return s.block_ptr[b + 1] - s.block_ptr[b]; }
  // The block columns that supernode p's rows below reach, in their order.
  void targets(std::int64_t p, std::vector<Target> &out) const;
  std::uint64_t bytes() const;

  std::vector<std::int32_t> super_of;  // of a column
  std::vector<std::int32_t> block_of;  // of a column: its block column
  std::vector<std::int32_t> fifo;      // supernodes outside of subtrees, leaves first
  std::vector<Subtree> subtrees;       // largest first
  std::int64_t update_values = 0;      // numbers of all their blocks
  std::int64_t buffer_values = 0;      // numbers of the largest product that waits to be added
  std::int64_t most_targets = 0;       // block columns that one supernode reaches, at most
  // Columns that subtrees contribute to; contributions of column k: from_tree, from_row [column_at[k] ..
  // column_at[k+1]).
  std::vector<std::int32_t> columns;
  std::vector<std::int64_t> column_at;
  std::vector<std::int32_t> from_tree, from_row;

  // Solves only.
  std::vector<std::int32_t> place_in_parent;  // for every entry of the row lists below the diagonal; -1 for own columns
  std::vector<std::int32_t> child_at, children;
  std::vector<Level> levels;  // leaves first

  // Columns of a product for `rows` rows that a buffer takes at once.
  static std::int64_t product_columns(std::int64_t rows) {
    constexpr std::int64_t most = std::int64_t{1} << 24, least = 64;
    return most / rows > least ? most / rows : least;
  }

 private:
  void find_subtrees();
  void find_order();
  void find_contributions();
  void find_buffer();
  void find_levels();
  void find_places();

  std::vector<std::int32_t> subtree_of_;      // index into subtrees, or -1
  std::vector<std::int32_t> block_of_super_;  // n_super + 1
};

}  // namespace sextant_cholesky_streams
