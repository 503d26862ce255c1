// SPDX-License-Identifier: BSD-3-Clause
// Kind sxt.ordering/2: patterns whose least bandwidth by levels is known, in an order that hides it, patterns that have
// none, and grids as they are. An answer passes that names every row once. Of an order by levels, a level holds no
// fewer rows than the bandwidth says, and the bandwidth is within what a search from a row at the rim leaves. In the
// tree of a dissection only rows of nodes one above the other are neighbours. Orders of equal quality need not be
// equal.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <numeric>
#include <set>
#include <vector>

#include "reference.hpp"
#include "sextant/sdk/cases.hpp"

namespace sextant::ordering_reference {

namespace {

using namespace plugin;
using namespace plugin::cases;

constexpr std::int32_t guard_value = -77;

struct Case {
  Matrix matrix;
  std::vector<std::int64_t> wide_ptr, wide_col, wide_perm;  // of cases in 64 bits
  std::vector<std::int32_t> perm;
  std::vector<std::int64_t> tree_first, tree_parent;
  std::int64_t most_bandwidth = 0;
  bool symmetric = true, wide = false;
  sxt_ordering_query query{};
  sxt_ordering_args args{};
  char description[100];
};

// Entries of both directions, with a diagonal where requested, rows and columns renumbered at random.
class Graph {
 public:
  explicit Graph(std::int64_t n) : rows_(static_cast<std::size_t>(n)) {}
  void edge(std::int64_t i, std::int64_t j) { arc(i, j), arc(j, i); }
  void arc(std::int64_t i, std::int64_t j) { rows_[static_cast<std::size_t>(i)].insert(j); }
  void path(std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) edge(i, i + 1);
  }
  void diagonal() {
    for (std::size_t i = 0; i < rows_.size(); ++i) rows_[i].insert(static_cast<std::int64_t>(i));
  }
  Graph &keep_names() { return natural_ = true, *this; }
  // Each row becomes so many, all of them neighbours.
  Graph several(std::int64_t unknowns) const {
    Graph out(unknowns * static_cast<std::int64_t>(rows_.size()));
    out.natural_ = natural_;
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(rows_.size()); ++i)
      for (std::int64_t a = 0; a < unknowns; ++a) {
        for (std::int64_t b = 0; b < a; ++b) out.edge(unknowns * i + a, unknowns * i + b);
        for (const std::int64_t j : rows_[static_cast<std::size_t>(i)])
          for (std::int64_t b = 0; b < unknowns; ++b) out.arc(unknowns * i + a, unknowns * j + b);
      }
    return out;
  }
  // Every edge with its ends moved up: beside the graph itself.
  void take(const Graph &other, std::int64_t from) {
    for (std::size_t i = 0; i < other.rows_.size(); ++i)
      for (const std::int64_t j : other.rows_[i]) arc(static_cast<std::int64_t>(i) + from, j + from);
  }
  Pattern renamed(Random &random) const {
    const auto n = static_cast<std::int64_t>(rows_.size());
    std::vector<std::int64_t> name(rows_.size());
    std::iota(name.begin(), name.end(), 0);
    for (std::int64_t i = natural_ ? 0 : n - 1; i > 0; --i)
      std::swap(name[static_cast<std::size_t>(i)], name[static_cast<std::size_t>(random.below(i + 1))]);
    Pattern out{n, n, std::vector<std::vector<std::int64_t>>(rows_.size())};
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      auto &row = out.row[static_cast<std::size_t>(name[i])];
      for (std::int64_t j : rows_[i]) row.push_back(name[static_cast<std::size_t>(j)]);
      std::sort(row.begin(), row.end());
    }
    return out;
  }

 private:
  std::vector<std::set<std::int64_t>> rows_;
  bool natural_ = false;
};

