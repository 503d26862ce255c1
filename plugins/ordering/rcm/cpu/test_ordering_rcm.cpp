// SPDX-License-Identifier: BSD-3-Clause
// ordering.rcm.cpu: what the kind's suite rejects, and tests beyond its cases: when the search gives up, and patterns
// without the mirrored entries.
#include <cstdint>
#include <numeric>

#include "sextant/plugin/kinds/ordering.h"
#include "tests/plugins/conformance.hpp"

namespace {

using namespace plugin_test;

const sxt_kernel &rcm() { return find_kernel(load_own("ordering-rcm"), "ordering.rcm.cpu"); }

struct Ordered {
  sxt_status status;
  std::vector<std::int32_t> perm;
  std::int64_t width, levels;
};

Ordered order(const std::vector<std::vector<std::int32_t>> &rows, std::int64_t most_width = 0) {
  const auto n = static_cast<std::int64_t>(rows.size());
  std::vector<std::int32_t> row_ptr{0}, col;
  for (const auto &row : rows) {
    col.insert(col.end(), row.begin(), row.end());
    row_ptr.push_back(static_cast<std::int32_t>(col.size()));
  }
  Ordered out{SXT_OK, std::vector<std::int32_t>(rows.size()), 0, 0};
  sxt_ordering_query query{};
  query.m.q = {{sizeof query, SXT_KIND_ORDERING}, 1, SXT_QUERY_MATRIX, SXT_F64};
  query.m.rows = query.m.cols = n;
  query.m.nnz = static_cast<std::int64_t>(col.size());
  sxt_ordering_args args{};
  args.h = {sizeof args, SXT_KIND_ORDERING};
  args.n = n;
  args.index_type = args.offset_type = SXT_I32;
  args.row_ptr = row_ptr.data();
  args.col = col.data();
  args.perm = out.perm.data();
  args.most_width = most_width;
  Ready ready(rcm(), &query.m.q, candidate_of(rcm(), &query.m.q, 1));
  out.status = ready.run(&args.h);
  out.width = args.width, out.levels = args.levels;
  return out;
}

// The suite itself: it detects a result that is not a permutation, and one that does not reduce the bandwidth.
TEST(OrderingKindTest, TheSuiteRejectsWrongOrders) {
  const Plugins plugins;
  const sxt_kind *kind = plugins.kind(SXT_KIND_ORDERING);
  ASSERT_NE(kind, nullptr);
  const auto error_of = [&](auto &&spoil) {
    Case got(*kind, 4), want(*kind, 4);  // a grid
    auto &args = *reinterpret_cast<sxt_ordering_args *>(got.value.args);
    Ready ready(rcm(), got.value.query, candidate_of(rcm(), got.value.query, 1));
    EXPECT_EQ(ready.run(&args.h), SXT_OK);
    spoil(args, static_cast<std::int32_t *>(args.perm));
    char text[256] = "";
    sxt_message message{text, sizeof text};
    double error = 0;
    EXPECT_EQ(kind->compare(&got.value, &want.value, &error, &message), SXT_OK);
    return error;
  };
  EXPECT_LE(error_of([](auto &, std::int32_t *) {}), 1);
  EXPECT_GT(error_of([](auto &, std::int32_t *perm) { perm[7] = perm[8]; }), 1);
  EXPECT_GT(error_of([](auto &args, std::int32_t *perm) { perm[0] = static_cast<std::int32_t>(args.n); }), 1);
  EXPECT_GT(error_of([](auto &, std::int32_t *perm) { std::swap(perm[3], perm[900]); }), 1);
  EXPECT_GT(error_of([](auto &args, std::int32_t *) { args.width /= 3; }), 1);
  EXPECT_GT(error_of([](auto &args, std::int32_t *perm) { perm[args.n] = 1; }), 1);
}

TEST(OrderingRcmTest, APathIsWalkedFromItsEnd) {
  const Ordered found = order({{2}, {2, 3}, {0, 1}, {1, 4}, {3}});  // 0 - 2 - 1 - 3 - 4
  EXPECT_EQ(found.status, SXT_OK);
  EXPECT_EQ(found.perm, (std::vector<std::int32_t>{0, 2, 1, 3, 4}));
  EXPECT_EQ(found.width, 1);
  EXPECT_EQ(found.levels, 5);
}

TEST(OrderingRcmTest, NeighboursGoByDegreeAndTiesByNumber) {
  // Row 0 at the rim; behind it 1, whose neighbours 2 (degree 3), 3 and 4 (degree 1) go 3, 4, 2, then 5 and 6.
  const Ordered found = order({{1}, {0, 2, 3, 4}, {1, 5, 6}, {1}, {1}, {2}, {2}});
  EXPECT_EQ(found.status, SXT_OK);
  EXPECT_EQ(found.levels, 4);
  std::vector<std::int32_t> seen = found.perm;
  std::reverse(seen.begin(), seen.end());  // in the order of the visit
  // From 5, the first of least degree in the last level of a search from 0.
  EXPECT_EQ(seen, (std::vector<std::int32_t>{5, 2, 6, 1, 0, 3, 4}));
}

TEST(OrderingRcmTest, GivesUpWhereALevelIsTooWide) {
  std::vector<std::vector<std::int32_t>> star(101);
  for (std::int32_t i = 1; i <= 100; ++i) star[0].push_back(i), star[static_cast<std::size_t>(i)] = {0};
  EXPECT_EQ(order(star, 100).status, SXT_OK);
  EXPECT_EQ(order(star, 98).status, SXT_NOT_APPLICABLE);
  EXPECT_NE(Host::sentence.find("98"), std::string::npos) << Host::sentence;
  EXPECT_EQ(order(star, 20).status, SXT_NOT_APPLICABLE);
}

// Mirrored entries are missing: every search from further down visits fewer rows, and a new start for each row would
// take hours.
TEST(OrderingRcmTest, OneWayPathsOfManyRowsAreOrderedAtOnce) {
  std::vector<std::vector<std::int32_t>> rows(300000);
  for (std::size_t i = 0; i + 1 < rows.size(); ++i) rows[i] = {static_cast<std::int32_t>(i + 1)};
  Ordered found = order(rows);
  EXPECT_EQ(found.status, SXT_OK);
  std::sort(found.perm.begin(), found.perm.end());
  std::vector<std::int32_t> all(rows.size());
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(found.perm, all);
}

// The second search visits all rows, the third from further down only one.
TEST(OrderingRcmTest, ALaterSearchThatMeetsLessLeavesAPermutation) {
  Ordered found = order({{0, 1, 3}, {0, 1, 2}, {1, 2}, {3}});
  EXPECT_EQ(found.status, SXT_OK);
  std::sort(found.perm.begin(), found.perm.end());
  EXPECT_EQ(found.perm, (std::vector<std::int32_t>{0, 1, 2, 3}));
}

TEST(OrderingRcmTest, SaysWhatItDoesNotOffer) {
  sxt_ordering_query query{};
  query.m.q = {{sizeof query, SXT_KIND_ORDERING}, 1, SXT_QUERY_MATRIX, SXT_F64};
  query.m.rows = query.m.cols = 10;
  EXPECT_EQ(refusal(rcm(), &query.m.q), "");
  query.m.cols = 11;
  EXPECT_NE(refusal(rcm(), &query.m.q).find("11 columns"), std::string::npos);
  query.m.cols = 10;
  std::strcpy(query.method, "metis");
  EXPECT_NE(refusal(rcm(), &query.m.q).find("rcm"), std::string::npos);
}

}  // namespace
