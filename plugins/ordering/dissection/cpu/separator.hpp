// SPDX-License-Identifier: BSD-3-Clause
// A small vertex separator by several levels (Karypis and Kumar 1998): the graph is made coarser until few vertices are
// left, separated there by growing one side from a random vertex, several times, and the best separator is refined
// level by level on the way back.
#pragma once

#include <deque>

#include "coarsen.hpp"
#include "refine.hpp"

namespace sextant::plugin::elimination {

class SeparatorFinder {
 public:
  void find(const WeightedGraph &g, Separation &out, Random &random) {
    if (g.size() < several_runs_from) return descend(g, first_tries, out, random);
    // Where coarsening has made the graph small, a whole descent costs little: the best of several goes on.
    std::deque<Coarse> levels;
    const WeightedGraph &coarse = coarsen(g, std::max<Vertex>(fewest, g.size() / 30), 4, levels, random);
    Separation best;
    for (int run = 0; run < runs; ++run) {
      Separation found;
      descend(coarse, run_tries, found, random);
      if (run == 0 || better(found, best)) best = std::move(found);
    }
    out = std::move(best);
    ascend(g, levels, out, random);
  }

 private:
  static constexpr Vertex several_runs_from = 5000, fewest = 100;
  static constexpr int runs = 5, run_tries = 5, first_tries = 7, passes = 10;
  static constexpr double most_part = 0.65;  // of all weight on one side

  static bool better(const Separation &a, const Separation &b) {
    return a.weight[between] != b.weight[between] ? a.weight[between] < b.weight[between]
                                                  : a.imbalance() < b.imbalance();
  }

  // Down to about `target` vertices, by no more than so many levels.
  const WeightedGraph &coarsen(const WeightedGraph &g, Vertex target, std::size_t most_levels,
                               std::deque<Coarse> &levels, Random &random) {
    const std::int64_t all = std::accumulate(g.weight.begin(), g.weight.end(), std::int64_t{0});
    const std::int64_t most_weight = std::max<std::int64_t>(1, 3 * all / (2 * std::int64_t{target}));
    const WeightedGraph *at = &g;
    while (at->size() > target && levels.size() < most_levels && at->edges() > at->size() / 2) {
      Coarse next = coarsener_.coarsen(*at, most_weight, random);
      const bool slow = next.graph.size() > 0.95 * at->size();
      if (slow && next.graph.size() == at->size()) break;
      levels.push_back(std::move(next));
      at = &levels.back().graph;
      if (slow) break;
    }
    return *at;
  }

  void descend(const WeightedGraph &g, int tries, Separation &out, Random &random) {
    std::deque<Coarse> levels;
    const Vertex target = std::clamp<Vertex>(g.size() / 8, 40, fewest);
    const WeightedGraph &coarse = coarsen(g, target, std::numeric_limits<std::size_t>::max(), levels, random);
    for (int k = 0; k < tries; ++k) {
      Separation found;
      grow(coarse, found, random);
      refiner_.refine(coarse, found, most_part, passes, random);
      if (k == 0 || better(found, out)) out = std::move(found);
    }
    ascend(g, levels, out, random);
  }

  // From the coarsest graph's separation to that of g.
  void ascend(const WeightedGraph &g, std::deque<Coarse> &levels, Separation &s, Random &random) {
    while (!levels.empty()) {
      const WeightedGraph &fine = levels.size() > 1 ? levels[levels.size() - 2].graph : g;
      const std::vector<Vertex> &of = levels.back().of;
      std::vector<std::int8_t> side(of.size());
      for (std::size_t v = 0; v < of.size(); ++v) side[v] = s.side[static_cast<std::size_t>(of[v])];
      s.side = std::move(side);
      s.weigh(fine);
      refiner_.refine(fine, s, most_part, passes, random);
      levels.pop_back();
    }
  }

  // Half of the weight, breadth first from anywhere; what it touches lies between.
  void grow(const WeightedGraph &g, Separation &s, Random &random) {
    const Vertex n = g.size();
    const std::int64_t all = std::accumulate(g.weight.begin(), g.weight.end(), std::int64_t{0});
    s.side.assign(static_cast<std::size_t>(n), right);
    queue_.clear();
    met_.assign(static_cast<std::size_t>(n), false);
    const auto meet = [&](Vertex v) {
      if (!met_[static_cast<std::size_t>(v)]) met_[static_cast<std::size_t>(v)] = true, queue_.push_back(v);
    };
    meet(random.below(n));
    std::int64_t grown = 0;
    for (std::size_t head = 0; 2 * grown < all; ++head) {
      if (head == queue_.size())
        for (Vertex v = random.below(n); head == queue_.size(); v = v + 1 == n ? 0 : v + 1) meet(v);
      const Vertex v = queue_[head];
      s.side[static_cast<std::size_t>(v)] = left;
      grown += g.weight[static_cast<std::size_t>(v)];
      g.for_each_neighbour(v, meet);
    }
    for (const Vertex v : queue_)
      if (s.side[static_cast<std::size_t>(v)] == right) s.side[static_cast<std::size_t>(v)] = between;
    // Met through the last start alone: not all of them touch the left side, refinement frees those.
    s.weigh(g);
  }

  Coarsener coarsener_;
  Refiner refiner_;
  std::vector<Vertex> queue_;
  std::vector<bool> met_;
};

}  // namespace sextant::plugin::elimination