// Points of a box, each beside those one step away (near: along one axis only).
Graph box(std::int64_t a, std::int64_t b, std::int64_t c, bool near, std::int64_t more_rows = 0) {
  Graph graph(a * b * c + more_rows);
  const auto at = [&](std::int64_t x, std::int64_t y, std::int64_t z) { return x + a * (y + b * z); };
  for (std::int64_t z = 0; z < c; ++z)
    for (std::int64_t y = 0; y < b; ++y)
      for (std::int64_t x = 0; x < a; ++x)
        for (int step = 1; step < 8; ++step) {
          const int dx = step & 1, dy = step >> 1 & 1, dz = step >> 2;
          if ((near && dx + dy + dz > 1) || x + dx >= a || y + dy >= b || z + dz >= c) continue;
          graph.edge(at(x, y, z), at(x + dx, y + dy, z + dz));
        }
  return graph;
}

Graph random_graph(std::int64_t n, std::int64_t edges, bool symmetric, Random &random) {
  Graph graph(n);
  for (std::int64_t k = 0; k < edges; ++k) {
    const std::int64_t i = random.below(n), j = random.below(n);
    symmetric ? graph.edge(i, j) : graph.arc(i, j);
  }
  return graph;
}

constexpr std::uint64_t levelled = 15, shapes = levelled + 7;

// Of no bandwidth that is known: what tells orders of little fill apart, and grids as they are.
Graph shape_for_fill(std::uint64_t i, const char *&what) {
  const auto named = [&](const char *name) { what = name; };
  switch (i) {
    case 0: {
      named("a star");
      Graph graph(900);
      for (std::int64_t j = 1; j < 900; ++j) graph.edge(0, j);
      return graph;
    }
    case 1: return named("a grid of 30 x 21 as it is"), box(30, 21, 1, true).keep_names();
    case 2: return named("a grid of 17 x 9 x 8 as it is"), box(17, 9, 8, true).keep_names();
    case 3: return named("corners joined, 3 unknowns, 7 x 6 x 8 as it is"), box(7, 6, 8, false).keep_names().several(3);
    case 4: return named("a grid of 90 x 70"), box(90, 70, 1, true);
    case 5: return named("corners joined in a box of 12 x 13 x 14"), box(12, 13, 14, false);
    default: {
      named("a grid and a box apart, and empty rows");
      Graph graph(30 * 30 + 512 + 400);
      graph.take(box(30, 30, 1, true), 0), graph.take(box(8, 8, 8, true), 900);
      return graph;
    }
  }
}

// most: the bandwidth that may be left; 0: any. A search from a row at the rim leaves levels of w rows at most, and
// less than two of them between neighbours.
Graph shape(std::uint64_t i, Random &random, std::int64_t &most, bool &symmetric, const char *&what) {
  const auto named = [&](const char *name, std::int64_t bandwidth) { what = name, most = bandwidth; };
  if (i >= levelled) return most = 0, shape_for_fill(i - levelled, what);
  switch (i) {
    case 0: return named("nothing", 0), Graph(0);
    case 1: return named("one row without an entry", 0), Graph(1);
    case 2: {
      named("a path with its diagonal", 1);
      Graph graph(257);
      return graph.path(0, 256), graph.diagonal(), graph;
    }
    case 3: {
      named("paths of 1 to 40 rows", 1);
      Graph graph(820);
      for (std::int64_t length = 1, at = 0; length <= 40; at += length++) graph.path(at, at + length - 1);
      return graph;
    }
    case 4: return named("a grid of 40 x 25", 2 * 25), box(40, 25, 1, true);
    case 5: return named("a grid of 16 x 61 with rows that are empty", 2 * 16), box(16, 61, 1, true, 50);
    case 6: return named("a box of 7 x 8 x 30", 2 * 56), box(7, 8, 30, true);
    case 7: return named("neighbours in all directions in a box of 5 x 6 x 40", 3 * 30), box(5, 6, 40, false);
    case 8: {
      named("a row with an entry in every column, beside a path", 0);
      Graph graph(600);
      graph.path(1, 599);
      for (std::int64_t j = 1; j < 600; ++j) graph.edge(0, j);
      return graph.diagonal(), graph;
    }
    case 9: {
      named("all entries there", 0);
      Graph graph(65);
      for (std::int64_t a = 0; a < 65; ++a)
        for (std::int64_t b = 0; b < a; ++b) graph.edge(a, b);
      return graph;
    }
    case 10: return named("at random", 0), random_graph(700, 1500, true, random);
    case 11: return named("at random and not symmetric", 0), symmetric = false, random_graph(400, 1000, false, random);
    case 12: {
      named("a path one way", 0), symmetric = false;
      Graph graph(300);
      for (std::int64_t k = 0; k + 1 < 300; ++k) graph.arc(k, k + 1);
      return graph;
    }
    case 13: return named("no entry in 100 rows", 0), Graph(100);
    default: {
      named("parts of which a later search meets less than the first", 0), symmetric = false;
      Graph graph(200);
      for (std::int64_t row = 0; row < 200; row += 4) {
        graph.path(row, row + 2), graph.arc(row, row + 3);
        for (std::int64_t k = 0; k < 4; ++k) graph.arc(row + k, row + k);
      }
      return graph;
    }
  }
}

