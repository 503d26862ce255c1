// SPDX-License-Identifier: BSD-3-Clause
// Orders of test graphs by the tables of kernels, and the fill they lead to.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <random>

#include "sextant/plugin/kinds/ordering.h"
#include "tests/plugins/conformance.hpp"

namespace plugin_test {

struct TestGraph {
  std::vector<std::vector<std::int32_t>> rows;
  std::vector<std::int32_t> row_ptr, col;

  explicit TestGraph(std::int64_t n = 0) : rows(static_cast<std::size_t>(n)) {}
  std::int64_t n() const { return static_cast<std::int64_t>(rows.size()); }
  void edge(std::int64_t a, std::int64_t b) {
    rows[static_cast<std::size_t>(a)].push_back(static_cast<std::int32_t>(b));
    rows[static_cast<std::size_t>(b)].push_back(static_cast<std::int32_t>(a));
  }
  // Rows sorted, with their diagonal; the arrays of CSR.
  TestGraph &finish() {
    row_ptr.assign(1, 0);
    col.clear();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      rows[i].push_back(static_cast<std::int32_t>(i));
      std::sort(rows[i].begin(), rows[i].end());
      rows[i].erase(std::unique(rows[i].begin(), rows[i].end()), rows[i].end());
      col.insert(col.end(), rows[i].begin(), rows[i].end());
      row_ptr.push_back(static_cast<std::int32_t>(col.size()));
    }
    return *this;
  }
};

// Points of a box beside those one step away, along axes alone or in all directions.
inline TestGraph box_graph(std::int64_t a, std::int64_t b, std::int64_t c, bool corners, std::int64_t unknowns = 1) {
  TestGraph g(a * b * c * unknowns);
  const auto join = [&](std::int64_t p, std::int64_t q) {
    for (std::int64_t x = 0; x < unknowns; ++x)
      for (std::int64_t y = 0; y < unknowns; ++y)
        if (p != q || x < y) g.edge(unknowns * p + x, unknowns * q + y);
  };
  for (std::int64_t z = 0; z < c; ++z)
    for (std::int64_t y = 0; y < b; ++y)
      for (std::int64_t x = 0; x < a; ++x) {
        const std::int64_t here = x + a * (y + b * z);
        join(here, here);
        for (std::int64_t dz = -1; dz <= 0; ++dz)
          for (std::int64_t dy = -1; dy <= 1; ++dy)
            for (std::int64_t dx = -1; dx <= 1; ++dx) {
              const std::int64_t there = here + dx + a * (dy + b * dz);
              if (there >= here || x + dx < 0 || x + dx >= a || y + dy < 0 || y + dy >= b || z + dz < 0) continue;
              if (corners || dx * dx + dy * dy + dz * dz == 1) join(here, there);
            }
      }
  return std::move(g.finish());
}

struct OrderOf {
  sxt_status status = SXT_OK;
  std::vector<std::int32_t> perm;
  std::vector<std::int64_t> tree_first, tree_parent;
  std::int64_t tree_nodes = 0;
};

inline sxt_ordering_query order_query(const TestGraph &g, const char *method = "") {
  sxt_ordering_query query{};
  query.m.q = {{sizeof query, SXT_KIND_ORDERING}, 1, SXT_QUERY_MATRIX, SXT_F64};
  query.m.rows = query.m.cols = g.n();
  query.m.nnz = static_cast<std::int64_t>(g.col.size());
  std::strncpy(query.method, method, sizeof query.method - 1);
  return query;
}

inline OrderOf order_of(const sxt_kernel &kernel, const TestGraph &g, int threads = 1, std::int64_t tree_capacity = 0) {
  OrderOf out;
  out.perm.resize(static_cast<std::size_t>(g.n()));
  out.tree_first.resize(static_cast<std::size_t>(tree_capacity) + 1);
  out.tree_parent.resize(static_cast<std::size_t>(tree_capacity) + 1);
  const sxt_ordering_query query = order_query(g);
  sxt_ordering_args args{};
  args.h = {sizeof args, SXT_KIND_ORDERING};
  args.n = g.n();
  args.index_type = args.offset_type = SXT_I32;
  args.row_ptr = g.row_ptr.data(), args.col = g.col.data(), args.perm = out.perm.data();
  args.tree_capacity = tree_capacity, args.tree_first = out.tree_first.data(),
  args.tree_parent = out.tree_parent.data();
  sxt_candidate candidate = ask_candidates(kernel, &query.m.q, make_machine(threads)).back();
  Ready ready(kernel, &query.m.q, candidate);
  out.status = ready.run(&args.h, threads);
  out.tree_nodes = args.tree_nodes;
  return out;
}

// Entries of L, row by row: what is met from the entries of A's row on the way up the elimination tree. -1: no order.
inline std::int64_t fill_of(const TestGraph &g, const std::vector<std::int32_t> &perm) {
  const auto n = static_cast<std::size_t>(g.n());
  std::vector<std::int32_t> place(n, -1), parent(n, -1), mark(n, -1);
  for (std::size_t k = 0; k < n; ++k) {
    const std::int32_t row = perm[k];
    if (row < 0 || static_cast<std::size_t>(row) >= n || place[static_cast<std::size_t>(row)] >= 0) return -1;
    place[static_cast<std::size_t>(row)] = static_cast<std::int32_t>(k);
  }
  std::int64_t count = 0;
  for (std::size_t k = 0; k < n; ++k) {
    const auto self = static_cast<std::int32_t>(k);
    mark[k] = self, ++count;
    for (const std::int32_t j : g.rows[static_cast<std::size_t>(perm[k])])
      for (std::int32_t at = place[static_cast<std::size_t>(j)];
           at < self && mark[static_cast<std::size_t>(at)] != self; at = parent[static_cast<std::size_t>(at)]) {
        if (parent[static_cast<std::size_t>(at)] < 0) parent[static_cast<std::size_t>(at)] = self;
        mark[static_cast<std::size_t>(at)] = self, ++count;
      }
  }
  return count;
}

}  // namespace plugin_test
