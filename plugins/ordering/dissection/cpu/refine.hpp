// SPDX-License-Identifier: BSD-3-Clause
// A vertex separator made smaller by moving its vertices to either side (Fiduccia and Mattheyses 1982; for vertex
// separators Ashcraft and Liu, SIAM J. Matrix Anal. Appl. 19, 1998): a vertex that goes to one side draws its
// neighbours on the other one into the separator. Moves that make it larger are tried too, and taken back if nothing
// came of them.
#pragma once

#include "heap.hpp"
#include "plugins/ordering/shared/random.hpp"

namespace sextant::plugin::elimination {

enum Side : std::int8_t { left = 0, right = 1, between = 2 };

struct Separation {
  std::vector<std::int8_t> side;
  std::int64_t weight[3] = {0, 0, 0};
  void weigh(const WeightedGraph &g) {
    weight[0] = weight[1] = weight[2] = 0;
    for (Vertex v = 0; v < g.size(); ++v)
      weight[side[static_cast<std::size_t>(v)]] += g.weight[static_cast<std::size_t>(v)];
  }
  std::int64_t imbalance() const { return weight[0] > weight[1] ? weight[0] - weight[1] : weight[1] - weight[0]; }
};

class Refiner {
 public:
  // most: weight of either side, where it is not more already.
  void refine(const WeightedGraph &g, Separation &s, double most_part, int passes, Random &random) {
    g_ = &g, s_ = &s;
    const std::int64_t all = s.weight[0] + s.weight[1] + s.weight[2];
    most_ = static_cast<std::int64_t>(most_part * static_cast<double>(all));
    begin();
    if (std::max(s.weight[0], s.weight[1]) > most_) balance();
    for (int pass = 0; pass < passes; ++pass)
      if (!improve(pass, random)) break;
  }

 private:
  static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

  void begin() {
    const auto n = at(g_->size());
    beside_[0].assign(n, 0), beside_[1].assign(n, 0);
    border_.clear();
    border_place_.assign(n, -1);
    moved_.assign(n, 0);
    touched_.clear();
    heap_[0].reset(g_->size()), heap_[1].reset(g_->size());
    for (Vertex v = 0; v < g_->size(); ++v)
      if (s_->side[at(v)] == between) enter(v);
  }

  // v is in the separator now.
  void enter(Vertex v) {
    border_place_[at(v)] = static_cast<std::int32_t>(border_.size());
    border_.push_back(v);
    std::int32_t sums[2] = {0, 0};
    g_->for_each_neighbour(v, [&](Vertex u) {
      if (const std::int8_t side = s_->side[at(u)]; side != between) sums[side] += g_->weight[at(u)];
    });
    beside_[0][at(v)] = sums[0], beside_[1][at(v)] = sums[1];
  }
  void leave(Vertex v) {
    const std::int32_t place = border_place_[at(v)];
    border_[at(place)] = border_.back();
    border_place_[at(border_.back())] = place;
    border_.pop_back();
    border_place_[at(v)] = -1;
  }

  // What the separator loses by moving v to a side.
  std::int32_t gain(Vertex v, int side) const { return g_->weight[at(v)] - beside_[1 - side][at(v)]; }

  struct Undo {
    Vertex vertex;
    std::int32_t drawn;  // how many vertices it drew in
    std::int8_t side;
  };

  // Moves v to a side; queue(u) for vertices whose gain changed or that came in.
  template <bool queued>
  void move(Vertex v, int side) {
    const int other = 1 - side;
    leave(v);
    s_->side[at(v)] = static_cast<std::int8_t>(side);
    s_->weight[between] -= g_->weight[at(v)], s_->weight[side] += g_->weight[at(v)];
    const std::size_t before = drawn_.size();
    g_->for_each_neighbour(v, [&](Vertex u) {
      if (s_->side[at(u)] == between) {
        beside_[side][at(u)] += g_->weight[at(v)];
        if (queued && heap_[other].has(u)) heap_[other].change(u, gain(u, other));
      } else if (s_->side[at(u)] == other) {
        draw_in<queued>(u, other);
      }
    });
    done_.push_back({v, static_cast<std::int32_t>(drawn_.size() - before), static_cast<std::int8_t>(side)});
  }

  template <bool queued>
  void draw_in(Vertex u, int from) {
    s_->weight[from] -= g_->weight[at(u)], s_->weight[between] += g_->weight[at(u)];
    s_->side[at(u)] = between;
    enter(u);
    drawn_.push_back(u);
    g_->for_each_neighbour(u, [&](Vertex w) {
      if (s_->side[at(w)] != between) return;
      beside_[from][at(w)] -= g_->weight[at(u)];
      if (queued && heap_[1 - from].has(w)) heap_[1 - from].change(w, gain(w, 1 - from));
    });
    if (!queued || moved_[at(u)]) return;
    heap_[1 - from].insert(u, gain(u, 1 - from));
    moved_[at(u)] = 2;  // it may go on to that side alone
    touched_.push_back(u);
  }

