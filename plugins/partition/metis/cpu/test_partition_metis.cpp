// SPDX-License-Identifier: BSD-3-Clause
// partition.metis.cpu beyond the kind's suite: a grid whose rows are in no order is cut along few edges, alike each
// time.
#include <cstdint>
#include <string>
#include <vector>

#include "sextant/plugin/kinds/partition.h"
#include "tests/plugins/orders.hpp"

namespace {

using namespace plugin_test;

const sxt_kernel &metis() { return find_kernel(load_own("partition-metis"), "partition.metis.cpu"); }

sxt_partition_query query_of(std::int64_t n) {
  sxt_partition_query query{};
  query.m.q = {{sizeof query, SXT_KIND_PARTITION}, 1, SXT_QUERY_MATRIX, SXT_F64};
  query.m.rows = query.m.cols = n;
  query.members = 4;
  return query;
}

// Points of a side x side grid, numbered with a stride so that neighbours lie far apart.
struct Grid {
  explicit Grid(std::int64_t side) : n(side * side) {
    const auto name = [&](std::int64_t i) { return i * 37 % n; };
    std::vector<std::vector<std::int32_t>> rows(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n; ++i)
      for (const std::int64_t j : {i + 1, i + side})
        if (j < n && (j != i + 1 || j % side != 0)) {
          rows[static_cast<std::size_t>(name(i))].push_back(static_cast<std::int32_t>(name(j)));
          rows[static_cast<std::size_t>(name(j))].push_back(static_cast<std::int32_t>(name(i)));
        }
    for (std::vector<std::int32_t> &row : rows) {
      std::sort(row.begin(), row.end());
      col.insert(col.end(), row.begin(), row.end());
      ptr.push_back(static_cast<std::int32_t>(col.size()));
    }
  }
  std::int64_t n;
  std::vector<std::int32_t> ptr{0}, col;
};

TEST(PartitionMetis, CutsFewEdgesOfAGridInNoOrder) {
  const Grid grid(41);  // 1681 rows, coprime to the stride
  const sxt_partition_query query = query_of(grid.n);
  if (const std::string reason = refusal(metis(), &query.m.q); !reason.empty()) GTEST_SKIP() << reason;
  const std::vector<double> rate(4, 1e9);
  std::vector<std::int64_t> first;
  for (int again = 0; again < 2; ++again) {
    std::vector<std::int64_t> order(static_cast<std::size_t>(grid.n)), begin(5);
    sxt_partition_args args{};
    args.h = {sizeof args, SXT_KIND_PARTITION};
    args.n = grid.n;
    args.index_type = args.offset_type = SXT_I32;
    args.row_ptr = grid.ptr.data();
    args.col = grid.col.data();
    args.members = 4;
    args.rate = rate.data();
    args.entry_bytes = 12;
    args.row_bytes = 20;
    args.order = order.data();
    args.begin = begin.data();
    Ready ready(metis(), &query.m.q, candidate_of(metis(), &query.m.q, 1));
    ASSERT_EQ(ready.run(&args.h), SXT_OK) << Host::sentence;
    std::vector<int> part(order.size());
    for (int m = 0; m < 4; ++m)
      for (std::int64_t k = begin[static_cast<std::size_t>(m)]; k < begin[static_cast<std::size_t>(m) + 1]; ++k)
        part[static_cast<std::size_t>(order[static_cast<std::size_t>(k)])] = m;
    int cut = 0;
    for (std::int64_t i = 0; i < grid.n; ++i)
      for (std::int32_t k = grid.ptr[static_cast<std::size_t>(i)]; k < grid.ptr[static_cast<std::size_t>(i) + 1]; ++k)
        cut +=
            part[static_cast<std::size_t>(i)] != part[static_cast<std::size_t>(grid.col[static_cast<std::size_t>(k)])];
    EXPECT_LT(cut / 2, 4 * 41) << "of 3280 edges";
    if (again > 0) {
      EXPECT_EQ(order, first);
    }
    first = order;
  }
}

}  // namespace
