// SPDX-License-Identifier: BSD-3-Clause
// The tree of a dissection as the kind's args have it.
#pragma once

#include <cstdint>
#include <vector>

#include "sextant/plugin/kinds/ordering.h"

namespace sextant::plugin::elimination {

// Places begin .. end-1 of the order; all that is below the node begins at `below`.
struct TreeNode {
  std::int64_t begin, end, below;
};

// Nodes, none of them empty, by their begin, which cover 0 .. n-1. Where there are more than fit, those furthest from
// the roots are taken into the ones above them.
inline void give_tree(const std::vector<TreeNode> &nodes, sxt_ordering_args &args) {
  args.tree_nodes = 0;
  if (!args.tree_first || !args.tree_parent || args.tree_capacity < 1 || nodes.empty()) return;
  const auto count = static_cast<std::int64_t>(nodes.size());
  std::vector<std::int64_t> parent(nodes.size(), -1), depth(nodes.size(), 0), stack;
  for (std::int64_t t = 0; t < count; ++t) {
    while (!stack.empty() &&
           nodes[static_cast<std::size_t>(stack.back())].begin >= nodes[static_cast<std::size_t>(t)].below) {
      parent[static_cast<std::size_t>(stack.back())] = t;
      stack.pop_back();
    }
    stack.push_back(t);
  }
  std::vector<std::int64_t> of_depth;
  for (std::int64_t t = count - 1; t >= 0; --t) {
    const std::int64_t up = parent[static_cast<std::size_t>(t)];
    const std::int64_t d = depth[static_cast<std::size_t>(t)] = up < 0 ? 0 : depth[static_cast<std::size_t>(up)] + 1;
    if (static_cast<std::size_t>(d) >= of_depth.size()) of_depth.resize(static_cast<std::size_t>(d) + 1, 0);
    ++of_depth[static_cast<std::size_t>(d)];
  }
  std::int64_t deepest = 0, kept = 0;
  while (static_cast<std::size_t>(deepest) < of_depth.size() &&
         kept + of_depth[static_cast<std::size_t>(deepest)] <= args.tree_capacity)
    kept += of_depth[static_cast<std::size_t>(deepest++)];
  if (kept == 0) return;
  // A kept node's children that are not kept end where it begins: its rows begin where theirs do.
  std::vector<std::int64_t> number(nodes.size(), -1);
  for (std::int64_t t = 0; t < count; ++t) {
    const auto i = static_cast<std::size_t>(t);
    if (depth[i] >= deepest) continue;
    number[i] = args.tree_nodes;
    args.tree_first[args.tree_nodes++] = depth[i] + 1 == deepest ? nodes[i].below : nodes[i].begin;
  }
  args.tree_first[args.tree_nodes] = nodes.back().end;
  for (std::int64_t t = 0; t < count; ++t) {
    const auto i = static_cast<std::size_t>(t);
    if (number[i] >= 0) args.tree_parent[number[i]] = parent[i] < 0 ? -1 : number[static_cast<std::size_t>(parent[i])];
  }
}

}  // namespace sextant::plugin::elimination