void widen(Case &c) {
  c.wide = true;
  c.wide_ptr.assign(c.matrix.row_ptr().begin(), c.matrix.row_ptr().end());
  c.wide_col.assign(c.matrix.col().begin(), c.matrix.col().end());
  c.wide_perm.assign(c.perm.begin(), c.perm.end());
  c.args.index_type = c.args.offset_type = SXT_I64;
  c.args.row_ptr = c.wide_ptr.data();
  c.args.col = c.wide_col.data();
  c.args.perm = c.wide_perm.data();
}

sxt_status make_case(const sxt_host *, std::uint64_t seed, std::uint64_t i, sxt_case *out) {
  return guard(nullptr, [&] {
    Random random(seed, i);
    auto c = std::make_unique<Case>();
    const char *what = "";
    const Graph graph = shape(i % shapes, random, c->most_bandwidth, c->symmetric, what);
    c->matrix = Matrix(graph.renamed(random), SXT_F64, random);
    const sxt_csr &csr = c->matrix.csr();
    c->perm.assign(static_cast<std::size_t>(csr.s.rows) + 1, guard_value);
    c->query.m = c->matrix.query(SXT_KIND_ORDERING, sizeof c->query, SXT_F64);
    c->args.h = head<sxt_ordering_args>(SXT_KIND_ORDERING);
    c->args.n = csr.s.rows;
    c->args.index_type = c->args.offset_type = SXT_I32;
    c->args.row_ptr = csr.row_ptr;
    c->args.col = csr.col;
    c->args.perm = c->perm.data();
    if (i >= shapes) widen(*c);
    // Without a tree, with room for a few nodes, with room for all.
    c->args.tree_capacity = i % 3 == 0 ? 0 : i % 3 == 1 ? 5 : csr.s.rows;
    c->tree_first.assign(static_cast<std::size_t>(c->args.tree_capacity) + 1, guard_value);
    c->tree_parent.assign(static_cast<std::size_t>(c->args.tree_capacity) + 1, guard_value);
    if (c->args.tree_capacity > 0)
      c->args.tree_first = c->tree_first.data(), c->args.tree_parent = c->tree_parent.data();
    std::snprintf(c->description, sizeof c->description, "%s%s", what, c->wide ? ", 64-bit indices" : "");
    *out = {sizeof(sxt_case), c->description, &c->query.m.q, &csr.s.h, nullptr, &c->args.h, c.get()};
    c.release();
    return SXT_OK;
  });
}

std::vector<std::int64_t> perm_of(const Case &c) {
  if (c.wide) return c.wide_perm;
  return {c.perm.begin(), c.perm.end()};
}

// The bandwidth in the new order; -1: no permutation.
std::int64_t bandwidth_of(const Case &c, const std::vector<std::int64_t> &perm) {
  const std::int64_t n = c.args.n;
  std::vector<std::int64_t> place(static_cast<std::size_t>(n), -1);
  for (std::int64_t k = 0; k < n; ++k) {
    const std::int64_t row = perm[static_cast<std::size_t>(k)];
    if (row < 0 || row >= n || place[static_cast<std::size_t>(row)] >= 0) return -1;
    place[static_cast<std::size_t>(row)] = k;
  }
  std::int64_t most = 0;
  c.matrix.for_each([&](std::int64_t i, std::int64_t j, Wide) {
    most = std::max(most, std::abs(place[static_cast<std::size_t>(i)] - place[static_cast<std::size_t>(j)]));
  });
  return most;
}

