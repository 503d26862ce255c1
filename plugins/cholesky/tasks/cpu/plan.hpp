// SPDX-License-Identifier: BSD-3-Clause
// What every call on one structure shares: how the assembly tree is cut into units of work, where contribution blocks
// lie, and which entries of A go into which supernode. Nothing in it depends on the number of threads, so that neither
// do results.
#pragma once

#include <cstdint>
#include <vector>

#include "sextant/plugin/kinds/cholesky.h"

namespace sextant_cholesky_tasks {

using Index = std::int32_t;

// How much there is to do, in operations: those of fronts, their numbers and their supernodes.
inline double factor_work(double flops, double values, double update_values, double supernodes) {
  return flops + 4 * (values + update_values) + 400 * supernodes;
}
// Threads that have some 50 to 150 us of work each. More only wait for each other; results do not depend on it.
inline std::int64_t useful_threads(std::int32_t phase, double factor_work, double values, std::int64_t columns) {
  constexpr double operations_each = 5e5, solve_ns_each = 1.5e5;
  const bool solves = phase == SXT_CHOLESKY_SOLVE;
  const double shares =
      solves ? values * (0.5 + 0.2 * static_cast<double>(columns)) / solve_ns_each : factor_work / operations_each;
  return 1 + static_cast<std::int64_t>(shares < 1e6 ? shares : 1e6);
}

// A range of supernodes with all their descendants, done one after the other on one thread; or one supernode above
// them, on its own, or, where it is large, in tiles.
struct Unit {
  enum class Kind { range, front, tiled };
  std::int64_t first, last;  // supernodes
  Kind kind;
  Index children;  // units that must be done before
};

// The rows and columns of a large front cut into tiles: `panel` block columns, then the rows below, `size` each.
struct Tiling {
  std::int64_t size = 0, width = 0, rows = 0, panel = 0, count = 0;
  std::int64_t chunk = 0;                  // block columns that one update takes
  std::int64_t tiles_at = 0, rows_at = 0;  // of this front's tiles and row tiles among all
  std::int64_t begin(std::int64_t i) const {
    return i < panel ? i * size : i == panel ? width : width + (i - panel) * size;
  }
  std::int64_t end(std::int64_t i) const {
    return i < panel ? (i + 1 < panel ? (i + 1) * size : width)
                     : (i + 1 < count ? width + (i + 1 - panel) * size : rows);
  }
  std::int64_t extent(std::int64_t i) const { return end(i) - begin(i); }
  std::int64_t tile(std::int64_t i, std::int64_t j) const { return tiles_at + i * (i + 1) / 2 + j; }
};

class Plan {
 public:
  // Of a factorisation and of the inverse, or of solves, whose units are larger: they do less with each number.
  // Throws std::bad_alloc; std::length_error where counts do not fit.
  Plan(const sxt_symbolic &s, bool solves);
  Plan(const Plan &) = delete;

  const sxt_symbolic &s;
  // Sizes of supernode p.
  std::int64_t width(std::int64_t p) const { return s.super_ptr[p + 1] - s.super_ptr[p]; }
  std::int64_t rows(std::int64_t p) const { return s.row_ptr[p + 1] - s.row_ptr[p]; }
  std::int64_t below(std::int64_t p) const { return rows(p) - width(p); }
  bool factored(std::int64_t p) const { return s.super_ptr[p] < s.n_factored; }
  std::int64_t below_at(std::int64_t p) const { return s.row_ptr[p] - s.super_ptr[p]; }  // in the lists of rows below
  const Index *below_rows(std::int64_t p) const { return s.rows + s.row_ptr[p] + width(p); }
  // Where the rows below lie among the parent's rows, and, for each, where the run of neighbours ends that it is in.
  const Index *relative(std::int64_t p) const { return relative_.data() + below_at(p); }
  const Index *run_end(std::int64_t p) const { return run_end_.data() + below_at(p); }
  // Where a solve adds what the rows below get: their places in the vector, or, outside the unit, in n + gathered_at().
  const Index *targets(std::int64_t p) const { return targets_.data() + below_at(p); }

