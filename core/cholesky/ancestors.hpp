// SPDX-License-Identifier: BSD-3-Clause
// Lowest common ancestors in a forest whose nodes are numbered in postorder, each in a constant number of steps.
#pragma once

#include <algorithm>
#include <bit>

#include "core/cholesky/array.hpp"

namespace sextant::cholesky {

// Schieber and Vishkin, SIAM J. Computing 17 (1988): nodes map to nodes of a complete binary tree so that descendants
// map to descendants, and the nodes that map to one place form a path.
class Ancestors {
 public:
  // first[v]: the least number in the subtree of v.
  Ancestors(const Array<std::int32_t> &parent, const Array<std::int32_t> &first)
      : n_(parent.size()), parent_(parent.data()), place_(n_), above_(n_), head_(n_ + 1) {
    // Counted from the end, parents come before their children.
    for (std::int64_t v = n_ - 1; v >= 0; --v) {
      const std::uint32_t low = number(v), high = number(first[v]);
      place_[v] = high & ~((std::bit_floor((low - 1) ^ high)) - 1);
      const std::int32_t p = parent[v];
      const bool top = p < 0 || place_[p] != place_[v];
      above_[v] = (p < 0 ? 0 : above_[p]) | (place_[v] & (0 - place_[v]));
      if (top) head_[place_[v]] = static_cast<std::int32_t>(v);
    }
  }

  // Of two nodes of one tree.
  std::int32_t common(std::int32_t a, std::int32_t b) const {
    const std::uint32_t pa = place_[a], pb = place_[b];
    std::uint32_t level = 0;  // the bit of the place where the ways meet
    if (pa == pb) return std::max(a, b);
    const std::uint32_t low_a = pa & (0 - pa), low_b = pb & (0 - pb);
    const std::uint32_t meet = std::max({std::bit_floor(pa ^ pb), low_a, low_b});
    const std::uint32_t both = above_[a] & above_[b] & (0 - meet);
    level = both & (0 - both);
    const std::int32_t x = climb(a, pa, low_a, level), y = climb(b, pb, low_b, level);
    return std::max(x, y);
  }

 private:
  std::uint32_t number(std::int64_t v) const { return static_cast<std::uint32_t>(n_ - v); }
  // The ancestor of a node on the path at that level: the parent of the head of the path below it.
  std::int32_t climb(std::int32_t v, std::uint32_t place, std::uint32_t low, std::uint32_t level) const {
    if (low == level) return v;
    const std::uint32_t below = std::bit_floor(above_[v] & (level - 1));
    const std::uint32_t path = (place & ~((below << 1) - 1)) | below;
    return parent_[head_[path]];
  }

  std::int64_t n_;
  const std::int32_t *parent_;
  Array<std::uint32_t> place_, above_;
  Array<std::int32_t> head_;
};

}  // namespace sextant::cholesky
