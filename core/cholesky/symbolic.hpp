// SPDX-License-Identifier: BSD-3-Clause
// The symbolic half of a sparse Cholesky factorisation: plain arrays, no devices, no kernels. Everything here is a pure
// function of its arguments; `threads` bounds the threads that one call uses and does not change its result.
//
//   Graph graph = make_graph(pattern, threads);
//   Elimination elimination = eliminate(graph, order, n_schur, threads);
//   Partition parts = partition(elimination, options);          // compare summary(parts) of several options
//   Symbolic symbolic(pattern, graph, elimination, parts, threads);
//   symbolic.view()                                              // what schedulers get as problem->data
#pragma once

#include <string>

#include "core/cholesky/partition.hpp"

namespace sextant::cholesky {

// Owns the arrays of a sxt_symbolic. Immutable: any number of threads may read it.
class Symbolic {
 public:
  // elimination and partition belong to the graph, which belongs to the pattern.
  Symbolic(const Pattern &pattern, const Graph &graph, Elimination elimination, const Partition &partition,
           int threads);
  // What save() wrote for a pattern of this hash; entries are found anew. Throws SXT_E_FILE_READ where the file cannot
  // be read, SXT_E_PLAN where it is damaged, of another version of the format, or of another pattern.
  static Symbolic load(const std::string &path, const Pattern &pattern, std::uint64_t pattern_hash, int threads);
  // Replaces the file atomically. SXT_E_FILE_WRITE.
  void save(const std::string &path, std::uint64_t pattern_hash) const;

  const sxt_symbolic &view() const { return view_; }
  const SupernodeOptions &options() const { return options_; }
  const sxt_cholesky_query &summary() const { return summary_; }
  std::uint64_t bytes() const;

 private:
  Symbolic() = default;
  void set_sizes(const Partition &partition);
  void find_entries(const Pattern &pattern, int threads);
  void show();

  SupernodeOptions options_;
  sxt_cholesky_query summary_{};
  Array<std::int64_t> super_ptr_, row_ptr_, value_ptr_, block_ptr_, entry_from_, entry_to_;
  Array<std::int32_t> rows_, parent_, perm_, inverse_;
  Array<double> subtree_flops_;
  std::int64_t n_straight_ = 0;
  sxt_symbolic view_{};
};

}  // namespace sextant::cholesky