  // Children of a supernode in ascending order; -1 ends them.
  std::vector<Index> first_child, next_child;
  std::vector<Unit> units;               // a unit's children come before it
  std::vector<Index> unit_of;            // of a supernode
  std::vector<std::int64_t> parents_at;  // units that wait for unit u: parents[parents_at[u]] ..
  std::vector<Index> parents;
  std::vector<std::int64_t> children_at;  // and the other way round
  std::vector<Index> children;
  // Whose contribution block outlives its unit: every front's, and that of roots of ranges. The block of another one
  // goes on the left or the right end of a thread's stack.
  bool is_kept(std::int64_t p) const { return kept_at[p] >= 0; }
  std::vector<std::int64_t> kept_at;  // numbers, in the memory of kept blocks; -1
  std::vector<std::uint8_t> on_right;
  std::vector<Tiling> tilings;   // of tiled units, in their order
  std::vector<Index> tiling_of;  // of a unit; -1

  double work = 0;                                 // of the whole: factor_work, or numbers
  std::int64_t kept_values = 0, stack_values = 0;  // numbers of the kept blocks and of one thread's stack
  std::int64_t kept_rows = 0, stack_rows = 0;      // rows below of kept ones, all together; of one other, at most
  std::int64_t stack_panel = 0, top_panel = 0;     // largest block below a diagonal in a range and above (INVERSE)
  std::int64_t stack_square = 0, top_square = 0;   // largest contribution block there
  std::int64_t tiles = 0, row_tiles = 0;
  std::int64_t gathered_at(std::int64_t p) const { return gathered_[p]; }

  // Calls f(place in the supernode's block, index of the value, conjugated) for A's entries in supernode p.
  template <class F>
  void for_entries(std::int64_t p, F &&f) const {
    for (int part = 0; part < 2; ++part)
      for (std::int64_t k = entries_at_[part][p]; k < entries_at_[part][p + 1]; ++k) {
        const std::int64_t e = order_.empty() ? k : order_[k];
        f(s.entry_to[e] - s.value_ptr[p], s.entry_from[e], part == 1);
      }
  }
  // The same of entries in columns begin .. end-1 of a supernode above the ranges.
  template <class F>
  void for_entries(std::int64_t p, std::int64_t begin, std::int64_t end, F &&f) const;

  std::uint64_t bytes() const;

 private:
  void link_children();
  void make_units();
  void push_unit(std::int64_t first, std::int64_t last, Unit::Kind kind);
  void link_units();
  void place_blocks();
  void find_stacks();
  void find_relatives();
  void find_targets();
  void sort_entries();

  std::vector<Index> relative_, run_end_, targets_;
  std::vector<std::int64_t> gathered_, entries_at_[2], order_;
  bool solves_;
  std::vector<double> cost_;  // of a supernode and all below it
};

template <class F>
void Plan::for_entries(std::int64_t p, std::int64_t begin, std::int64_t end, F &&f) const {
  const std::int64_t ld = rows(p);
  for (int part = 0; part < 2; ++part) {
    const auto place = [&](std::int64_t k) { return s.entry_to[order_.empty() ? k : order_[k]] - s.value_ptr[p]; };
    std::int64_t low = entries_at_[part][p], high = entries_at_[part][p + 1];
    while (low < high) {  // entries of these supernodes are sorted
      const std::int64_t middle = (low + high) / 2;
      if (place(middle) < begin * ld)
        low = middle + 1;
      else
        high = middle;
    }
    for (std::int64_t k = low; k < entries_at_[part][p + 1] && place(k) < end * ld; ++k)
      f(place(k), s.entry_from[order_.empty() ? k : order_[k]], part == 1);
  }
}

}  // namespace sextant_cholesky_tasks
