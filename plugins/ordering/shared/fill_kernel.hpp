// SPDX-License-Identifier: BSD-3-Clause
// What kernels that order for little fill have in common: the graph of a pattern with twin rows made one, the tables
// for contexts of the CPU and of GPUs (whose patterns are on the host, too), and candidates.
#pragma once

#include "plugins/ordering/shared/tree.hpp"
#include "plugins/ordering/shared/weighted_graph.hpp"
#include "sextant/sdk/cpu/threads.hpp"

namespace sextant::plugin::elimination {

// A pattern as a graph whose vertices are rows, or sets of rows that cannot be told apart.
class RowGraph {
 public:
  template <class I, class O>
  explicit RowGraph(const ordering::Pattern<I, O> &pattern) : rows_(symmetric_graph_of(pattern)) {
    compressed_ = compress(rows_, sets_);
    if (compressed_) rows_ = {};
  }
  const WeightedGraph &graph() const { return compressed_ ? sets_.graph : rows_; }

  // The rows of vertices in order; places of nodes become places of rows.
  template <class I>
  void give(const std::vector<Vertex> &order, std::vector<TreeNode> *nodes, I *perm) const {
    std::vector<std::int64_t> place(order.size() + 1, 0);
    for (std::size_t k = 0; k < order.size(); ++k) {
      I *const to = perm + place[k];
      const auto v = static_cast<std::size_t>(order[k]);
      const Vertex first = compressed_ ? sets_.first[v] : order[k], last = compressed_ ? sets_.first[v + 1] : first + 1;
      for (Vertex m = first; m < last; ++m)
        to[m - first] = static_cast<I>(compressed_ ? sets_.member[static_cast<std::size_t>(m)] : m);
      place[k + 1] = place[k] + last - first;
    }
    if (!nodes || !compressed_) return;
    for (TreeNode &node : *nodes)
      for (std::int64_t *each : {&node.begin, &node.end, &node.below}) *each = place[static_cast<std::size_t>(*each)];
  }

 private:
  WeightedGraph rows_;
  Compressed sets_;
  bool compressed_ = false;
};

// seconds: of a matrix without twin rows, which are ordered once and cost less.
inline void add_candidate(CandidateList &list, std::int64_t threads, double seconds) {
  sxt_candidate &candidate = list.add();
  candidate.launch[0] = threads;
  candidate.units = static_cast<decltype(candidate.units)>(threads);
  candidate.run_s = seconds;
}

using Applicable = decltype(sxt_kernel::applicable);
using Candidates = decltype(sxt_kernel::candidates);
using Run = sxt_status (*)(const void *, void *, const sxt_head *, const sxt_exec *);

inline sxt_kernel fill_kernel(const char *name, const char *device, const char *description, Run run,
                              Applicable applicable, Candidates candidates) {
  sxt_kernel k = new_kernel(SXT_KIND_ORDERING, name, device, description, run);
  k.flags = SXT_KERNEL_DETERMINISTIC | SXT_KERNEL_ALLOCATES;
  k.applicable = applicable;
  k.candidates = candidates;
  return k;
}

}  // namespace sextant::plugin::elimination
