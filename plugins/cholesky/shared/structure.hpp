// SPDX-License-Identifier: BSD-3-Clause
// The structure of L made the plain way, for conformance cases, tests and measurements: column structures by merging
// those of the children, fundamental supernodes, joined while both are narrow. Core has its own.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "sextant/plugin/kinds/cholesky.h"

namespace sextant_cholesky {

// The entries of A on and below the diagonal, row by row; entry k has the caller's value from[k].
struct LowerPattern {
  std::int64_t n = 0;
  std::vector<std::int64_t> row_ptr{0}, from;
  std::vector<std::int32_t> col;
};

struct StructureOptions {
  std::int64_t amalgamation = 0, block = 1024, n_schur = 0;
};

class Structure {
 public:
  Structure(const LowerPattern &a, std::vector<std::int32_t> order, const StructureOptions &options);
  Structure(const Structure &) = delete;
  const sxt_symbolic &view() const { return s_; }
  // The number of the entry (i, j) of L in a factor, i >= j in the order of elimination; -1 where L has none.
  std::int64_t place(std::int64_t i, std::int64_t j) const;
  std::int64_t super_of(std::int64_t column) const {
    return std::upper_bound(super_ptr_.begin(), super_ptr_.end(), column) - super_ptr_.begin() - 1;
  }

 private:
  using Lists = std::vector<std::vector<std::int32_t>>;
  void eliminate(const LowerPattern &a);
  std::vector<std::int32_t> column_tree(const Lists &column) const;
  Lists columns_of(const LowerPattern &a) const;
  void find_supers(const std::vector<std::int32_t> &tree, Lists column);
  void finish(const LowerPattern &a);
  void finish_entries(const LowerPattern &a);

