// SPDX-License-Identifier: BSD-3-Clause
// Whether a pattern is that of a grid whose nodes are numbered line by line, plane by plane, with the unknowns of a
// node side by side: how many there are, and which neighbours a node has, follow from the distances between entries and
// the diagonal. Entries may be missing anywhere; an entry that joins nodes that are no neighbours ends the search.
#pragma once

#include <array>
#include <atomic>
#include <vector>

#include "sextant/sdk/cpu/threads.hpp"
#include "sextant/sdk/ordering.hpp"

namespace sextant::plugin::grid {

// Where a neighbour lies: -1, 0 or 1 along each axis.
using Step = std::array<int, 3>;

struct Grid {
  std::int64_t size[3] = {1, 1, 1};  // nodes
  std::int64_t unknowns = 1;         // of a node
  std::vector<Step> steps;           // to neighbours of a higher number
  std::int64_t nodes() const { return size[0] * size[1] * size[2]; }
};

template <class I, class O>
class Recogniser {
 public:
  Recogniser(const ordering::Pattern<I, O> &pattern, int threads) : a_(pattern), threads_(threads) {}

  // False: why_not() tells what stood in the way.
  bool find(Grid &out) {
    if (a_.n < 64) return no("fewer than 64 rows");
    out.unknowns = unknowns();
    if (out.unknowns == 0) return no("the first row has too many neighbours");
    if (a_.n % out.unknowns != 0) return no("its first node has a number of unknowns that does not divide the rows");
    if (!sample_distances(out.unknowns)) return no("its rows have neighbours at more distances than a grid's");
    if (distances_.empty() || distances_[0] != 1) return no("neighbouring nodes are not numbered one after the other");
    if (distances_.size() == 1) return no("it is a path, which minimum degree leaves without fill");
    const std::int64_t nodes = a_.n / out.unknowns;
    for (const std::int64_t line : lines(nodes))
      for (const std::int64_t plane : planes(nodes, line)) {
        out.size[0] = line, out.size[1] = plane / line, out.size[2] = nodes / plane;
        if (find_steps(out) && holds(out)) return true;
      }
    return no("no dimensions fit the distances of its entries");
  }
  const char *why_not() const { return why_not_; }

 private:
  static constexpr std::size_t most_distances = 13;  // of 27 points: half of them without the middle

  bool no(const char *why) { return why_not_ = why, false; }

  // f(column) for a row's entries, its diagonal among them.
  template <class F>
  void for_row(std::int64_t row, F &&f) const {
    bool diagonal = false;
    for (O k = a_.row_ptr[row]; k < a_.row_ptr[row + 1]; ++k) {
      const auto column = static_cast<std::int64_t>(a_.col[k]);
      if (!diagonal && column >= row) {
        if (column > row) f(row);
        diagonal = true;
      }
      f(column);
    }
    if (!diagonal) f(row);
  }

  // Rows from the first one on that have its neighbours; 0: too many to be a grid's.
  std::int64_t unknowns() const {
    constexpr std::size_t most = 27 * 16;
    const auto neighbours = [&](std::int64_t row) {
      std::vector<std::int64_t> out;
      if (static_cast<std::size_t>(a_.row_ptr[row + 1] - a_.row_ptr[row]) <= most)
        for_row(row, [&](std::int64_t column) { out.push_back(column); });
      return out;
    };
    const std::vector<std::int64_t> first = neighbours(0);
    if (first.empty()) return 0;
    std::int64_t count = 1;
    while (count < 16 && count < a_.n && neighbours(count) == first) ++count;
    return count;
  }

  // Of some rows everywhere; what others have more is seen when all are looked at.
  bool sample_distances(std::int64_t unknowns) {
    constexpr std::int64_t samples = 257;
    for (std::int64_t k = 0; k < samples; ++k) {
      const std::int64_t row = (a_.n - 1) / samples * k + (a_.n - 1) % samples * k / samples, node = row / unknowns;
      bool few = true;
      for_row(row, [&](std::int64_t column) {
        const std::int64_t distance = column / unknowns - node;
        if (distance <= 0 || !few) return;
        const auto at = std::lower_bound(distances_.begin(), distances_.end(), distance);
        if (at != distances_.end() && *at == distance) return;
        few = distances_.size() < most_distances;
        if (few) distances_.insert(at, distance);
      });
      if (!few) return false;
    }
    return true;
  }

