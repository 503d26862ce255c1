// SPDX-License-Identifier: BSD-3-Clause
// The kernels of kind sxt.partition/1 on rows a person can check, and the kind's suite: over every kernel, and that it
// finds divisions that are none.
#include <cstdint>
#include <string>
#include <vector>

#include "sextant/plugin/kinds/partition.h"
#include "tests/plugins/conformance.hpp"

namespace plugin_test {
namespace {

const sxt_kernel &kernel(const char *name) { return find_kernel(load_own("partition-rows"), name); }

sxt_partition_query query_of(std::int64_t n, std::int32_t members, const char *method = "", bool keeps_order = false) {
  sxt_partition_query query{};
  query.m.q = {{sizeof query, SXT_KIND_PARTITION}, 1, SXT_QUERY_MATRIX, SXT_F64};
  query.m.rows = query.m.cols = n;
  query.members = members;
  query.keeps_order = keeps_order;
  std::snprintf(query.method, sizeof query.method, "%s", method);
  return query;
}

// Six rows of 1, 1, 1, 3, 3, 3 entries, for members of equal or given rates.
struct Six {
  explicit Six(std::vector<double> rates, std::vector<std::int64_t> way = {}) : rate(rates), along(way) {
    begin.assign(rate.size() + 1, -1);
    args.h = {sizeof args, SXT_KIND_PARTITION};
    args.n = 6;
    args.index_type = args.offset_type = SXT_I32;
    args.row_ptr = ptr;
    args.col = col;
    args.along = along.empty() ? nullptr : along.data();
    args.members = static_cast<std::int32_t>(rate.size());
    args.rate = rate.data();
    args.entry_bytes = 1;
    args.order = order.data();
    args.begin = begin.data();
  }
  sxt_status run(const char *name) {
    const sxt_partition_query query = query_of(6, args.members);
    Ready ready(kernel(name), &query.m.q, candidate_of(kernel(name), &query.m.q, 1));
    return ready.run(&args.h);
  }
  const std::int32_t ptr[7] = {0, 1, 2, 3, 6, 9, 12}, col[12] = {0, 1, 2, 3, 4, 5, 3, 4, 5, 3, 4, 5};
  std::vector<double> rate;
  std::vector<std::int64_t> along, order = std::vector<std::int64_t>(6, -1), begin;
  sxt_partition_args args{};
};

TEST(PartitionRows, HandChecked) {
  Six halves({1, 1});
  ASSERT_EQ(halves.run("partition.contiguous.cpu"), SXT_OK);
  EXPECT_EQ(halves.order, (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(halves.begin, (std::vector<std::int64_t>{0, 4, 6})) << "six entries each";
  Six unequal({1, 3});
  ASSERT_EQ(unequal.run("partition.contiguous.cpu"), SXT_OK);
  EXPECT_EQ(unequal.begin, (std::vector<std::int64_t>{0, 3, 6})) << "three and nine";
  Six fastest({1, 3, 2});
  ASSERT_EQ(fastest.run("partition.one.cpu"), SXT_OK);
  EXPECT_EQ(fastest.begin, (std::vector<std::int64_t>{0, 0, 6, 6}));
  Six along({1, 1}, {5, 4, 3, 2, 1, 0});
  ASSERT_EQ(along.run("partition.rcm.cpu"), SXT_OK);
  EXPECT_EQ(along.order, along.along);
  EXPECT_EQ(along.begin, (std::vector<std::int64_t>{0, 2, 6}));
}

TEST(PartitionRows, BadArgumentsAreNamed) {
  const auto refused = [](Six six, const char *name, const char *says) {
    EXPECT_EQ(six.run(name), SXT_E_ARGUMENT);
    EXPECT_NE(Host::sentence.find(says), std::string::npos) << Host::sentence;
  };
  refused(Six({1, 0}), "partition.contiguous.cpu", "a rate is not above 0");
  refused(Six({1, 1}), "partition.rcm.cpu", "along is NULL");
}

TEST(PartitionRows, RefusalsSayWhy) {
  const sxt_partition_query keeps = query_of(10, 2, "", true), named = query_of(10, 2, "metis");
  EXPECT_EQ(refusal(kernel("partition.contiguous.cpu"), &keeps.m.q), "");
  EXPECT_NE(refusal(kernel("partition.rcm.cpu"), &keeps.m.q).find("ask for it by name"), std::string::npos);
  EXPECT_NE(refusal(kernel("partition.one.cpu"), &keeps.m.q).find("ask for it by name"), std::string::npos);
  EXPECT_NE(refusal(kernel("partition.one.cpu"), &named.m.q).find("it divides by one"), std::string::npos);
}

TEST(PartitionKind, EveryPartitionPassesTheSuite) {
  const Plugins plugins;
  const sxt_kind *kind = plugins.kind(SXT_KIND_PARTITION);
  ASSERT_NE(kind, nullptr);
  int kernels = 0;
  for (const sxt_kernel *each : plugins.kernels) {
    if (std::string(each->kind) != SXT_KIND_PARTITION || std::string(each->device) != "cpu") continue;
    const sxt_partition_query query = query_of(10, 2);
    if (refusal(*each, &query.m.q).find("libmetis") != std::string::npos) continue;  // not installed
    EXPECT_EQ(check_kernel(plugins, *kind, *each).run, static_cast<int>(kind->n_cases)) << each->name;
    ++kernels;
  }
  EXPECT_GE(kernels, 3);
}

TEST(PartitionKind, TheSuiteRejectsWhatIsNoDivision) {
  const Plugins plugins;
  const sxt_kind *kind = plugins.kind(SXT_KIND_PARTITION);
  ASSERT_NE(kind, nullptr);
  constexpr std::uint64_t three_members = 7;  // of a grid
  const auto error_of = [&](auto &&spoil) {
    Case got(*kind, three_members), want(*kind, three_members);
    const sxt_kernel &by = kernel("partition.contiguous.cpu");
    Ready ready(by, got.value.query, candidate_of(by, got.value.query, 1));
    EXPECT_EQ(ready.run(want.value.args), SXT_OK);
    auto &args = *reinterpret_cast<sxt_partition_args *>(got.value.args);
    EXPECT_EQ(args.members, 3);
    EXPECT_EQ(ready.run(&args.h), SXT_OK);
    spoil(args);
    char text[256] = "";
    sxt_message message{text, sizeof text};
    double error = 0;
    EXPECT_EQ(kind->compare(&got.value, &want.value, &error, &message), SXT_OK);
    return error;
  };
  EXPECT_LE(error_of([](sxt_partition_args &) {}), 1);
  EXPECT_GT(error_of([](sxt_partition_args &a) { a.order[3] = a.order[4]; }), 1);
  EXPECT_GT(error_of([](sxt_partition_args &a) { a.order[3] = a.n; }), 1);
  EXPECT_GT(error_of([](sxt_partition_args &a) { a.begin[1] = a.begin[2] + 1; }), 1);
  EXPECT_GT(error_of([](sxt_partition_args &a) { a.begin[1] = 1; }), 1) << "the second has far more than its share";
  EXPECT_GT(error_of([](sxt_partition_args &a) { a.begin[a.members] = a.n - 1; }), 1);
  EXPECT_GT(error_of([](sxt_partition_args &a) { a.order[a.n] = 0; }), 1) << "beyond the answer";
}

}  // namespace
}  // namespace plugin_test
