// SPDX-License-Identifier: BSD-3-Clause
// Graphs as orderings for little fill take them apart: both directions of every edge, no loops, vertices that stand for
// several rows. Up to 2^31 - 2 vertices.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "sextant/sdk/ordering.hpp"

namespace sextant::plugin::elimination {

using Vertex = std::int32_t;

struct WeightedGraph {
  std::vector<std::int64_t> start{0};
  std::vector<Vertex> neighbour;
  std::vector<std::int32_t> edge_weight;  // empty: all are 1
  std::vector<std::int32_t> weight;       // rows that a vertex stands for

  Vertex size() const { return static_cast<Vertex>(start.size() - 1); }
  std::int64_t edges() const { return start.back(); }
  std::int64_t degree(Vertex v) const { return start[index(v) + 1] - start[index(v)]; }
  static std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }
  std::int32_t weight_of_edge(std::int64_t e) const { return edge_weight.empty() ? 1 : edge_weight[index(e)]; }
  template <class F>
  void for_each_neighbour(Vertex v, F &&f) const {
    for (std::int64_t e = start[index(v)]; e < start[index(v) + 1]; ++e) f(neighbour[index(e)]);
  }
};

// The pattern without its diagonal.
template <class I, class O>
WeightedGraph graph_of(const ordering::Pattern<I, O> &a) {
  WeightedGraph out;
  out.start.resize(static_cast<std::size_t>(a.n) + 1);
  out.neighbour.resize(static_cast<std::size_t>(a.row_ptr[a.n]));
  out.weight.assign(static_cast<std::size_t>(a.n), 1);
  std::int64_t to = 0;
  for (std::int64_t i = 0; i < a.n; ++i) {
    for (O k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k)
      if (a.col[k] != static_cast<I>(i)) out.neighbour[static_cast<std::size_t>(to++)] = static_cast<Vertex>(a.col[k]);
    out.start[static_cast<std::size_t>(i) + 1] = to;
  }
  out.neighbour.resize(static_cast<std::size_t>(to));
  return out;
}

// Whether every edge is there in both directions, by comparing how often each vertex is named, and what its row names:
// a pattern that is symmetric passes, and one that is not almost never does. What passes need not be.
template <class I, class O>
bool looks_symmetric(const ordering::Pattern<I, O> &a) {
  std::vector<std::uint64_t> sums(static_cast<std::size_t>(a.n), 0);
  const auto mixed = [](std::uint64_t x) { return (x + 1) * 0x9e3779b97f4a7c15u ^ (x >> 7); };
  for (std::int64_t i = 0; i < a.n; ++i)
    for (O k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
      sums[static_cast<std::size_t>(a.col[k])] += mixed(static_cast<std::uint64_t>(i));
      sums[static_cast<std::size_t>(i)] -= mixed(static_cast<std::uint64_t>(a.col[k]));
    }
  return std::all_of(sums.begin(), sums.end(), [](std::uint64_t sum) { return sum == 0; });
}

// The graph of a pattern; of one that is not symmetric, of it and its mirror image.
template <class I, class O>
WeightedGraph symmetric_graph_of(const ordering::Pattern<I, O> &a) {
  if (looks_symmetric(a)) return graph_of(a);
  const auto n = static_cast<std::size_t>(a.n);
  WeightedGraph out;
  out.weight.assign(n, 1);
  std::vector<std::int64_t> next(n + 1, 0);
  const auto for_edges = [&](auto &&f) {
    for (std::int64_t i = 0; i < a.n; ++i)
      for (O k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k)
        if (const auto j = static_cast<std::int64_t>(a.col[k]); j != i) f(i, j), f(j, i);
  };
  for_edges([&](std::int64_t i, std::int64_t) { ++next[static_cast<std::size_t>(i) + 1]; });
  std::partial_sum(next.begin(), next.end(), next.begin());
  std::vector<std::int64_t> begin = next;
  std::vector<Vertex> all(static_cast<std::size_t>(next[n]));
  for_edges([&](std::int64_t i, std::int64_t j) {
    all[static_cast<std::size_t>(next[static_cast<std::size_t>(i)]++)] = static_cast<Vertex>(j);
  });
  for (std::size_t i = 0; i < n; ++i) {
    const auto first = all.begin() + begin[i], last = all.begin() + begin[i + 1];
    std::sort(first, last);
    out.neighbour.insert(out.neighbour.end(), first, std::unique(first, last));
    out.start.push_back(static_cast<std::int64_t>(out.neighbour.size()));
  }
  return out;
}

// Vertices whose neighbours, themselves included, are the same become one: unknowns of one node of a mesh.
struct Compressed {
  WeightedGraph graph;
  std::vector<Vertex> first, member;  // of vertex v: member[first[v]] .. member[first[v+1]-1]
};

