// SPDX-License-Identifier: BSD-3-Clause
// Fundamental supernodes: parent(i) = i + 1 and one entry less in each next column (Liu, Ng and Peyton, SIAM J. Matrix
// Anal. Appl. 14, 1993), and relaxed amalgamation (Ashcraft and Grimes, ACM TOMS 15, 1989): a parent and its last
// child, whose columns are side by side, become one where both are narrow and few zeros are added.
#include "core/cholesky/partition.hpp"

#include <algorithm>
#include <vector>

#include "core/base/error.hpp"

namespace sextant::cholesky {

namespace {

using Index = std::int32_t;

double trapezium(double rows, double width) { return rows * width - width * (width - 1) / 2; }

}  // namespace

Partition fundamental(const Elimination &e) {
  const std::int64_t n = e.n, factored = n - e.n_schur;
  std::vector<std::int64_t> first;
  Array<Index> super_of(n);
  for (std::int64_t k = 0; k < n; ++k) {
    const bool same =
        k > factored || (k > 0 && k != factored && e.parent[k - 1] == k && e.counts[k - 1] == e.counts[k] + 1);
    if (!same) first.push_back(k);
    super_of[k] = static_cast<Index>(first.size() - 1);
  }
  Partition out;
  out.options.amalgamation = 0;
  out.n = n, out.n_schur = e.n_schur, out.nnz_l = e.nnz_l;
  out.n_super = static_cast<std::int64_t>(first.size());
  out.super_ptr = Array<std::int64_t>(out.n_super + 1);
  out.parent = Array<Index>(out.n_super), out.rows = Array<Index>(out.n_super);
  std::copy(first.begin(), first.end(), out.super_ptr.begin());
  out.super_ptr[out.n_super] = n;
  for (std::int64_t s = 0; s < out.n_super; ++s) {
    const Index up = e.parent[out.super_ptr[s + 1] - 1];
    out.parent[s] = up < 0 ? -1 : super_of[up];
    out.rows[s] = e.counts[out.super_ptr[s]];
  }
  return out;
}

namespace {

// The supernode that grows, and its entries without added zeros.
struct Group {
  double width, rows, entries;
};

Group joined(const Group &child, const Group &parent) {
  return {child.width + parent.width, child.width + parent.rows, child.entries + parent.entries};
}

bool worth_joining(const Group &child, const Group &parent, const SupernodeOptions &options) {
  const auto most = static_cast<double>(options.amalgamation);
  if (child.width >= most || parent.width >= most) return false;
  const Group both = joined(child, parent);
  int level = 0;
  while (level < 3 && both.width > static_cast<double>(options.widths[level])) ++level;
  const double all = trapezium(both.rows, both.width);
  return all - both.entries <= options.zeros[level] * all;
}

// Groups are numbered from the last one down.
Partition collect(const Partition &from, const SupernodeOptions &options, const std::vector<Group> &groups,
                  const std::vector<std::int64_t> &first, const Array<Index> &group_of) {
  Partition out;
  out.options = options;
  out.n = from.n, out.n_schur = from.n_schur, out.nnz_l = from.nnz_l;
  out.n_super = static_cast<std::int64_t>(groups.size());
  out.super_ptr = Array<std::int64_t>(out.n_super + 1);
  out.parent = Array<Index>(out.n_super), out.rows = Array<Index>(out.n_super);
  out.super_ptr[out.n_super] = from.n;
  const auto turned = [&](std::int64_t group) { return static_cast<Index>(out.n_super - 1 - group); };
  for (std::int64_t g = 0; g < out.n_super; ++g) {
    out.super_ptr[turned(g)] = first[static_cast<std::size_t>(g)];
    out.rows[turned(g)] = static_cast<Index>(groups[static_cast<std::size_t>(g)].rows);
  }
  for (std::int64_t s = 0; s < from.n_super; ++s)
    if (s + 1 == from.n_super || group_of[s + 1] != group_of[s]) {
      const Index up = from.parent[s];
      out.parent[turned(group_of[s])] = up < 0 ? -1 : turned(group_of[up]);
    }
  return out;
}

}  // namespace

// From the last supernode down: a group begins where the supernode begins that was joined last, so that several
// children of a parent join it one after the other where they are leaves.
Partition amalgamate(const Partition &from, const SupernodeOptions &options) {
  require(options.block > 0, SXT_E_ARGUMENT, "block columns of ", options.block, " columns");
  const std::int64_t fixed = from.n_schur > 0 ? from.n_super - 1 : from.n_super;  // the Schur complement stays alone
  Array<Index> group_of(from.n_super);                                            // counted from the end
  std::vector<Group> groups;
  std::vector<std::int64_t> first;
  for (std::int64_t s = from.n_super - 1; s >= 0; --s) {
    const auto width = static_cast<double>(from.super_ptr[s + 1] - from.super_ptr[s]);
    const auto rows = static_cast<double>(from.rows[s]);
    const Group own{width, rows, trapezium(rows, width)};
    const Index up = from.parent[s];
    if (up >= 0 && up < fixed && group_of[up] == group_of[s + 1] && worth_joining(own, groups.back(), options)) {
      groups.back() = joined(own, groups.back());
      first.back() = from.super_ptr[s];
    } else {
      groups.push_back(own);
      first.push_back(from.super_ptr[s]);
    }
    group_of[s] = static_cast<Index>(groups.size() - 1);
  }
  return collect(from, options, groups, first, group_of);
}

bool gives_the_same(const SupernodeOptions &done, std::int64_t max_width, const SupernodeOptions &other) {
  const bool joined =
      other.amalgamation == done.amalgamation ||
      (done.amalgamation > 1 && other.amalgamation > done.amalgamation && max_width < done.amalgamation);
  return joined && (other.block == done.block || max_width <= std::min(done.block, other.block));
}

double supernode_flops(double rows, double width) {
  const auto squares = [](double m) { return m * (m + 1) * (2 * m + 1) / 6; };  // 1 + 4 + ... + m^2
  return squares(rows) - squares(rows - width);
}

std::int64_t block_columns(std::int64_t width, std::int64_t block) { return (width - 1) / block + 1; }

namespace {

void add_class(sxt_cholesky_query &q, double width, double rows, double flops) {
  constexpr double widest[] = {4, 16, 64, 256, 1024, 4096};
  static_assert(std::size(widest) + 1 == SXT_CHOLESKY_CLASSES);
  const auto at = std::lower_bound(std::begin(widest), std::end(widest), width) - std::begin(widest);
  sxt_front_class &c = q.classes[at];
  c.count += 1, c.columns += width, c.values += rows * width, c.flops += flops;
}

// From the roots down: what is widest, longest and has the most children on each level, and the supernodes that are too
// large for schedulers to join.
class Levels {
 public:
  Levels(const Partition &partition, const Array<double> &subtree_flops)
      : p_(partition), depth_(p_.n_super, 0), children_(p_.n_super, 0), large_(p_.n_super, 0) {
    constexpr std::int64_t most_rows = 160;
    constexpr double most_flops = 4e6;
    for (std::int64_t s = 0; s < p_.n_super; ++s) {
      const bool large = large_[s] || p_.rows[s] > most_rows || subtree_flops[s] > most_flops;
      large_[s] = large;
      if (const Index up = p_.parent[s]; up >= 0) ++children_[up], large_[up] |= large_[s];
    }
  }

