// SPDX-License-Identifier: BSD-3-Clause
#include "plan.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace sextant_cholesky_tasks {
namespace {

// A unit of work is at most this part of the whole, and at least so much; a front from so much on is cut in tiles. In
// operations of a factorisation, and in numbers that a solve reads: each unit costs a microsecond or a few, because
// threads take turns at the queue.
struct Grain {
  double parts_of_whole, least_unit, tiled_from;
};
constexpr Grain factor_grain = {96, 4e5, 2e7}, solve_grain = {40, 5e4, 4e5};
constexpr double solve_numbers_a_supernode = 60;

}  // namespace

Plan::Plan(const sxt_symbolic &symbolic, bool solves) : s(symbolic), solves_(solves) {
  link_children();
  make_units();
  link_units();
  place_blocks();
  find_stacks();
  find_relatives();
  find_targets();
  sort_entries();
  std::vector<double>().swap(cost_);  // no assignment gives its memory back
}

void Plan::link_children() {
  const auto n = static_cast<std::size_t>(s.n_super);
  first_child.assign(n, -1), next_child.assign(n, -1);
  for (std::int64_t p = s.n_super; p-- > 0;)
    if (const Index parent = s.parent[p]; parent >= 0) {
      next_child[p] = first_child[parent];
      first_child[parent] = static_cast<Index>(p);
    }
}

void Plan::push_unit(std::int64_t first, std::int64_t last, Unit::Kind kind) {
  for (std::int64_t p = first; p <= last; ++p) unit_of[p] = static_cast<Index>(units.size());
  tiling_of.push_back(-1);
  if (kind == Unit::Kind::tiled) {
    Tiling t;
    t.width = width(first), t.rows = rows(first);
    t.size = t.rows < 2048 && !solves_ ? 128 : 256;
    t.chunk = 512 / t.size;
    t.panel = (t.width + t.size - 1) / t.size;
    t.count = t.panel + (t.rows - t.width + t.size - 1) / t.size;
    t.tiles_at = tiles, t.rows_at = row_tiles;
    tiles += t.count * (t.count + 1) / 2, row_tiles += t.count;
    if (t.count >= (1 << 20)) throw std::length_error("a front has more than a million tiles in a row");
    tiling_of.back() = static_cast<Index>(tilings.size());
    tilings.push_back(t);
  }
  units.push_back({first, last, kind, 0});
}

void Plan::make_units() {
  cost_.assign(static_cast<std::size_t>(s.n_super), 0);
  std::vector<double> own(static_cast<std::size_t>(s.n_super));
  for (std::int64_t p = 0; p < s.n_super; ++p) {
    const double w = static_cast<double>(width(p)), r = static_cast<double>(rows(p)), left = r - w;
    const double flops = factored(p) ? (r * (r + 1) * (2 * r + 1) - left * (left + 1) * (2 * left + 1)) / 6 : w * w;
    own[p] = solves_ ? w * r + solve_numbers_a_supernode : factor_work(flops, w * r, left * left, 1);
    cost_[p] += own[p], work += own[p];
    if (s.parent[p] >= 0) cost_[s.parent[p]] += cost_[p];
  }
  const Grain &grain = solves_ ? solve_grain : factor_grain;
  const double limit = std::max(work / grain.parts_of_whole, grain.least_unit);
  unit_of.assign(static_cast<std::size_t>(s.n_super), 0);
  double collected = 0;
  std::int64_t first = 0;  // of the range that is being collected
  const auto close = [&](std::int64_t end) {
    if (first < end) push_unit(first, end - 1, Unit::Kind::range);
    first = end, collected = 0;
  };
  for (std::int64_t p = 0; p < s.n_super; ++p) {
    if (cost_[p] > limit) {
      close(p);
      push_unit(p, p, own[p] > grain.tiled_from && factored(p) ? Unit::Kind::tiled : Unit::Kind::front);
      first = p + 1;
      continue;
    }
    const bool is_root = s.parent[p] < 0 || cost_[s.parent[p]] > limit;
    if (!is_root) continue;
    if (collected > 0 && collected + cost_[p] > limit) {  // p's descendants begin where the range before ends
      std::int64_t begin = p;
      while (begin > first && s.parent[begin - 1] >= 0 && s.parent[begin - 1] <= p) --begin;
      close(begin);
    }
    collected += cost_[p];
  }
  close(s.n_super);
}

