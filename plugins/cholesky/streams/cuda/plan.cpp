// SPDX-License-Identifier: BSD-3-Clause
#include "plan.hpp"

#include <algorithm>
#include <utility>

#include "plugins/cholesky/shared/tree.hpp"

namespace sextant_cholesky_streams {

Plan::Plan(const sxt_symbolic &symbolic, const Limits &most, Mapping map, bool solves)
    : s(symbolic), limits(most), mapping(map) {
  super_of.resize(static_cast<std::size_t>(s.n));
  block_of.resize(static_cast<std::size_t>(s.n));
  for (std::int64_t p = 0; p < s.n_super; ++p)
    std::fill(super_of.begin() + s.super_ptr[p], super_of.begin() + s.super_ptr[p + 1], static_cast<std::int32_t>(p));
  for (std::int64_t b = 0; b < s.n_blocks; ++b)
    std::fill(block_of.begin() + s.block_ptr[b], block_of.begin() + s.block_ptr[b + 1], static_cast<std::int32_t>(b));
  for (std::int64_t p = 0; p < s.n_super; ++p) block_of_super_.push_back(block_of[s.super_ptr[p]]);
  block_of_super_.push_back(static_cast<std::int32_t>(s.n_blocks));
  find_subtrees();
  find_order();
  if (solves) {
    find_places();
    find_levels();
  } else {
    find_contributions();
    find_buffer();
  }
}

// A subtree counts where it and all below it is small; the largest such are taken.
void Plan::find_subtrees() {
  const auto n = static_cast<std::size_t>(s.n_super);
  subtree_of_.assign(n, -1);
  if (mapping == Mapping::published) return;
  std::vector<char> small(n, 1);
  std::vector<std::int32_t> first(n);
  for (std::int64_t p = 0; p < s.n_super; ++p) first[p] = static_cast<std::int32_t>(p);
  for (std::int64_t p = 0; p < s.n_super; ++p) {
    small[p] = small[p] && is_factored(p) && rows(p) <= limits.rows && rows(p) * width(p) <= limits.panel &&
               width(p) <= widest_in_subtree && s.subtree_flops[p] <= limits.flops;
    const std::int32_t parent = s.parent[p];
    if (parent < 0) continue;
    small[parent] = small[parent] && small[p];
    first[parent] = std::min(first[parent], first[p]);
  }
  for (std::int64_t p = 0; p < s.n_super; ++p)
    if (small[p] && (s.parent[p] < 0 || !small[s.parent[p]]))
      subtrees.push_back({first[p], static_cast<std::int32_t>(p), static_cast<std::int32_t>(below(p)), 0, 0});
  std::stable_sort(subtrees.begin(), subtrees.end(), [&](const Subtree &a, const Subtree &b) {
    return s.subtree_flops[a.last] > s.subtree_flops[b.last];
  });
  for (std::size_t t = 0; t < subtrees.size(); ++t) {
    Subtree &tree = subtrees[t];
    tree.update_at = update_values;
    update_values += std::int64_t{tree.below} * tree.below;
    std::fill(subtree_of_.begin() + tree.first, subtree_of_.begin() + tree.last + 1, static_cast<std::int32_t>(t));
  }
}

// First in, first out from the leaves of what is left of the tree.
void Plan::find_order() {
  std::vector<std::int32_t> waits(static_cast<std::size_t>(s.n_super), 0);
  for (std::int64_t p = 0; p < s.n_super; ++p)
    if (!in_subtree(p) && s.parent[p] >= 0) ++waits[s.parent[p]];
  for (std::int64_t p = 0; p < s.n_super; ++p)
    if (!in_subtree(p) && waits[p] == 0) fifo.push_back(static_cast<std::int32_t>(p));
  for (std::size_t k = 0; k < fifo.size(); ++k) {
    const std::int32_t parent = s.parent[fifo[k]];
    if (parent >= 0 && --waits[parent] == 0) fifo.push_back(parent);
  }
}

void Plan::targets(std::int64_t p, std::vector<Target> &out) const {
  out.clear();
  const std::int32_t *const list = s.rows + s.row_ptr[p];
  const std::int64_t m = rows(p);
  for (std::int64_t i = width(p); i < m;) {
    const std::int32_t block = block_of[list[i]];
    const std::int64_t end =
        std::lower_bound(list + i, list + m, static_cast<std::int32_t>(s.block_ptr[block + 1])) - list;
    out.push_back({block, static_cast<std::int32_t>(i), static_cast<std::int32_t>(end)});
    i = end;
  }
}

// Counted, then filled: contributions of one column in the order of subtrees.
void Plan::find_contributions() {
  std::vector<std::int64_t> count(static_cast<std::size_t>(s.n) + 1, 0);
  const auto each = [&](auto &&f) {
    for (std::size_t t = 0; t < subtrees.size(); ++t) {
      const Subtree &tree = subtrees[t];
      const std::int32_t *const list = s.rows + s.row_ptr[tree.last] + width(tree.last);
      for (std::int32_t i = 0; i < tree.below; ++i) f(list[i], static_cast<std::int32_t>(t), i);
    }
  };
  each([&](std::int32_t column, std::int32_t, std::int32_t) { ++count[column]; });
  std::vector<std::int64_t> next(static_cast<std::size_t>(s.n) + 1, 0);
  column_at.push_back(0);
  for (std::int64_t j = 0; j < s.n; ++j) {
    if (count[j] == 0) continue;
    next[j] = column_at.back();
    columns.push_back(static_cast<std::int32_t>(j));
    column_at.push_back(column_at.back() + count[j]);
  }
  from_tree.resize(static_cast<std::size_t>(column_at.back()));
  from_row.resize(from_tree.size());
  each([&](std::int32_t column, std::int32_t t, std::int32_t i) {
    const std::int64_t k = next[column]++;
    from_tree[k] = t, from_row[k] = i;
  });
}

void Plan::find_buffer() {
  std::vector<Target> list;
  for (const std::int32_t p : fifo) {
    if (!is_factored(p)) continue;
    targets(p, list);
    most_targets = std::max(most_targets, static_cast<std::int64_t>(list.size()));
    if (is_narrow(p)) continue;
    for (const Target &t : list) {
      const std::int64_t m = rows(p) - t.begin;
      buffer_values = std::max(buffer_values, m * std::min<std::int64_t>(t.end - t.begin, product_columns(m)));
    }
  }
}

void Plan::find_places() {
  place_in_parent = sextant_cholesky::places_in_parents(s);
  sextant_cholesky::ChildLists lists = sextant_cholesky::children_of(s);
  child_at = std::move(lists.begin), children = std::move(lists.list);
}

void Plan::find_levels() {
  std::vector<std::int32_t> level(static_cast<std::size_t>(s.n_super), 0);
  const auto at = [&](std::int32_t l) -> Level & {
    if (static_cast<std::size_t>(l) >= levels.size()) levels.resize(static_cast<std::size_t>(l) + 1);
    return levels[l];
  };
  const auto done = [&](std::int32_t p) {
    if (s.parent[p] >= 0) level[s.parent[p]] = std::max(level[s.parent[p]], level[p] + 1);
  };
  for (const Subtree &t : subtrees) {
    at(0).narrow.insert(at(0).narrow.end(), {t.first, t.last});
    done(t.last);
  }
  for (const std::int32_t p : fifo) {
    Level &here = at(level[p]);
    if (width(p) <= limits.solve_width && rows(p) <= limits.solve_rows)
      here.narrow.insert(here.narrow.end(), {p, p});
    else
      here.wide.push_back(p);
    done(p);
  }
}

std::uint64_t Plan::bytes() const {
  const auto of = [](const auto &list) { return list.capacity() * sizeof(list[0]); };  // lists grow by halves or more
  std::uint64_t sum = sizeof *this + of(super_of) + of(block_of) + of(fifo) + of(subtrees) + of(columns) +
                      of(column_at) + of(from_tree) + of(from_row) + of(place_in_parent) + of(child_at) + of(children) +
                      of(subtree_of_) + of(block_of_super_) + of(levels);
  for (const Level &level : levels) sum += of(level.narrow) + of(level.wide);
  return sum;
}

}  // namespace sextant_cholesky_streams