  // Nodes that a line may have: the least distance to the next line is to its neighbour or to one beside it.
  std::vector<std::int64_t> lines(std::int64_t nodes) const {
    std::vector<std::int64_t> out;
    for (const std::int64_t line : {distances_[1], distances_[1] + 1, distances_[1] - 1})
      if (line >= 3 && line < nodes && nodes % line == 0) out.push_back(line);
    return out;
  }
  // Of a plane; that of two dimensions is all nodes.
  std::vector<std::int64_t> planes(std::int64_t nodes, std::int64_t line) const {
    std::vector<std::int64_t> out{nodes};
    for (const std::int64_t distance : distances_)
      for (const std::int64_t dy : {0, 1, -1})
        for (const std::int64_t dx : {0, 1, -1})
          if (const std::int64_t plane = distance - dy * line - dx;
              plane >= 3 * line && plane < nodes && plane % line == 0 && nodes % plane == 0 &&
              std::find(out.begin(), out.end(), plane) == out.end())
            out.push_back(plane);
    return out;
  }

  // The steps that the distances are; false: one is none.
  bool find_steps(Grid &g) const {
    g.steps.clear();
    const std::int64_t line = g.size[0], plane = line * g.size[1];
    for (const std::int64_t distance : distances_) {
      const auto known = g.steps.size();
      for (int dz = g.size[2] > 1 ? 1 : 0; dz >= 0 && g.steps.size() == known; --dz)
        for (int dy = 1; dy >= -1 && g.steps.size() == known; --dy)
          for (int dx = -1; dx <= 1; ++dx)
            if (dx + dy * line + dz * plane == distance) {
              g.steps.push_back({dx, dy, dz});
              break;
            }
      if (g.steps.size() == known) return false;
    }
    return true;
  }

  bool holds(const Grid &g) const {
    const std::int64_t lines = g.nodes() / g.size[0];
    const int parts = static_cast<int>(std::clamp<std::int64_t>(lines, 1, 8 * threads_));
    std::atomic<bool> good{true};
    for_each_part(parts, threads_, [&](int part) {
      const Range range = part_of(lines, parts, part);
      for (std::int64_t line = range.begin; line < range.end && good.load(std::memory_order_relaxed); ++line)
        if (!line_holds(g, line)) good.store(false, std::memory_order_relaxed);
    });
    return good;
  }

  bool line_holds(const Grid &g, std::int64_t line) const {
    const std::int64_t y = line % g.size[1], z = line / g.size[1];
    for (std::int64_t x = 0; x < g.size[0]; ++x) {
      const std::int64_t node = line * g.size[0] + x;
      for (std::int64_t row = node * g.unknowns; row < (node + 1) * g.unknowns; ++row)
        for (O k = a_.row_ptr[row]; k < a_.row_ptr[row + 1]; ++k) {
          const std::int64_t other = static_cast<std::int64_t>(a_.col[k]),
                             distance = (g.unknowns == 1 ? other : other / g.unknowns) - node;
          if (distance == 0) continue;
          const auto at = std::find(distances_.begin(), distances_.end(), distance > 0 ? distance : -distance);
          if (at == distances_.end()) return false;
          const Step &step = g.steps[static_cast<std::size_t>(at - distances_.begin())];
          const int way = distance > 0 ? 1 : -1;
          const auto inside = [](std::int64_t at_axis, std::int64_t size) { return at_axis >= 0 && at_axis < size; };
          if (!inside(x + way * step[0], g.size[0]) || !inside(y + way * step[1], g.size[1]) ||
              !inside(z + way * step[2], g.size[2]))
            return false;
        }
    }
    return true;
  }

  const ordering::Pattern<I, O> &a_;
  const int threads_;
  std::vector<std::int64_t> distances_;
  const char *why_not_ = "";
};

}  // namespace sextant::plugin::grid
