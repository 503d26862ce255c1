// SPDX-License-Identifier: BSD-3-Clause
// The assembly tree as CUDA schedulers place it on a device: children in their order, and where each row of a supernode
// stands in its parent.
#pragma once

#include <cstdint>
#include <vector>

#include "sextant/plugin/kinds/cholesky.h"

namespace sextant_cholesky {

struct ChildLists {
  std::vector<std::int32_t> begin;  // n_super + 1: children of p are list[begin[p] .. begin[p+1])
  std::vector<std::int32_t> list;   // ascending
};

inline ChildLists children_of(const sxt_symbolic &s) {
  ChildLists out;
  out.begin.assign(static_cast<std::size_t>(s.n_super) + 1, 0);
  for (std::int64_t p = 0; p < s.n_super; ++p)
    if (s.parent[p] >= 0) ++out.begin[s.parent[p] + 1];
  for (std::int64_t p = 0; p < s.n_super; ++p) out.begin[p + 1] += out.begin[p];
  out.list.resize(static_cast<std::size_t>(out.begin[s.n_super]));
  std::vector<std::int32_t> next(out.begin);
  for (std::int64_t p = 0; p < s.n_super; ++p)
    if (s.parent[p] >= 0) out.list[next[s.parent[p]]++] = static_cast<std::int32_t>(p);
  return out;
}

// For every entry of the row lists its place in the parent's list; -1 for a supernode's own columns.
inline std::vector<std::int32_t> places_in_parents(const sxt_symbolic &s) {
  std::vector<std::int32_t> place(static_cast<std::size_t>(s.n_super ? s.row_ptr[s.n_super] : 0), -1);
  for (std::int64_t p = 0; p < s.n_super; ++p) {
    const std::int32_t q = s.parent[p];
    if (q < 0) continue;
    const std::int32_t *const list = s.rows + s.row_ptr[q];
    std::int64_t at = 0;
    for (std::int64_t i = s.row_ptr[p] + s.super_ptr[p + 1] - s.super_ptr[p]; i < s.row_ptr[p + 1]; ++i) {
      while (list[at] != s.rows[i]) ++at;
      place[i] = static_cast<std::int32_t>(at);
    }
  }
  return place;
}

}  // namespace sextant_cholesky
