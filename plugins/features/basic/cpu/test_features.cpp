// SPDX-License-Identifier: BSD-3-Clause
// Feature kernels: a 4 x 5 matrix a person can check, then every kernel against the reference by name.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <map>
#include <vector>

#include "plugins/features/shared/footprint.hpp"
#include "sextant/plugin/kinds/features.h"
#include "sextant/sdk/cases.hpp"
#include "tests/plugins/support.hpp"

namespace plugin_test {
namespace {

using namespace sextant::plugin;
using namespace sextant::plugin::cases;

const sxt_plugin *plugin() {
  static const sxt_plugin *loaded = load_own("features-basic");
  return loaded;
}

std::map<std::string, double> features_of(const sxt_kernel &kernel, const Pattern &pattern, int threads = 4,
                                          sxt_value_type type = SXT_F64) {
  Random random(1, 1);
  Matrix matrix(pattern, type, random);
  sxt_matrix_query query = matrix.query(SXT_KIND_FEATURES, sizeof query, type);
  Ready ready(kernel, &query.q, ask_candidates(kernel, &query.q, make_machine(threads))[0], &matrix.csr().s.h);
  const char *const *names = static_cast<const sxt_features_ops *>(kernel.ops)->names;
  std::uint64_t count = 0;
  while (names[count]) ++count;
  std::vector<double> values(count + 1, -7);
  sxt_features_args args = {head<sxt_features_args>(SXT_KIND_FEATURES), count, names, values.data()};
  EXPECT_EQ(ready.run(&args.h), SXT_OK);
  EXPECT_EQ(values[count], -7) << kernel.name << " writes beyond its count";
  std::map<std::string, double> found;
  for (std::uint64_t i = 0; i < count; ++i) found[names[i]] = values[i];
  return found;
}

const sxt_kernel &kernel(const char *name) { return find_kernel(plugin(), name); }

TEST(Features, HandChecked) {
  // Rows: {0, 4}, {}, {2}, {0, 1, 3}; diagonals 0 (twice), 4, -3, -2.
  const Pattern pattern = {4, 5, {{0, 4}, {}, {2}, {0, 1, 3}}};
  const std::map<std::string, double> sizes = {{"row_nnz_mean", 1.5}, {"density", 0.3}};
  const std::map<std::string, double> rows = {{"row_nnz_max", 3},
                                              {"row_nnz_min", 0},
                                              {"row_nnz_std", std::sqrt(1.25)},
                                              {"empty_rows", 1},
                                              {"row_nnz_third", 2},        // two of four rows have 2, only one has 3
                                              {"row_nnz_above_third", 1},  // the third entry of the last row
                                              {"row_nnz_sum_ceil_4", 12},
                                              {"row_nnz_sum_ceil_8", 24},
                                              {"row_nnz_sum_ceil_16", 48},
                                              {"row_nnz_sum_ceil_32", 96},
                                              {"row_nnz_sum_max_of_8", 24},
                                              {"row_nnz_sum_max_of_32", 96},
                                              {"row_imbalance_2", 4.0 / 3},  // 2 and 4 entries
                                              {"row_imbalance_4", 2},        // 2, 0, 1 and 3
                                              {"row_imbalance_8", 4},
                                              {"row_imbalance_16", 8},
                                              {"row_imbalance_32", 16},
                                              {"row_imbalance_64", 32}};
  const std::map<std::string, double> columns = {{"bandwidth", 4},
                                                 {"diagonals", 4},
                                                 {"diagonal_fill", 6.0 / 16},
                                                 {"column_span_mean", (4 + 0 + 0 + 3) / 4.0},
                                                 {"symmetric_diagonals", 4}};
  EXPECT_EQ(features_of(kernel("features.sizes.cpu"), pattern), sizes);
  EXPECT_EQ(features_of(kernel("features.rows.cpu"), pattern), rows);
  EXPECT_EQ(features_of(kernel("features.columns.cpu"), pattern), columns);
  auto sample = features_of(kernel("features.sample.cpu"), pattern);
  EXPECT_EQ(sample["block_fill_2"], 6.0 / 16);  // two blocks above, two below
  EXPECT_EQ(sample["block_fill_8"], 6.0 / 64);
  EXPECT_EQ(sample["bandwidth_least"], 4);
  EXPECT_EQ(sample["diagonals_least"], 4);
  EXPECT_EQ(sample["strips_of_8"], 4);  // one of three lanes, three of one; gathering would take two columns for these
  EXPECT_EQ(sample["strips_of_8_gathered"], 0);
  EXPECT_EQ(sample["x_line_fraction"], 1.0 / 6);  // all in one line
}

TEST(Features, AMirroredDiagonalCountsOnceForSymmetricStorage) {
  const Pattern both = banded_pattern(9, 9, {-8, -1, 0, 1, 2}), lower = banded_pattern(9, 9, {-8, -3});
  EXPECT_EQ(features_of(kernel("features.columns.cpu"), both)["symmetric_diagonals"], 4);
  EXPECT_EQ(features_of(kernel("features.columns.cpu"), lower)["symmetric_diagonals"], 2);
}

TEST(Features, DiagonalsAreCountedOnBothSidesOfTheSizeToWhichTheyAreMarkedInBytes) {
  for (const std::int64_t cols : {999, 1048576 - 1000, 1048576 - 999}) {  // with 1000 rows, bytes up to 2^20
    Pattern pattern = {1000, cols, {{cols - 1}, {0, 65}, {}, {3, 4}}};
    pattern.row.resize(1000);
    pattern.row.back() = {0};
    const std::map<std::string, double> found = features_of(kernel("features.columns.cpu"), pattern, 3);
    EXPECT_EQ(found.at("diagonals"), 6) << cols;  // cols - 1, -1, 64, 0, 1, -999
    EXPECT_EQ(found.at("bandwidth"), std::max<double>(999, static_cast<double>(cols - 1))) << cols;
    // 1 and -1 are one distance; so are 999 and -999.
    EXPECT_EQ(found.at("symmetric_diagonals"), 5) << cols;
  }
}

TEST(Features, ThreadsChangeNothing) {
  Random random(3, 0);
  // Above the sizes from which teams form.
  const Pattern pattern =
      random_pattern(150000, 3000, random, [&](auto i) { return i % 50000 ? random.below(5) : 1500; });
  for (const char *name : {"features.rows.cpu", "features.columns.cpu", "features.sample.cpu"})
    EXPECT_EQ(features_of(kernel(name), pattern, 1), features_of(kernel(name), pattern, 3)) << name;
}

TEST(Features, EveryKernelAnswersWhatIsAskedInTheOrderAsked) {
  const Pattern pattern = banded_pattern(40, 40, {-1, 0, 1});
  Random random(1, 1);
  Matrix matrix(pattern, SXT_F64, random);
  sxt_matrix_query query = matrix.query(SXT_KIND_FEATURES, sizeof query, SXT_F64);
  for (std::uint64_t i = 0; i < plugin()->n_kernels; ++i) {
    const sxt_kernel &each = *plugin()->kernels[i];
    SCOPED_TRACE(each.name);
    const char *const *own = static_cast<const sxt_features_ops *>(each.ops)->names;
    const char *const asked[] = {own[1], "no_such_feature", own[0]};
    double values[] = {-7, -7, -7, -7};
    sxt_features_args args = {head<sxt_features_args>(SXT_KIND_FEATURES), 3, asked, values};
    Ready ready(each, &query.q, ask_candidates(each, &query.q, make_machine())[0], &matrix.csr().s.h);
    ASSERT_EQ(ready.run(&args.h), SXT_OK);
    const auto all = features_of(each, pattern);
    EXPECT_EQ(values[0], all.at(own[1]));
    EXPECT_TRUE(std::isnan(values[1]));
    EXPECT_EQ(values[2], all.at(own[0]));
    EXPECT_EQ(values[3], -7) << "written beyond the count";
  }
}

TEST(Features, XIsStreamedByABandAndMissedByARandomPattern) {
  // 3 entries a row close to the diagonal: eight rows a line, so one entry in 24 needs a new line, for every cache
  // size.
  auto band = features_of(kernel("features.sample.cpu"), banded_pattern(120000, 120000, {-1, 0, 1}));
  EXPECT_NEAR(band["x_line_fraction"], 1.0 / 24, 0.002);
  EXPECT_NEAR(band["x_miss_32k"], 1.0 / 24, 0.002);
  EXPECT_NEAR(band["x_miss_1m"], 1.0 / 24, 0.002);
  EXPECT_EQ(band["x_miss_32m"], 0) << "4 MB of matrix and 1 MB of x stay in 32 MB";
  // 2 entries a row anywhere in a million columns: nearly every one misses even a megabyte of cache.
  Random random(9, 0);
  auto wild =
      features_of(kernel("features.sample.cpu"), random_pattern(60000, 1000000, random, [](auto) { return 2; }));
  EXPECT_GT(wild["x_line_fraction"], 0.98);
  EXPECT_GT(wild["x_miss_32k"], 0.95);
  EXPECT_GT(wild["x_miss_1m"], 0.75);
  EXPECT_EQ(wild["x_miss_32m"], 0);
  // The machine's own caches (1 MiB a unit, 32 MiB shared).
  EXPECT_EQ(wild["x_miss_unit_cache"], wild["x_miss_1m"]);
  EXPECT_EQ(wild["x_miss_cache"], wild["x_miss_32m"]);
}

// Caches are solved for piece by piece: each window is the one where the cache is just full.
TEST(Features, WhatACacheKeepsOfAWalkFillsIt) {
  Footprint walk;
  walk.set_entries(1e6);
  double lines = 0;
  for (int power = 9; power <= 18; ++power) walk.add(power, lines += 40 * power);
  walk.set_most_lines(lines + 500);
  for (const double bytes : {1.0, 3000.0, 40000.0, 200000.0, 300000.0}) {
    EXPECT_NEAR(64 * walk.lines(walk.window_of_bytes(bytes)), bytes, 1e-9 * bytes);
    double low = 0, high = 1e6;  // A's 12 bytes an entry pass through the cache as well
    for (int i = 0; i < 60; ++i) {
      const double middle = (low + high) / 2;
      (12 * middle + 64 * walk.lines(middle) < bytes ? low : high) = middle;
    }
    EXPECT_NEAR(walk.misses(bytes, 12), walk.new_lines(low), 1e-12) << bytes;
  }
  EXPECT_EQ(walk.window_of_bytes(64 * (lines + 500)), 1e6) << "all of x fits";
  EXPECT_GT(walk.misses(3e6, 12), 0);
  EXPECT_EQ(walk.misses(11e6, 12), 0) << "x was read before, but A passes through the cache";
  EXPECT_EQ(walk.misses(13e6, 12), 0) << "all of it fits";
}

TEST(Features, ALineHoldsTwiceAsManySingles) {
  const Pattern band = banded_pattern(60000, 60000, {-1, 0, 1});
  const double f64 = features_of(kernel("features.sample.cpu"), band, 4, SXT_F64)["x_line_fraction"];
  const double f32 = features_of(kernel("features.sample.cpu"), band, 4, SXT_F32)["x_line_fraction"];
  EXPECT_NEAR(f32, f64 / 2, 0.002);
}

TEST(Features, ASampleFindsBlocks) {
  // 4 x 4 blocks on and beside the diagonal of a matrix much larger than the sample.
  Pattern pattern{24000, 24000, {}};
  for (std::int64_t i = 0; i < pattern.rows; ++i) {
    auto &row = pattern.row.emplace_back();
    for (std::int64_t j = i / 4 * 4; j < std::min(pattern.cols, i / 4 * 4 + 8); ++j) row.push_back(j);
  }
  auto found = features_of(kernel("features.sample.cpu"), pattern);
  EXPECT_EQ(found["block_fill_2"], 1);
  EXPECT_EQ(found["block_fill_4"], 1);
  EXPECT_EQ(found["block_fill_8"], 0.5);  // two blocks a block row, each half full
  EXPECT_LT(found["block_fill_3"], 0.8);
}

TEST(Features, EveryKernelAgreesWithTheReferenceOnTheKindsCases) {
  const sxt_kind &kind = *plugin()->kinds[0];
  for (std::uint64_t i = 0; i < kind.n_cases; ++i) {
    sxt_case want{};
    ASSERT_EQ(kind.make_case(Host::table(), 5, i, &want), SXT_OK);
    const auto answer = [&](const sxt_kernel &each, const sxt_case &c) {
      Ready ready(each, c.query, ask_candidates(each, c.query, make_machine())[0], c.a);
      EXPECT_EQ(ready.run(c.args), SXT_OK);
    };
    answer(*kind.reference, want);
    for (std::uint64_t k = 0; k < plugin()->n_kernels; ++k) {
      SCOPED_TRACE(std::string(plugin()->kernels[k]->name) + " on case " + std::to_string(i));
      sxt_case got{};
      ASSERT_EQ(kind.make_case(Host::table(), 5, i, &got), SXT_OK);
      answer(*plugin()->kernels[k], got);
      char text[256] = "";
      sxt_message message{text, sizeof text};
      double error = -1;
      ASSERT_EQ(kind.compare(&got, &want, &error, &message), SXT_OK);
      EXPECT_LE(error, 1) << text;
      // A wrong value of a feature that the kernel lists is detected.
      auto &values = const_cast<sxt_features_args &>(as<sxt_features_args>(got.args));
      for (std::uint64_t v = 0; v < values.count; ++v)
        if (!std::isnan(values.values[v])) values.values[v] += 1;
      ASSERT_EQ(kind.compare(&got, &want, &error, &message), SXT_OK);
      EXPECT_GT(error, 1);
      kind.free_case(&got);
    }
    kind.free_case(&want);
  }
}

TEST(Features, TiersSayWhatIsRead) {
  const auto tier = [](const char *name) { return static_cast<const sxt_features_ops *>(kernel(name).ops)->tier; };
  EXPECT_EQ(tier("features.sizes.cpu"), 0);
  EXPECT_EQ(tier("features.rows.cpu"), 1);
  EXPECT_EQ(tier("features.sample.cpu"), 2);
  EXPECT_EQ(tier("features.columns.cpu"), 3);
}

// Rows without entries cost the sample nothing: a pass over their pointers takes longer. It once read all of them for
// each block size.
TEST(Features, RowsWithoutEntriesAreNotSampledOneByOne) {
  const std::int64_t rows = std::int64_t{1} << 24;
  std::vector<std::int32_t> row_ptr(static_cast<std::size_t>(rows + 1));
  const std::vector<std::int32_t> col = {5, 6, 1, 1};
  const std::vector<double> values(4, 1);
  for (const std::size_t row : {5, 6, 100000, 100001}) ++row_ptr[row + 1];
  for (std::size_t i = 0; i < row_ptr.size() - 1; ++i) row_ptr[i + 1] += row_ptr[i];
  sxt_csr a{};
  a.s.h = {sizeof a, SXT_KIND_STORAGE_CSR};
  a.s.value_type = SXT_F64;
  a.s.index_type = a.s.offset_type = SXT_I32;
  a.s.rows = a.s.cols = rows;
  a.s.nnz = 4;
  a.row_ptr = row_ptr.data(), a.col = col.data(), a.values = values.data();
  sxt_matrix_query query{};
  query.q.h = {sizeof query, SXT_KIND_FEATURES};
  query.q.flags = SXT_QUERY_MATRIX;
  query.q.value_type = query.matrix_type = SXT_F64;
  query.rows = query.cols = rows;
  query.nnz = 4;
  const sxt_kernel &sample = kernel("features.sample.cpu");
  Ready ready(sample, &query.q, ask_candidates(sample, &query.q, make_machine(1))[0], &a.s.h);
  const char *const names[] = {"block_fill_2", "block_fill_8", "bandwidth_least", "diagonals_least", nullptr};
  double found[4] = {};
  sxt_features_args args = {head<sxt_features_args>(SXT_KIND_FEATURES), 4, names, found};
  const auto seconds = [](auto &&f) {
    const auto start = std::chrono::steady_clock::now();
    f();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  double sampled = HUGE_VAL, passed = HUGE_VAL;
  for (int i = 0; i < 3; ++i) {
    sampled = std::min(sampled, seconds([&] { EXPECT_EQ(ready.run(&args.h), SXT_OK); }));
    passed = std::min(passed, seconds([&] {
                        std::int32_t longest = 0;
                        for (std::size_t r = 0; r + 1 < row_ptr.size(); ++r)
                          longest = std::max(longest, row_ptr[r + 1] - row_ptr[r]);
                        EXPECT_EQ(longest, 1);
                      }));
  }
  EXPECT_LT(sampled, passed);
  EXPECT_DOUBLE_EQ(found[0], 4.0 / (3 * 4));  // rows 5 and 6 lie in two blocks of 2, the others in one
  EXPECT_DOUBLE_EQ(found[1], 4.0 / (2 * 64));
  EXPECT_EQ(found[2], 100000);
  EXPECT_EQ(found[3], 3);
}

}  // namespace
}  // namespace plugin_test