void Plan::link_units() {
  std::vector<Index> seen(units.size(), -1);
  parents_at.push_back(0);
  for (std::size_t u = 0; u < units.size(); ++u) {
    for (std::int64_t p = units[u].first; p <= units[u].last; ++p) {
      const Index parent = s.parent[p];
      if (parent < 0 || parent <= units[u].last || seen[unit_of[parent]] == static_cast<Index>(u)) continue;
      seen[unit_of[parent]] = static_cast<Index>(u);
      parents.push_back(unit_of[parent]);
      ++units[unit_of[parent]].children;
    }
    parents_at.push_back(static_cast<std::int64_t>(parents.size()));
  }
  children_at.assign(units.size() + 1, 0);
  children.resize(parents.size());
  for (std::size_t u = 0; u < units.size(); ++u) children_at[u + 1] = children_at[u] + units[u].children;
  std::vector<std::int64_t> next(children_at);
  for (std::size_t u = 0; u < units.size(); ++u)
    for (std::int64_t k = parents_at[u]; k < parents_at[u + 1]; ++k)
      children[next[parents[k]]++] = static_cast<Index>(u);
}

// A front's block lies at one end of its region, in which its children's regions lie side by side, each with its block
// at the other end: what lies between is free when the front begins, because its children have read it. Ends alternate
// from level to level. The children whose free part the front uses is the one with the most.
void Plan::place_blocks() {
  const auto n = static_cast<std::size_t>(s.n_super);
  kept_at.assign(n, -1), on_right.assign(n, 0), gathered_.assign(n, 0);
  for (std::int64_t p = s.n_super; p-- > 0;) on_right[p] = s.parent[p] >= 0 ? !on_right[s.parent[p]] : 0;
  const auto is_top = [&](std::int64_t p) { return units[unit_of[p]].kind != Unit::Kind::range; };
  const auto is_kept_one = [&](std::int64_t p) { return is_top(p) || s.parent[p] < 0 || is_top(s.parent[p]); };
  std::vector<std::int64_t> region(n, 0), best(n, -1), base(n, 0);
  for (std::int64_t p = 0; p < s.n_super; ++p) {
    if (!is_kept_one(p)) continue;
    const std::int64_t own = below(p) * below(p);
    gathered_[p] = kept_rows, kept_rows += below(p);
    region[p] = own;
    if (!is_top(p)) continue;
    std::int64_t sum = 0, most = 0;
    for (Index c = first_child[p]; c >= 0; c = next_child[c]) {
      sum += region[c];
      const std::int64_t free = region[c] - below(c) * below(c);
      if (best[p] < 0 || free > most) best[p] = c, most = free;
    }
    region[p] = sum + std::max<std::int64_t>(0, own - most);
  }
  for (std::int64_t p = s.n_super; p-- > 0;) {
    if (!is_kept_one(p)) continue;
    if (s.parent[p] < 0) base[p] = kept_values, kept_values += region[p];
    kept_at[p] = on_right[p] ? base[p] + region[p] - below(p) * below(p) : base[p];
    if (!is_top(p) || best[p] < 0) continue;
    // The best child's region touches the end where p's block lies; the others follow.
    const bool right = on_right[p] != 0;
    std::int64_t place = right ? base[p] : base[p] + region[p];  // the border of what is still to be given away
    const auto give = [&](std::int64_t c) {
      if (right)
        base[c] = place, place += region[c];
      else
        place -= region[c], base[c] = place;
    };
    for (Index c = first_child[p]; c >= 0; c = next_child[c])
      if (c != best[p]) give(c);
    give(best[p]);
  }
}

// Plays what a range does with its stack.
void Plan::find_stacks() {
  for (const Unit &unit : units) {
    std::int64_t alive = 0;
    for (std::int64_t p = unit.first; p <= unit.last; ++p) {
      const std::int64_t panel = below(p) * width(p), block = below(p) * below(p);
      if (unit.kind != Unit::Kind::range) {
        top_panel = std::max(top_panel, panel), top_square = std::max(top_square, block);
        continue;
      }
      stack_panel = std::max(stack_panel, panel), stack_square = std::max(stack_square, block);
      if (!is_kept(p)) alive += block, stack_rows = std::max(stack_rows, below(p));
      stack_values = std::max(stack_values, alive);
      for (Index c = first_child[p]; c >= 0; c = next_child[c]) alive -= below(c) * below(c);
    }
  }
}

