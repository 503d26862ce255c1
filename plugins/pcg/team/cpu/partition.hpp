// SPDX-License-Identifier: BSD-3-Clause
// Rows shared out over the members of a team, in whole blocks: the terms of a block are added by one member. A part
// keeps its rows for all steps of a solve, so that data that a member wrote are in its own cache when it reads them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace team {

struct Part {
  std::int64_t begin, end;
};

// Rows 0 .. n-1 in parts of about equal work with borders at multiples of `block`; work(row) ascends from work(0) to
// work(n).
template <class F>
std::vector<Part> share_rows(std::int64_t n, std::int64_t block, int parts, F &&work) {
  std::vector<Part> out;
  const double first = static_cast<double>(work(0)), total = static_cast<double>(work(n)) - first;
  const auto excess = [&](std::int64_t border, double wanted) {
    return static_cast<double>(work(std::min(n, border * block))) - first - wanted;
  };
  std::int64_t before = 0;  // in blocks, as all borders here
  for (int p = 1; p <= parts; ++p) {
    const double wanted = total * p / parts;
    std::int64_t lo = before, hi = (n + block - 1) / block;
    if (p == parts) lo = hi;
    while (lo < hi) {
      const std::int64_t middle = lo + (hi - lo) / 2;
      if (excess(middle, wanted) < 0)
        lo = middle + 1;
      else
        hi = middle;
    }
    // The border before may be closer.
    if (p < parts && lo > before && -excess(lo - 1, wanted) < excess(lo, wanted)) --lo;
    out.push_back({std::min(n, before * block), std::min(n, lo * block)});
    before = lo;
  }
  return out;
}

}  // namespace team