// "" or what is wrong with the tree of a dissection.
const char *fault_of_tree(const Case &c, const std::vector<std::int64_t> &perm) {
  const std::int64_t nodes = c.args.tree_nodes;
  if (nodes < 0 || nodes > c.args.tree_capacity) return "the tree has more nodes than fit";
  if (c.tree_parent.back() != guard_value) return "it wrote beyond the tree";
  if (nodes == 0) return "";
  if (c.tree_first[0] != 0 || c.tree_first[static_cast<std::size_t>(nodes)] != c.args.n)
    return "the tree does not cover the rows";
  std::vector<std::int64_t> node_of(static_cast<std::size_t>(c.args.n));
  for (std::int64_t t = 0; t < nodes; ++t) {
    const std::int64_t begin = c.tree_first[static_cast<std::size_t>(t)],
                       end = c.tree_first[static_cast<std::size_t>(t) + 1];
    const std::int64_t up = c.tree_parent[static_cast<std::size_t>(t)];
    if (begin > end || end > c.args.n) return "a node of the tree ends before it begins";
    if (up != -1 && (up <= t || up >= nodes)) return "a node of the tree comes after its parent";
    for (std::int64_t k = begin; k < end; ++k) node_of[static_cast<std::size_t>(perm[static_cast<std::size_t>(k)])] = t;
  }
  const char *fault = "";
  if (c.symmetric)
    c.matrix.for_each([&](std::int64_t i, std::int64_t j, Wide) {
      std::int64_t low = std::min(node_of[static_cast<std::size_t>(i)], node_of[static_cast<std::size_t>(j)]);
      const std::int64_t high = std::max(node_of[static_cast<std::size_t>(i)], node_of[static_cast<std::size_t>(j)]);
      while (low != -1 && low < high) low = c.tree_parent[static_cast<std::size_t>(low)];
      if (low != high) fault = "neighbours are in two branches of the tree";
    });
  return fault;
}

sxt_status compare(const sxt_case *got_case, const sxt_case *want_case, double *error, sxt_message *message) {
  return guard(nullptr, [&] {
    const Case &got = *static_cast<const Case *>(got_case->owner);
    const std::vector<std::int64_t> perm = perm_of(got);
    Verdict verdict(error, message);
    const std::int64_t bandwidth = bandwidth_of(got, perm), width = got.args.width;
    const auto least = static_cast<double>(std::max<std::int64_t>(1, got.most_bandwidth));
    if (perm.back() != guard_value)
      verdict.fail("it wrote beyond the permutation");
    else if (bandwidth < 0)
      verdict.fail("a row is missing, or named twice");
    else if (const char *fault = fault_of_tree(got, perm); *fault)
      verdict.fail(fault);
    else if (got.symmetric && width > 0 && bandwidth > 2 * width - 1)
      verdict.fail("neighbours are further apart than two levels of the width it states");
    else if (got.args.levels > 0 && got.most_bandwidth > 0 && bandwidth > got.most_bandwidth)
      verdict.check("bandwidth", 0, static_cast<double>(bandwidth), 0, least);
    else if (perm != perm_of(*static_cast<const Case *>(want_case->owner)))
      *error = 0.5;  // another order, as good
    return SXT_OK;
  });
}

// Patterns and permutations lie on the host, on whichever device the kernel works.
sxt_status stay(sxt_case *, const sxt_exec *, std::int32_t) { return SXT_OK; }

}  // namespace

const sxt_kind kind = kind_of_cases<Case>(SXT_KIND_ORDERING, "a permutation of rows and columns, from the pattern",
                                          {&kernel, 2 * shapes, make_case, compare, stay});

}  // namespace sextant::ordering_reference