void Plan::find_relatives() {
  const std::int64_t size = s.n_super ? s.row_ptr[s.n_super] - s.n : 0;
  relative_.resize(static_cast<std::size_t>(size)), run_end_.resize(static_cast<std::size_t>(size));
  for (std::int64_t p = 0; p < s.n_super; ++p) {
    const std::int64_t count = below(p);
    if (count == 0) continue;
    const Index *rows_here = below_rows(p), *there = s.rows + s.row_ptr[s.parent[p]];
    Index *to = relative_.data() + below_at(p), *end = run_end_.data() + below_at(p);
    for (std::int64_t i = 0, k = 0; i < count; ++i) {
      while (there[k] != rows_here[i]) ++k;
      to[i] = static_cast<Index>(k);
    }
    for (std::int64_t i = count; i-- > 0;)
      end[i] = i + 1 < count && to[i + 1] == to[i] + 1 ? end[i + 1] : static_cast<Index>(i + 1);
  }
}

void Plan::find_targets() {
  if (s.n + kept_rows > std::numeric_limits<Index>::max())
    throw std::length_error("rows and those of contribution blocks are together more than 2^31");
  targets_.resize(relative_.size());
  std::vector<Index> root(static_cast<std::size_t>(s.n_super));
  for (std::int64_t p = s.n_super; p-- > 0;) {
    root[p] = is_kept(p) ? static_cast<Index>(p) : root[s.parent[p]];
    const std::int64_t last_column = s.super_ptr[units[unit_of[p]].last + 1];
    const Index *rows_here = below_rows(p), *there = below_rows(root[p]);
    Index *to = targets_.data() + below_at(p);
    for (std::int64_t i = 0, k = 0; i < below(p); ++i) {
      if (!is_kept(p) && rows_here[i] < last_column) {
        to[i] = rows_here[i];
        continue;
      }
      while (there[k] != rows_here[i]) ++k;
      to[i] = static_cast<Index>(s.n + gathered_[root[p]] + k);
    }
  }
}

// Entries by supernode; above the ranges by place as well, for tiles.
void Plan::sort_entries() {
  const std::int64_t borders[3] = {0, s.n_straight, s.n_entries};
  const auto super_of = [&](std::int64_t k) {
    return std::upper_bound(s.value_ptr, s.value_ptr + s.n_super + 1, s.entry_to[k]) - s.value_ptr - 1;
  };
  bool in_order = true;
  for (int part = 0; part < 2; ++part) {
    auto &at = entries_at_[part];
    at.assign(static_cast<std::size_t>(s.n_super) + 1, 0);
    std::int64_t p = 0, end = 0;  // the entry is most often in the supernode of the one before
    for (std::int64_t k = borders[part]; k < borders[part + 1]; ++k) {
      const bool same = s.entry_to[k] < end && s.entry_to[k] >= s.value_ptr[p];
      if (!same) {
        const std::int64_t q = super_of(k);
        in_order = in_order && q >= p;
        p = q, end = s.value_ptr[p + 1];
      }
      ++at[p + 1];
    }
    at[0] = borders[part];
    for (std::int64_t q = 0; q < s.n_super; ++q) at[q + 1] += at[q];
  }
  order_.resize(static_cast<std::size_t>(s.n_entries));
  for (int part = 0; part < 2; ++part) {
    std::vector<std::int64_t> next(entries_at_[part]);
    for (std::int64_t k = borders[part]; k < borders[part + 1]; ++k) {
      if (in_order)
        order_[k] = k;
      else
        order_[next[super_of(k)]++] = k;
    }
    for (const Unit &unit : units)
      if (unit.kind != Unit::Kind::range)
        std::sort(order_.begin() + entries_at_[part][unit.first], order_.begin() + entries_at_[part][unit.first + 1],
                  [&](std::int64_t x, std::int64_t y) { return s.entry_to[x] < s.entry_to[y]; });
  }
}

std::uint64_t Plan::bytes() const {
  const auto of = [](const auto &list) { return list.capacity() * sizeof(list[0]); };  // lists grow by halves or more
  return sizeof *this + of(first_child) + of(next_child) + of(units) + of(unit_of) + of(parents_at) + of(parents) +
         of(children_at) + of(children) + of(kept_at) + of(on_right) + of(tilings) + of(tiling_of) + of(relative_) +
         of(run_end_) + of(targets_) + of(gathered_) + of(entries_at_[0]) + of(entries_at_[1]) + of(order_);
}

}  // namespace sextant_cholesky_tasks