namespace detail {

inline bool same_closed(const WeightedGraph &g, Vertex a, Vertex b) {
  if (g.degree(a) != g.degree(b)) return false;
  // Ascending lists that differ in a and b alone.
  auto x = g.start[g.index(a)], y = g.start[g.index(b)];
  const auto x_end = g.start[g.index(a) + 1], y_end = g.start[g.index(b) + 1];
  bool a_seen = false, b_seen = false;
  for (;;) {
    if (x < x_end && g.neighbour[g.index(x)] == b) b_seen = true, ++x;
    if (y < y_end && g.neighbour[g.index(y)] == a) a_seen = true, ++y;
    if (x == x_end || y == y_end) return x == x_end && y == y_end && a_seen && b_seen;
    if (g.neighbour[g.index(x++)] != g.neighbour[g.index(y++)]) return false;
  }
}

}  // namespace detail

// Where fewer than so many of its vertices stay.
inline constexpr double least_compression = 0.85;

// False: not worth it, out is not changed.
inline bool compress(const WeightedGraph &g, Compressed &out) {
  const Vertex n = g.size();
  std::vector<std::uint64_t> key(static_cast<std::size_t>(n));
  for (Vertex v = 0; v < n; ++v) {
    key[g.index(v)] = static_cast<std::uint64_t>(v) * 0x9e3779b97f4a7c15u;
    g.for_each_neighbour(v, [&](Vertex u) { key[g.index(v)] += static_cast<std::uint64_t>(u) * 0x9e3779b97f4a7c15u; });
  }
  // Those that are alike are neighbours: where few have one of their key, no sorting is needed to see that few go.
  Vertex alike = 0;
  for (Vertex v = 0; v < n; ++v) {
    bool any = false;
    g.for_each_neighbour(v, [&](Vertex u) { any |= key[g.index(u)] == key[g.index(v)]; });
    alike += any;
  }
  if (n - alike > least_compression * n) return false;
  std::vector<std::pair<std::uint64_t, Vertex>> keys(static_cast<std::size_t>(n));
  for (Vertex v = 0; v < n; ++v) keys[g.index(v)] = {key[g.index(v)], v};
  std::vector<Vertex> head(static_cast<std::size_t>(n), -1);
  std::sort(keys.begin(), keys.end());
  Vertex count = 0;
  for (std::size_t k = 0; k < keys.size();) {
    std::size_t end = k;
    while (end < keys.size() && keys[end].first == keys[k].first) ++end;
    for (std::size_t a = k; a < end; ++a) {
      const Vertex v = keys[a].second;
      if (head[g.index(v)] >= 0) continue;
      head[g.index(v)] = v, ++count;
      for (std::size_t b = a + 1; b < end; ++b)
        if (const Vertex u = keys[b].second; head[g.index(u)] < 0 && detail::same_closed(g, v, u)) head[g.index(u)] = v;
    }
    k = end;
  }
  if (count > least_compression * n) return false;
  std::vector<Vertex> name(static_cast<std::size_t>(n), -1);
  out.first.assign(static_cast<std::size_t>(count) + 1, 0);
  Vertex next = 0;
  for (Vertex v = 0; v < n; ++v)
    if (head[g.index(v)] == v) name[g.index(v)] = next++;
  for (Vertex v = 0; v < n; ++v) ++out.first[g.index(name[g.index(head[g.index(v)])]) + 1];
  std::partial_sum(out.first.begin(), out.first.end(), out.first.begin());
  std::vector<Vertex> at(out.first.begin(), out.first.end() - 1);
  out.member.resize(static_cast<std::size_t>(n));
  for (Vertex v = 0; v < n; ++v) out.member[g.index(at[g.index(name[g.index(head[g.index(v)])])]++)] = v;
  out.graph = {};
  for (Vertex c = 0; c < count; ++c) {
    const Vertex v = out.member[g.index(out.first[g.index(c)])];
    std::int32_t weight = 0;
    for (Vertex m = out.first[g.index(c)]; m < out.first[g.index(c) + 1]; ++m)
      weight += g.weight[g.index(out.member[g.index(m)])];
    out.graph.weight.push_back(weight);
    g.for_each_neighbour(v, [&](Vertex u) {
      if (head[g.index(u)] == u && u != v) out.graph.neighbour.push_back(name[g.index(u)]);
    });
    out.graph.start.push_back(static_cast<std::int64_t>(out.graph.neighbour.size()));
  }
  return true;
}

// Calls f(pattern, perm) as with_pattern does, where a Vertex can name every row.
template <class F>
sxt_status with_small_pattern(const sxt_exec *exec, sxt_ordering_args &args, F &&f) {
  return guard(exec, [&] {
    return ordering::with_pattern(exec, args, [&](const auto &pattern, auto *perm) -> sxt_status {
      if (pattern.n >= std::numeric_limits<Vertex>::max())
        return error(exec, SXT_E_NOT_SUPPORTED, "%lld rows: it orders up to 2^31 - 2", (long long)pattern.n);
      return f(pattern, perm);
    });
  });
}

}  // namespace sextant::plugin::elimination
