// SPDX-License-Identifier: BSD-3-Clause
// The one summation tree of deterministic mode, defined once so that every kernel that promises equal bits uses the
// same sums.
//
// Leaves hold 1024 consecutive terms. In a leaf, lane l = 0 .. 31 adds the terms l, l + 32, l + 64, ... in that order,
// starting from zero; then lane l takes lane l + 16, l + 8, l + 4, l + 2, l + 1 in turn. Leaf results are added in
// adjacent pairs, level by level; the last of an odd level moves up unchanged. Products are rounded before they are
// added (no fused multiply-add: compile with -ffp-contract=off). Nothing depends on threads.
#pragma once

#include <cstdint>

namespace sextant::plugin::tree {

inline constexpr std::int64_t leaf_size = 1024;
inline constexpr int lanes = 32;

inline constexpr std::int64_t leaf_count(std::int64_t n) { return (n + leaf_size - 1) / leaf_size; }

// Adds the lanes of one leaf.
template <class A>
A fold(A (&lane)[lanes]) {
  for (int step = lanes / 2; step > 0; step /= 2)
    for (int l = 0; l < step; ++l) lane[l] += lane[l + step];
  return lane[0];
}

// Sum of term(0) .. term(1023). Lanes are taken in groups that stay in registers; a leaf stays in the first cache.
template <class A, class F>
A sum_full_leaf(F &&term) {
  constexpr int group = sizeof(A) <= 4 ? 32 : sizeof(A) <= 8 ? 16 : 8;
  A lane[lanes];
  for (int first = 0; first < lanes; first += group) {
    A sum[group] = {};
    for (int row = first; row < leaf_size; row += lanes) {
#ifndef __CUDACC__
#pragma GCC unroll 32
#endif
      for (int l = 0; l < group; ++l) sum[l] += term(row + l);
    }
    for (int l = 0; l < group; ++l) lane[first + l] = sum[l];
  }
  return fold(lane);
}

// Sum of term(0) .. term(count-1), count <= 1024, with the same bits as a full leaf would give.
template <class A, class F>
A sum_leaf(std::int64_t count, F &&term) {
  if (count == leaf_size) return sum_full_leaf<A>(term);
  A lane[lanes] = {};
  for (std::int64_t i = 0; i < count; ++i) lane[i % lanes] += term(i);
  return fold(lane);
}

// Adds the leaf results in place; 0 when there are none.
template <class A>
A combine(A *leaves, std::int64_t count) {
  if (count == 0) return A(0);
  for (; count > 1; count = (count + 1) / 2) {
    for (std::int64_t j = 0; j < count / 2; ++j) leaves[j] = leaves[2 * j] + leaves[2 * j + 1];
    if (count % 2) leaves[count / 2] = leaves[count - 1];
  }
  return leaves[0];
}

}  // namespace sextant::plugin::tree