  void take_back() {
    const Undo last = done_.back();
    done_.pop_back();
    const int other = 1 - last.side;
    const Vertex v = last.vertex;
    for (std::int32_t k = 0; k < last.drawn; ++k) {
      const Vertex u = drawn_.back();
      drawn_.pop_back();
      leave(u);
      s_->side[at(u)] = static_cast<std::int8_t>(other);
      s_->weight[between] -= g_->weight[at(u)], s_->weight[other] += g_->weight[at(u)];
      g_->for_each_neighbour(u, [&](Vertex w) {
        if (s_->side[at(w)] == between) beside_[other][at(w)] += g_->weight[at(u)];
      });
    }
    s_->side[at(v)] = between;
    s_->weight[last.side] -= g_->weight[at(v)], s_->weight[between] += g_->weight[at(v)];
    enter(v);
    g_->for_each_neighbour(v, [&](Vertex w) {
      if (s_->side[at(w)] == between && w != v) beside_[last.side][at(w)] -= g_->weight[at(v)];
    });
  }

  void fill_heaps(Random &random) {
    start_ = border_;
    for (std::size_t i = start_.size(); i > 1; --i)
      std::swap(start_[i - 1], start_[at(random.below(static_cast<std::int64_t>(i)))]);
    for (const Vertex v : start_) heap_[0].insert(v, gain(v, 0)), heap_[1].insert(v, gain(v, 1));
  }

  // The side to move to next, and its best vertex; -1: none.
  int next_side(int pass) const {
    int side;
    if (heap_[0].empty() && heap_[1].empty()) return -1;
    if (heap_[0].empty() || heap_[1].empty())
      side = heap_[0].empty() ? 1 : 0;
    else if (heap_[0].top_gain() != heap_[1].top_gain())
      side = heap_[0].top_gain() > heap_[1].top_gain() ? 0 : 1;
    else
      side = s_->weight[0] != s_->weight[1] ? (s_->weight[0] < s_->weight[1] ? 0 : 1) : pass % 2;
    const auto fits = [&](int to) {
      return !heap_[to].empty() && s_->weight[to] + g_->weight[at(heap_[to].top())] <= most_;
    };
    if (fits(side)) return side;
    return fits(1 - side) ? 1 - side : -1;
  }

  bool improve(int pass, Random &random) {
    const std::int64_t first = s_->weight[between];
    std::int64_t least = first, even = s_->imbalance();
    std::size_t best = 0;
    done_.clear(), drawn_.clear(), touched_.clear();
    fill_heaps(random);
    const std::size_t patience = std::min<std::size_t>(2 * border_.size() + 10, 300);
    for (int side; (side = next_side(pass)) >= 0;) {
      const Vertex v = heap_[side].top();
      for (GainHeap &heap : heap_)
        if (heap.has(v)) heap.remove(v);
      if (!moved_[at(v)]) touched_.push_back(v);
      moved_[at(v)] = 1;
      move<true>(v, side);
      if (s_->weight[between] < least || (s_->weight[between] == least && s_->imbalance() < even))
        least = s_->weight[between], even = s_->imbalance(), best = done_.size();
      else if (done_.size() - best > patience)
        break;
    }
    for (const Vertex v : touched_) moved_[at(v)] = 0;
    heap_[0].clear(), heap_[1].clear();
    while (done_.size() > best) take_back();
    return least < first || best > 0;
  }

  // From the heavier side into the separator's other side until both may stand: whatever that costs.
  void balance() {
    const int to = s_->weight[0] > s_->weight[1] ? 1 : 0;
    done_.clear(), drawn_.clear();
    heap_[0].clear(), heap_[1].clear();
    for (const Vertex v : border_) heap_[to].insert(v, gain(v, to));
    while (!heap_[to].empty() && s_->weight[1 - to] > most_) {
      const Vertex v = heap_[to].top();
      heap_[to].remove(v);
      if (s_->weight[to] + g_->weight[at(v)] > most_) continue;
      moved_[at(v)] = 1;
      touched_.push_back(v);
      move<true>(v, to);
    }
    for (const Vertex v : touched_) moved_[at(v)] = 0;
    touched_.clear();
    heap_[to].clear();
  }

  const WeightedGraph *g_ = nullptr;
  Separation *s_ = nullptr;
  std::int64_t most_ = 0;
  GainHeap heap_[2];
  std::vector<std::int32_t> beside_[2], border_place_;
  std::vector<std::int8_t> moved_;
  std::vector<Vertex> border_, start_, drawn_, touched_;
  std::vector<Undo> done_;
};

}  // namespace sextant::plugin::elimination
