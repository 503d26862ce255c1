// SPDX-License-Identifier: BSD-3-Clause
// A coarser graph: pairs of neighbours become one vertex, those joined by heavy edges first (Karypis and Kumar, SIAM J.
// Sci. Comput. 20, 1998).
#pragma once

#include "plugins/ordering/shared/random.hpp"
#include "plugins/ordering/shared/weighted_graph.hpp"

namespace sextant::plugin::elimination {

struct Coarse {
  WeightedGraph graph;
  std::vector<Vertex> of;  // the coarse vertex that a fine one is part of
};

class Coarsener {
 public:
  // most_weight: of a coarse vertex.
  Coarse coarsen(const WeightedGraph &g, std::int64_t most_weight, Random &random) {
    match(g, most_weight, random);
    Coarse out;
    name(g, out.of);
    contract(g, out);
    return out;
  }

 private:
  static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

  // Vertices of few neighbours choose first, as they have the least choice; among those of one degree, at random.
  void sort_vertices(const WeightedGraph &g, Random &random) {
    const Vertex n = g.size();
    order_.resize(at(n));
    std::iota(order_.begin(), order_.end(), 0);
    for (Vertex i = n - 1; i > 0; --i) std::swap(order_[at(i)], order_[at(random.below(i + 1))]);
    const std::int64_t widest = 1 + 7 * g.edges() / (10 * std::max<std::int64_t>(1, n)) * 2;
    std::vector<Vertex> first(at(widest) + 2, 0);
    const auto slot = [&](Vertex v) { return at(std::min(g.degree(v), widest)); };
    for (Vertex v = 0; v < n; ++v) ++first[slot(v) + 1];
    std::partial_sum(first.begin(), first.end(), first.begin());
    sorted_.resize(at(n));
    for (const Vertex v : order_) sorted_[at(first[slot(v)]++)] = v;
  }

  void match(const WeightedGraph &g, std::int64_t most_weight, Random &random) {
    sort_vertices(g, random);
    mate_.assign(at(g.size()), -1);
    Vertex alone = 0;
    for (const Vertex v : sorted_) {
      if (mate_[at(v)] >= 0) continue;
      Vertex best = v;
      std::int32_t heaviest = 0;
      for (std::int64_t e = g.start[at(v)]; e < g.start[at(v) + 1]; ++e) {
        const Vertex u = g.neighbour[at(e)];
        const std::int32_t weight = g.weight_of_edge(e);
        if (mate_[at(u)] < 0 && weight > heaviest && std::int64_t{g.weight[at(v)]} + g.weight[at(u)] <= most_weight)
          best = u, heaviest = weight;
      }
      alone += best == v;
      mate_[at(v)] = best, mate_[at(best)] = v;
    }
    if (alone > g.size() / 10) match_around(g, most_weight);
  }

  // Vertices that found no free neighbour, two at a time around one that they share: leaves of hubs.
  void match_around(const WeightedGraph &g, std::int64_t most_weight) {
    constexpr std::int64_t most_degree = 8;
    for (const Vertex hub : sorted_) {
      Vertex waiting = -1;
      g.for_each_neighbour(hub, [&](Vertex v) {
        if (mate_[at(v)] != v || g.degree(v) > most_degree) return;
        if (waiting < 0 || std::int64_t{g.weight[at(v)]} + g.weight[at(waiting)] > most_weight) {
          waiting = v;
          return;
        }
        mate_[at(v)] = waiting, mate_[at(waiting)] = v;
        waiting = -1;
      });
    }
    Vertex waiting = -1;  // those without any neighbour
    for (const Vertex v : sorted_) {
      if (g.degree(v) > 0) break;
      if (mate_[at(v)] != v) continue;
      if (waiting < 0 || std::int64_t{g.weight[at(v)]} + g.weight[at(waiting)] > most_weight) {
        waiting = v;
        continue;
      }
      mate_[at(v)] = waiting, mate_[at(waiting)] = v;
      waiting = -1;
    }
  }

  void name(const WeightedGraph &g, std::vector<Vertex> &of) {
    of.assign(at(g.size()), -1);
    first_.clear();
    for (Vertex v = 0; v < g.size(); ++v)
      if (of[at(v)] < 0) {
        of[at(v)] = of[at(mate_[at(v)])] = static_cast<Vertex>(first_.size());
        first_.push_back(v);
      }
  }

  void contract(const WeightedGraph &g, Coarse &out) {
    const std::size_t n = first_.size();
    out.graph.start.assign(n + 1, 0);
    out.graph.weight.resize(n);
    out.graph.neighbour.resize(at(g.edges()));
    out.graph.edge_weight.resize(at(g.edges()));
    seen_.assign(n, -1);
    std::int64_t to = 0;
    for (std::size_t c = 0; c < n; ++c) {
      const std::int64_t begin = to;
      const Vertex v = first_[c], u = mate_[at(v)];
      const auto add = [&](Vertex member) {
        for (std::int64_t e = g.start[at(member)]; e < g.start[at(member) + 1]; ++e) {
          const Vertex other = out.of[at(g.neighbour[at(e)])];
          if (other == static_cast<Vertex>(c)) continue;
          std::int64_t &place = seen_[at(other)];
          if (place < begin) {
            place = to;
            out.graph.neighbour[at(to)] = other;
            out.graph.edge_weight[at(to++)] = g.weight_of_edge(e);
          } else {
            out.graph.edge_weight[at(place)] += g.weight_of_edge(e);
          }
        }
      };
      add(v);
      if (u != v) add(u);
      out.graph.weight[c] = g.weight[at(v)] + (u != v ? g.weight[at(u)] : 0);
      out.graph.start[c + 1] = to;
    }
    out.graph.neighbour.resize(at(to));
    out.graph.edge_weight.resize(at(to));
  }

  std::vector<Vertex> order_, sorted_, mate_, first_;
  std::vector<std::int64_t> seen_;
};

}  // namespace sextant::plugin::elimination