  void tell(sxt_cholesky_query &q) {
    std::vector<Level> levels(static_cast<std::size_t>(q.height));
    for (std::int64_t s = p_.n_super; s-- > 0;) {
      if (const Index up = p_.parent[s]; up >= 0) depth_[s] = depth_[up] + 1;
      const std::int64_t width = p_.super_ptr[s + 1] - p_.super_ptr[s];
      Level &level = levels[static_cast<std::size_t>(depth_[s])];
      level.width = std::max(level.width, width);
      level.rows = std::max<std::int64_t>(level.rows, p_.rows[s]);
      level.children = std::max<std::int64_t>(level.children, children_[s]);
      if (!large_[s]) continue;
      q.large_count += 1;
      q.large_ancestors += static_cast<double>(std::min<std::int64_t>(depth_[s], p_.rows[s] - width));
    }
    for (const Level &level : levels) {
      constexpr std::int64_t widest_narrow = 64;
      (level.width <= widest_narrow ? q.narrow_level_columns : q.wide_level_columns) +=
          static_cast<double>(level.width);
      q.level_rows += static_cast<double>(level.rows), q.level_children += static_cast<double>(level.children);
    }
  }

 private:
  struct Level {
    std::int64_t width = 0, rows = 0, children = 0;
  };
  const Partition &p_;
  Array<Index> depth_, children_;
  Array<std::uint8_t> large_;
};

}  // namespace

sxt_cholesky_query summary(const Partition &p) {
  sxt_cholesky_query q{};
  q.n_factored = p.n - p.n_schur;
  q.n_super = p.n_super;
  q.nnz_l = p.nnz_l;
  q.amalgamation = p.options.amalgamation, q.block = p.options.block;
  // Of what lies below: supernodes and flops on the longest way, contributions that wait for this supernode.
  Array<std::int64_t> height(p.n_super, 0);
  Array<double> critical(p.n_super, 0.0), waiting(p.n_super, 0.0), subtree(p.n_super, 0.0);
  double stack = 0;
  for (std::int64_t s = 0; s < p.n_super; ++s) {
    const std::int64_t width = p.super_ptr[s + 1] - p.super_ptr[s], rows = p.rows[s];
    const bool factored = p.super_ptr[s] < q.n_factored;
    const double flops = factored ? supernode_flops(static_cast<double>(rows), static_cast<double>(width)) : 0;
    const auto below = static_cast<double>(rows - width);
    q.n_blocks += block_columns(width, p.options.block);
    q.values += rows * width, q.index_size += rows;
    q.max_rows = std::max(q.max_rows, rows), q.max_width = std::max(q.max_width, width);
    q.flops += flops;
    add_class(q, static_cast<double>(width), static_cast<double>(rows), flops);
    q.height = std::max(q.height, ++height[s]);
    q.critical_flops = std::max(q.critical_flops, critical[s] += flops);
    subtree[s] += flops;
    q.update_values += below * below;
    q.stack_values = std::max(q.stack_values, stack += below * below);
    stack -= waiting[s];
    if (const Index up = p.parent[s]; up >= 0) {
      height[up] = std::max(height[up], height[s]);
      critical[up] = std::max(critical[up], critical[s]);
      waiting[up] += below * below;
      subtree[up] += subtree[s];
    }
  }
  Levels(p, subtree).tell(q);
  return q;
}

}  // namespace sextant::cholesky