  StructureOptions options_;
  std::int64_t n_;
  std::vector<std::int32_t> perm_, inverse_, rows_, parent_;
  std::vector<std::int64_t> super_ptr_, row_ptr_, value_ptr_, block_ptr_, entry_from_, entry_to_;
  std::vector<double> subtree_flops_;
  std::int64_t nnz_l_ = 0;
  sxt_symbolic s_{};
};

// A 7-point grid of side^3 points, odd planes last, so that there are several subtrees.
Structure cube_of_planes(std::int32_t side, const StructureOptions &options);

// What a query says of a structure.
sxt_cholesky_query query_of(const sxt_symbolic &s, std::int64_t nnz_a, sxt_value_type type, std::int32_t phase);

// ---- how it is done

inline Structure::Structure(const LowerPattern &a, std::vector<std::int32_t> order, const StructureOptions &options)
    : options_(options), n_(a.n), perm_(std::move(order)) {
  eliminate(a);
  finish(a);
}

// Rows below the diagonal of each column of P A P^H, ascending.
inline Structure::Lists Structure::columns_of(const LowerPattern &a) const {
  Lists column(n_);
  for (std::int64_t r = 0; r < n_; ++r)
    for (std::int64_t k = a.row_ptr[r]; k < a.row_ptr[r + 1]; ++k) {
      const std::int32_t i = inverse_[r], j = inverse_[a.col[k]];
      if (i != j) column[std::min(i, j)].push_back(std::max(i, j));
    }
  for (auto &rows : column) std::sort(rows.begin(), rows.end());
  return column;
}

// The elimination tree (Liu 1990), by rows with compressed paths. The columns of a Schur complement are a chain, and
// what ends in one of them ends in the first.
inline std::vector<std::int32_t> Structure::column_tree(const Lists &column) const {
  std::vector<std::int32_t> parent(n_, -1), top(n_, -1);
  Lists row(n_);
  for (std::int64_t j = 0; j < n_; ++j)
    for (const std::int32_t i : column[j]) row[i].push_back(static_cast<std::int32_t>(j));
  for (std::int64_t i = 0; i < n_; ++i)
    for (std::int32_t j : row[i])
      while (j != -1 && j < i) {
        const std::int32_t next = top[j];
        top[j] = static_cast<std::int32_t>(i);
        if (next == -1) parent[j] = static_cast<std::int32_t>(i);
        j = next;
      }
  const auto factored = static_cast<std::int32_t>(n_ - options_.n_schur);
  for (std::int32_t j = 0; j < n_; ++j) {
    if (j >= factored)
      parent[j] = j + 1 < n_ ? j + 1 : -1;
    else if (parent[j] > factored)
      parent[j] = factored;
  }
  return parent;
}

inline void Structure::eliminate(const LowerPattern &a) {
  inverse_.resize(n_);
  const auto invert = [&] {
    for (std::int64_t k = 0; k < n_; ++k) inverse_[perm_[k]] = static_cast<std::int32_t>(k);
  };
  invert();
  // A postorder of the tree, children by number, composed with the order.
  const std::vector<std::int32_t> before = column_tree(columns_of(a));
  std::vector<std::int32_t> child(n_ + 1, -1), sibling(n_, -1), post, stack;
  for (std::int64_t j = n_; j-- > 0;) {
    std::int32_t &first = child[before[j] < 0 ? n_ : before[j]];
    sibling[j] = first, first = static_cast<std::int32_t>(j);
  }
  for (std::int32_t root = child[n_]; root != -1; root = sibling[root]) {
    stack.push_back(root);
    while (!stack.empty()) {
      const std::int32_t j = stack.back();
      if (child[j] == -1) {
        post.push_back(j), stack.pop_back();
      } else {
        stack.push_back(child[j]);
        child[j] = sibling[child[j]];
      }
    }
  }
  std::vector<std::int32_t> order(n_);
  for (std::int64_t k = 0; k < n_; ++k) order[k] = perm_[post[k]];
  perm_ = order;
  invert();
  Lists column = columns_of(a);
  const std::vector<std::int32_t> tree = column_tree(column);
  find_supers(tree, std::move(column));
}

inline void Structure::find_supers(const std::vector<std::int32_t> &tree, Lists column) {
  const std::int64_t factored = n_ - options_.n_schur;
  for (std::int64_t j = 0; j < n_; ++j) {  // fill: a column's rows, without the first, are rows of its parent
    if (j >= factored) {                   // taken as full
      column[j].clear();
      for (std::int64_t i = j + 1; i < n_; ++i) column[j].push_back(static_cast<std::int32_t>(i));
    }
    nnz_l_ += static_cast<std::int64_t>(column[j].size()) + 1;
    if (tree[j] < 0) continue;
    auto &into = column[tree[j]];
    std::vector<std::int32_t> all;
    const auto begin = std::upper_bound(column[j].begin(), column[j].end(), tree[j]);
    std::set_union(into.begin(), into.end(), begin, column[j].end(), std::back_inserter(all));
    into.swap(all);
  }
  struct Super {
    std::int64_t first, end;
  };
  std::vector<Super> supers;
  for (std::int64_t j = 0; j < n_; ++j) {
    const bool goes_on = !supers.empty() && tree[j - 1] == j && column[j - 1].size() == column[j].size() + 1;
    const bool schur = j > factored;
    if ((goes_on && j != factored) || schur)
      supers.back().end = j + 1;
    else
      supers.push_back({j, j + 1});
    // Joined with the child that ends where this one begins, while both are narrow: checked when the super is complete.
    const bool complete =
        j + 1 == n_ || j + 1 == factored || !(tree[j] == j + 1 && column[j].size() == column[j + 1].size() + 1);
    while (complete && j < factored && supers.size() > 1) {
      const Super last = supers.back(), child = supers[supers.size() - 2];
      const bool is_child = tree[child.end - 1] >= last.first && tree[child.end - 1] < last.end;
      if (!is_child || child.end - child.first >= options_.amalgamation ||
          last.end - last.first >= options_.amalgamation)
        break;
      supers.pop_back();
      supers.back().end = last.end;
    }
  }
  super_ptr_ = {0}, row_ptr_ = {0};
  for (const Super &s : supers) {
    for (std::int64_t j = s.first; j < s.end; ++j) rows_.push_back(static_cast<std::int32_t>(j));
    rows_.insert(rows_.end(), column[s.end - 1].begin(), column[s.end - 1].end());
    super_ptr_.push_back(s.end);
    row_ptr_.push_back(static_cast<std::int64_t>(rows_.size()));
  }
}

inline void Structure::finish(const LowerPattern &a) {
  const auto n_super = static_cast<std::int64_t>(super_ptr_.size()) - 1;
  s_.h = {sizeof s_, SXT_KIND_SYMBOLIC};
  s_.n = n_, s_.n_factored = n_ - options_.n_schur, s_.n_super = n_super, s_.nnz_l = nnz_l_;
  value_ptr_ = {0}, block_ptr_ = {};
  subtree_flops_.assign(n_super, 0);
  for (std::int64_t s = 0; s < n_super; ++s) {
    const std::int64_t width = super_ptr_[s + 1] - super_ptr_[s], rows = row_ptr_[s + 1] - row_ptr_[s];
    for (std::int64_t j = 0; j < width; j += options_.block) block_ptr_.push_back(super_ptr_[s] + j);
    value_ptr_.push_back(value_ptr_.back() + width * rows);
    for (std::int64_t j = 0; j < width && super_ptr_[s] < s_.n_factored; ++j) {
      const auto count = static_cast<double>(rows - j);
      s_.flops += count * count, subtree_flops_[s] += count * count;
    }
    s_.max_rows = std::max(s_.max_rows, rows), s_.max_width = std::max(s_.max_width, width);
  }
  for (std::int64_t s = 0; s < n_super; ++s) {
    const std::int64_t below = row_ptr_[s] + super_ptr_[s + 1] - super_ptr_[s];
    parent_.push_back(below < row_ptr_[s + 1] ? static_cast<std::int32_t>(super_of(rows_[below])) : -1);
    if (parent_[s] >= 0) subtree_flops_[parent_[s]] += subtree_flops_[s];
  }
  s_.n_blocks = static_cast<std::int64_t>(block_ptr_.size());
  block_ptr_.push_back(n_);
  s_.values = value_ptr_.back();
  finish_entries(a);
  s_.super_ptr = super_ptr_.data(), s_.row_ptr = row_ptr_.data(), s_.value_ptr = value_ptr_.data();
  s_.block_ptr = block_ptr_.data(), s_.rows = rows_.data(), s_.parent = parent_.data(), s_.perm = perm_.data();
  s_.inverse = inverse_.data(), s_.subtree_flops = subtree_flops_.data();
  s_.entry_from = entry_from_.data(), s_.entry_to = entry_to_.data();
}

inline void Structure::finish_entries(const LowerPattern &a) {
  struct Entry {
    std::int64_t to, from;
  };
  std::vector<Entry> straight, conjugated;
  for (std::int64_t r = 0; r < n_; ++r)
    for (std::int64_t k = a.row_ptr[r]; k < a.row_ptr[r + 1]; ++k) {
      const std::int32_t i = inverse_[r], j = inverse_[a.col[k]];
      (i >= j ? straight : conjugated).push_back({place(std::max(i, j), std::min(i, j)), a.from[k]});
    }
  for (auto *list : {&straight, &conjugated}) {
    std::sort(list->begin(), list->end(), [](const Entry &x, const Entry &y) { return x.to < y.to; });
    for (const Entry &e : *list) entry_to_.push_back(e.to), entry_from_.push_back(e.from);
  }
  s_.n_entries = static_cast<std::int64_t>(entry_to_.size());
  s_.n_straight = static_cast<std::int64_t>(straight.size());
}

inline std::int64_t Structure::place(std::int64_t i, std::int64_t j) const {
  const std::int64_t s = super_of(j);
  const auto begin = rows_.begin() + row_ptr_[s], end = rows_.begin() + row_ptr_[s + 1];
  const auto found = std::lower_bound(begin, end, static_cast<std::int32_t>(i));
  if (found == end || *found != i) return -1;
  return value_ptr_[s] + (found - begin) + (j - super_ptr_[s]) * (end - begin);
}

inline Structure cube_of_planes(std::int32_t side, const StructureOptions &options) {
  LowerPattern a;
  a.n = side * side * side;
  for (std::int32_t i = 0; i < a.n; ++i) {
    const auto put = [&](bool there, std::int32_t j) {
      if (there) a.from.push_back(static_cast<std::int64_t>(a.col.size())), a.col.push_back(j);
    };
    put(i >= side * side, i - side * side), put(i / side % side > 0, i - side), put(i % side > 0, i - 1), put(true, i);
    a.row_ptr.push_back(static_cast<std::int64_t>(a.col.size()));
  }
  std::vector<std::int32_t> order(static_cast<std::size_t>(a.n));
  std::iota(order.begin(), order.end(), 0);
  std::stable_partition(order.begin(), order.end(), [&](std::int32_t i) { return i / (side * side) % 2 == 0; });
  return Structure(a, std::move(order), options);
}

// What is widest, longest and has the most children on each level; supernodes that are too large to be joined.
inline void add_levels(const sxt_symbolic &s, sxt_cholesky_query &q) {
  const auto supers = static_cast<std::size_t>(s.n_super);
  std::vector<std::int64_t> depth(supers, 0), children(supers, 0), width(q.height, 0), rows(q.height, 0),
      most(q.height, 0);
  std::vector<char> large(supers, 0);
  for (std::int64_t i = 0; i < s.n_super; ++i) {
    if (s.row_ptr[i + 1] - s.row_ptr[i] > 160 || s.subtree_flops[i] > 4e6) large[i] = 1;
    if (const std::int32_t p = s.parent[i]; p >= 0) ++children[p], large[p] |= large[i];
  }
  for (std::int64_t i = s.n_super; i-- > 0;) {
    if (const std::int32_t p = s.parent[i]; p >= 0) depth[i] = depth[p] + 1;
    const std::int64_t own = s.super_ptr[i + 1] - s.super_ptr[i], all = s.row_ptr[i + 1] - s.row_ptr[i], d = depth[i];
    width[d] = std::max(width[d], own), rows[d] = std::max(rows[d], all), most[d] = std::max(most[d], children[i]);
    if (!large[i]) continue;
    q.large_count += 1;
    q.large_ancestors += static_cast<double>(std::min(d, all - own));
  }
  for (std::int64_t d = 0; d < q.height; ++d) {
    (width[d] <= 64 ? q.narrow_level_columns : q.wide_level_columns) += static_cast<double>(width[d]);
    q.level_rows += static_cast<double>(rows[d]), q.level_children += static_cast<double>(most[d]);
  }
}

inline sxt_cholesky_query query_of(const sxt_symbolic &s, std::int64_t nnz_a, sxt_value_type type, std::int32_t phase) {
  sxt_cholesky_query q{};
  q.m.q = {{sizeof q, SXT_KIND_CHOLESKY}, 1, 0, type};  // about a structure: no storage is read
  q.m.rows = q.m.cols = s.n;
  q.m.nnz = nnz_a;
  q.m.matrix_type = type;
  q.m.symmetry = type == SXT_C64 || type == SXT_C128 ? SXT_HERMITIAN : SXT_SYMMETRIC;
  q.phase = phase, q.factors = SXT_FACTORS_LLH;
  q.n_rhs = q.n_sets = 1;
  q.n_factored = s.n_factored, q.n_super = s.n_super, q.n_blocks = s.n_blocks, q.nnz_l = s.nnz_l, q.values = s.values;
  q.index_size = s.n_super ? s.row_ptr[s.n_super] : 0;
  q.max_rows = s.max_rows, q.max_width = s.max_width, q.flops = s.flops;
  std::vector<double> path(s.n_super, 0), alive(s.n_super, 0), peak(s.n_super, 0);
  std::vector<std::int64_t> height(s.n_super, 1);
  for (std::int64_t i = 0; i < s.n_super; ++i) {
    const std::int64_t width = s.super_ptr[i + 1] - s.super_ptr[i], rows = s.row_ptr[i + 1] - s.row_ptr[i];
    double own = 0;
    for (std::int64_t j = 0; j < width && s.super_ptr[i] < s.n_factored; ++j)
      own += static_cast<double>(rows - j) * static_cast<double>(rows - j);
    const double update = static_cast<double>(rows - width) * static_cast<double>(rows - width);
    int c = 0;
    for (std::int64_t most = 4; c + 1 < SXT_CHOLESKY_CLASSES && width > most; most *= 4) ++c;
    sxt_front_class &front = q.classes[c];
    front.count += 1, front.columns += static_cast<double>(width);
    front.values += static_cast<double>(width * rows), front.flops += own;
    path[i] += own, q.update_values += update;
    peak[i] = std::max(peak[i], alive[i] + update);  // alive: of the children, in the order of the tree
    q.critical_flops = std::max(q.critical_flops, path[i]), q.height = std::max(q.height, height[i]);
    q.stack_values = std::max(q.stack_values, peak[i]);
    if (const std::int32_t p = s.parent[i]; p >= 0) {
      path[p] = std::max(path[p], path[i]), height[p] = std::max(height[p], height[i] + 1);
      peak[p] = std::max(peak[p], alive[p] + peak[i]), alive[p] += update;
    }
  }
  add_levels(s, q);
  return q;
}

}  // namespace sextant_cholesky
