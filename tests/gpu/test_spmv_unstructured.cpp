// SPDX-License-Identifier: BSD-3-Clause
// Features computed on a GPU against those of the CPU, and products by kernels that cut a matrix into equal pieces of
// entries, on matrices large enough for many pieces, with rows that fill several.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/choose/selector.hpp"
#include "core/matrix/feature_index.hpp"
#include "sextant/plugin/kinds/spmv.h"
#include "sextant/sdk/cases.hpp"
#include "support.hpp"

namespace gpu_test {
namespace {

using sextant::plugin::cases::banded_pattern;
using sextant::plugin::cases::Matrix;
using sextant::plugin::cases::Pattern;
using sextant::plugin::cases::Random;
using sextant::plugin::cases::random_pattern;

using Handle = std::unique_ptr<sxt_matrix, void (*)(sxt_matrix *)>;

class UnstructuredOnGpu : public Gpu {
 protected:
  static Handle make(sxt_context *context, Matrix &host) {
    sxt_matrix_options options;
    sxt_matrix_options_init(&options, sizeof options);
    const sxt_csr &csr = host.csr();
    options.value_type = csr.s.value_type;
    sxt_matrix *matrix = nullptr;
    if (sxt_matrix_from_csr(context, csr.s.rows, csr.s.cols, csr.row_ptr, csr.col, csr.values, &options, &matrix) !=
        SXT_OK)
      throw std::runtime_error(sxt_last_error(context));
    return {matrix, sxt_matrix_destroy};
  }
  static double feature(sxt_context *context, const Handle &matrix, const std::string &name) {
    double value = std::nan("");
    EXPECT_EQ(sxt_matrix_feature(matrix.get(), name.c_str(), &value), SXT_OK) << sxt_last_error(context);
    return value;
  }

  // Entries by a power law: some rows and some columns hold a large part of them.
  Pattern power_law(std::int64_t n, double scale) {
    Pattern pattern{n, n, std::vector<std::vector<std::int64_t>>(static_cast<std::size_t>(n))};
    for (auto &row : pattern.row) {
      const auto count =
          static_cast<std::int64_t>(std::min(0.2 * static_cast<double>(n), scale / (random.uniform() + 1e-9)));
      for (std::int64_t k = 0; k < count; ++k) {
        const double u = random.uniform();
        row.push_back(static_cast<std::int64_t>(u * u * u * static_cast<double>(n)));
      }
      std::sort(row.begin(), row.end());
      row.erase(std::unique(row.begin(), row.end()), row.end());
    }
    return pattern;
  }
  std::vector<std::pair<std::string, Pattern>> patterns() {
    return {{"bands", banded_pattern(30000, 30000, {-170, -1, 0, 1, 170})},
            {"random", random_pattern(20000, 20000, random, [this](auto) { return random.below(30); })},
            {"power law", power_law(30000, 2)},
            {"long among short", random_pattern(1200, 4000, random, [](auto i) { return i % 5 ? i % 40 : 300 + i; })},
            {"long rows", random_pattern(3, 9000, random, [](auto i) { return 3000 + 1000 * i; })},
            {"mostly empty", random_pattern(50000, 200, random, [](auto i) { return i % 97 ? 0 : 20; })},
            {"one row", random_pattern(1, 5000, random, [](auto) { return 777; })}};
  }
  Random random{31, 5};
};

TEST_F(UnstructuredOnGpu, ExactFeaturesAreThoseOfTheCpu) {
  const Context cpu = open_context("cpu");
  ASSERT_NE(cpu, nullptr);
  std::vector<std::string> names = {
      "row_nnz_mean", "density",       "row_nnz_max",         "row_nnz_min",          "row_nnz_std",
      "empty_rows",   "row_nnz_third", "row_nnz_above_third", "row_nnz_sum_max_of_8", "row_nnz_sum_max_of_32",
      "bandwidth",    "diagonals",     "diagonal_fill",       "column_span_mean",     "symmetric_diagonals"};
  for (const char *width : {"4", "8", "16", "32"}) names.push_back(std::string("row_nnz_sum_ceil_") + width);
  for (const char *parts : {"2", "4", "8", "16", "32", "64"}) names.push_back(std::string("row_imbalance_") + parts);
  for (auto &[what, pattern] : patterns()) {
    Matrix host(pattern, SXT_F64, random);
    const Handle here = make(cpu.get(), host), there = make(context_.get(), host);
    for (const std::string &name : names) {
      const double want = feature(cpu.get(), here, name), got = feature(context_.get(), there, name);
      EXPECT_NEAR(got, want, 1e-10 * (1 + std::abs(want))) << name << " of " << what;
    }
  }
}

// The two samples see different rows of the same matrix.
TEST_F(UnstructuredOnGpu, SampledFeaturesAreCloseToThoseOfTheCpu) {
  const Context cpu = open_context("cpu");
  ASSERT_NE(cpu, nullptr);
  for (auto &[what, pattern] : patterns()) {
    if (what != "bands" && what != "random") continue;  // windows of uneven matrices differ
    Matrix host(pattern, SXT_F64, random);
    const Handle here = make(cpu.get(), host), there = make(context_.get(), host);
    for (const char *name : {"x_line_fraction", "x_miss_32k", "x_miss_1m", "block_fill_2", "block_fill_4"}) {
      const double want = feature(cpu.get(), here, name), got = feature(context_.get(), there, name);
      EXPECT_NEAR(got, want, 0.05 + 0.15 * want) << name << " of " << what;
    }
    EXPECT_LE(feature(context_.get(), there, "bandwidth_least"), feature(context_.get(), there, "bandwidth")) << what;
    EXPECT_LE(feature(context_.get(), there, "diagonals_least"), feature(context_.get(), there, "diagonals")) << what;
  }
}

// With so few entries the sample contains all rows.
TEST_F(UnstructuredOnGpu, FullestBlockRowsAreThoseOfTheDefinition) {
  Pattern pattern = random_pattern(500, 900, random, [this](auto) { return random.below(15); });
  for (const std::int64_t row : {77, 78, 300}) {
    pattern.row[static_cast<std::size_t>(row)].clear();
    for (std::int64_t j = row % 7; j < 900; j += row == 300 ? 5 : 2)
      pattern.row[static_cast<std::size_t>(row)].push_back(j);
  }
  Matrix host(pattern, SXT_F64, random);
  const Handle matrix = make(context_.get(), host);
  for (std::int64_t size = 2; size <= 8; ++size) {
    std::set<std::pair<std::int64_t, std::int64_t>> blocks;
    std::map<std::int64_t, int> of_row;
    for (std::size_t i = 0; i < pattern.row.size(); ++i)
      for (const std::int64_t j : pattern.row[i])
        if (blocks.emplace(static_cast<std::int64_t>(i) / size, j / size).second)
          ++of_row[static_cast<std::int64_t>(i) / size];
    int most = 0;
    for (const auto &[row, count] : of_row) most = std::max(most, count);
    EXPECT_EQ(feature(context_.get(), matrix, "block_row_most_" + std::to_string(size)), most) << size;
  }
}

TEST_F(UnstructuredOnGpu, FeaturesOfWarpsFollowTheirDefinition) {
  for (auto &[what, pattern] : patterns()) {
    Matrix host(pattern, SXT_F64, random);
    const Handle matrix = make(context_.get(), host);
    for (std::size_t lanes = 1; lanes <= 32; lanes *= 2) {
      double steps = 0;
      const std::size_t group = 32 / lanes;
      for (std::size_t i = 0; i < pattern.row.size(); i += group) {
        std::size_t most = 0;
        for (std::size_t j = i; j < std::min(i + group, pattern.row.size()); ++j)
          most = std::max(most, (pattern.row[j].size() + lanes - 1) / lanes);
        steps += static_cast<double>(most);
      }
      EXPECT_EQ(feature(context_.get(), matrix, "warp_steps_" + std::to_string(lanes)), steps) << lanes << ", " << what;
      const double sectors = feature(context_.get(), matrix, "x_sectors_" + std::to_string(lanes));
      const double tags = feature(context_.get(), matrix, "x_tags_" + std::to_string(lanes));
      EXPECT_LE(tags, sectors) << what;
      EXPECT_LE(sectors, 1) << what;
      EXPECT_GT(tags, 0) << what;
    }
    double sorted = 0;
    for (std::size_t window = 0; window < pattern.row.size(); window += 512) {
      std::vector<std::size_t> lengths(512, 0);
      for (std::size_t i = window; i < std::min(window + 512, pattern.row.size()); ++i)
        lengths[i - window] = pattern.row[i].size();
      std::sort(lengths.rbegin(), lengths.rend());
      for (std::size_t slice = 0; slice < 512; slice += 32) sorted += 32 * static_cast<double>(lengths[slice]);
    }
    EXPECT_EQ(feature(context_.get(), matrix, "row_nnz_sum_max_of_32_sorted"), sorted) << what;
    std::size_t most = 0;
    for (std::size_t i = 0; i < pattern.row.size(); i += 256) {
      std::size_t together = 0;
      for (std::size_t j = i; j < std::min(i + 256, pattern.row.size()); ++j) together += pattern.row[j].size();
      most = std::max(most, together);
    }
    EXPECT_EQ(feature(context_.get(), matrix, "row_nnz_most_of_256"), static_cast<double>(most)) << what;
  }
}

// Blocks of every size are found where they are, although samples begin at rows that most sizes do not divide.
TEST_F(UnstructuredOnGpu, FullBlocksOfEverySizeAreSeen) {
  for (std::int64_t size = 2; size <= 8; ++size) {
    const std::int64_t blocks = 3000;
    Pattern nodes = random_pattern(blocks, blocks, random, [this](auto) { return 1 + random.below(9); });
    Pattern pattern{blocks * size, blocks * size, {}};
    for (const auto &node : nodes.row)
      for (std::int64_t r = 0; r < size; ++r) {
        pattern.row.emplace_back();
        for (const std::int64_t j : node)
          for (std::int64_t c = 0; c < size; ++c) pattern.row.back().push_back(size * j + c);
      }
    Matrix host(pattern, SXT_F64, random);
    const Handle matrix = make(context_.get(), host);
    for (std::int64_t other = 2; other <= 8; ++other) {
      const double fill = feature(context_.get(), matrix, "block_fill_" + std::to_string(other));
      if (size % other == 0)
        EXPECT_EQ(fill, 1) << other << " of " << size;
      else
        EXPECT_LT(fill, 0.9) << other << " of " << size;
    }
  }
}

// Of many rows only some windows are sorted; the result holds for all where windows are similar.
TEST_F(UnstructuredOnGpu, SortedWindowsOfManyRowsAreSampled) {
  const std::int64_t n = 700000;
  Pattern pattern{n, 40, std::vector<std::vector<std::int64_t>>(static_cast<std::size_t>(n))};
  double want = 0;
  for (std::size_t i = 0; i < pattern.row.size(); ++i) {
    const std::int64_t length = 1 + static_cast<std::int64_t>(i % 37);
    for (std::int64_t j = 0; j < length; ++j) pattern.row[i].push_back(j);
  }
  std::vector<std::size_t> window(512);
  for (std::size_t begin = 0; begin < pattern.row.size(); begin += 512) {
    for (std::size_t i = 0; i < 512; ++i)
      window[i] = begin + i < pattern.row.size() ? pattern.row[begin + i].size() : 0;
    std::sort(window.rbegin(), window.rend());
    for (std::size_t slice = 0; slice < 512; slice += 32) want += 32 * static_cast<double>(window[slice]);
  }
  Matrix host(pattern, SXT_F64, random);
  const Handle matrix = make(context_.get(), host);
  EXPECT_NEAR(feature(context_.get(), matrix, "row_nnz_sum_max_of_32_sorted"), want, 0.005 * want);
  EXPECT_EQ(feature(context_.get(), matrix, "sorted_512_of_32"), 1);
}

// Features of the transpose are those of the rows of a matrix that was transposed on the host.
TEST_F(UnstructuredOnGpu, FeaturesOfTheTransposeAreThoseOfItsRows) {
  auto all = patterns();
  Pattern full = banded_pattern(20000, 20000, {0});
  for (auto &row : full.row)
    if (row.front() > 0) row.insert(row.begin(), 0);  // column 0 has an entry in every row
  all.emplace_back("a full column", full);
  all.emplace_back("no entry", Pattern{300, 700, std::vector<std::vector<std::int64_t>>(300)});
  std::vector<std::string> names = {"row_nnz_max", "empty_rows"};
  for (const char *lanes : {"1", "2", "4", "8", "16", "32"}) names.push_back(std::string("warp_steps_") + lanes);
  for (const char *shape : {"128_2", "128_8", "256_2", "256_8"}) names.push_back(std::string("tile_cuts_") + shape);
  for (const char *shape : {"512_128", "1024_128", "1024_256", "2048_256", "4096_512"})
    for (const char *of : {"tile_steps_", "tile_most_"}) names.push_back(std::string(of) + shape);
  for (auto &[what, pattern] : all) {
    Pattern turned{pattern.cols, pattern.rows,
                   std::vector<std::vector<std::int64_t>>(static_cast<std::size_t>(pattern.cols))};
    for (std::size_t i = 0; i < pattern.row.size(); ++i)
      for (const std::int64_t j : pattern.row[i])
        turned.row[static_cast<std::size_t>(j)].push_back(static_cast<std::int64_t>(i));
    Matrix host(pattern, SXT_F64, random), host_turned(turned, SXT_F64, random);
    const Handle matrix = make(context_.get(), host), transpose = make(context_.get(), host_turned);
    for (const std::string &name : names)
      EXPECT_EQ(feature(context_.get(), matrix, "transpose_" + name), feature(context_.get(), transpose, name))
          << name << " of " << what;
  }
}

TEST_F(UnstructuredOnGpu, OnlyTransposedProductsAskForFeaturesOfTheTranspose) {
  Matrix host(random_pattern(20000, 20000, random, [this](auto) { return random.below(30); }), SXT_F64, random);
  const Handle handle = make(context_.get(), host);
  sextant::Matrix &matrix = *handle->matrix;
  for (const sxt_op op : {SXT_NO_TRANSPOSE, SXT_TRANSPOSE}) {
    sxt_spmv_query query{};
    query.m = matrix.query_part(SXT_KIND_SPMV, sizeof query, 1e6);
    query.op = op;
    query.n_rhs = 1;
    sextant::Selector(matrix.context(), &matrix).select({sextant::Query(&query.m.q), "spmv"});
    EXPECT_EQ(matrix.knows_feature(sextant::feature_id("transpose_row_nnz_max")), op != SXT_NO_TRANSPOSE);
    EXPECT_TRUE(matrix.knows_feature(sextant::feature_id("row_nnz_max")));
  }
}

TEST_F(UnstructuredOnGpu, HubsAreFoundAndChanceIsNone) {
  Pattern hubs = random_pattern(200000, 400000, random, [](auto) { return 6; });
  Random other(8, 8);
  Matrix plain(hubs, SXT_F64, random);
  for (auto &row : hubs.row) {
    for (std::size_t k = 0; k < 3; ++k) row[k] = other.below(2000);  // half of all entries in 2000 columns
    std::sort(row.begin(), row.end());
    row.erase(std::unique(row.begin(), row.end()), row.end());
  }
  Matrix with(hubs, SXT_F64, random);
  EXPECT_NEAR(feature(context_.get(), make(context_.get(), with), "hub_share"), 0.5, 0.08);
  EXPECT_LT(feature(context_.get(), make(context_.get(), plain), "hub_share"), 0.08);
}

// Their cost in a choice: the best of several measurements, so that the clock and the host's part are small.
TEST_F(UnstructuredOnGpu, FeaturesCostLittle) {
  Matrix host(power_law(200000, 3), SXT_F64, random);
  const std::pair<const char *, std::vector<const char *>> tiers[] = {
      {"rows", {"row_nnz_max", "warp_steps_4", "row_nnz_sum_max_of_32_sorted", nullptr}},
      {"sample", {"x_sectors_4", "x_sector_miss_unit", "block_fill_2", nullptr}},
      {"sample with hubs", {"hub_share", "x_sectors_4", "x_sector_miss_unit", "block_fill_2", nullptr}},
      {"rows and sample", {"row_nnz_max", "warp_steps_4", "x_sectors_4", "x_sector_miss_unit", nullptr}},
      {"transpose", {"transpose_row_nnz_max", "transpose_warp_steps_4", "transpose_tile_steps_1024_128", nullptr}},
      {"columns", {"diagonals", "bandwidth", nullptr}}};
  for (const auto &[tier, names] : tiers) {
    double best = 1;
    for (int i = 0; i < 6; ++i) {
      const Handle matrix = make(context_.get(), host);
      matrix->matrix->storage(SXT_KIND_STORAGE_CSR);
      const auto start = std::chrono::steady_clock::now();
      for (const double value : matrix->matrix->features(names.data())) EXPECT_TRUE(std::isfinite(value)) << tier;
      best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    std::printf("[ features ] %-18s %6.1f us for %lld entries\n", tier, 1e6 * best,
                static_cast<long long>(host.csr().s.nnz));
    EXPECT_LT(best, 1e-3) << tier;
  }
}

// Kernels that cut rows: several pieces, pieces within a row, a row over many pieces, empty rows between.
TEST_F(UnstructuredOnGpu, RowsAcrossPiecesAreSummedOnce) {
  Pattern pattern = power_law(60000, 6);
  for (std::int64_t j = 0; j < 60000; ++j) pattern.row[777].push_back(j);  // dense: fills many pieces
  for (const std::size_t i : {std::size_t{777}}) {
    std::sort(pattern.row[i].begin(), pattern.row[i].end());
    pattern.row[i].erase(std::unique(pattern.row[i].begin(), pattern.row[i].end()), pattern.row[i].end());
  }
  for (std::size_t i = 20000; i < 30000; ++i) pattern.row[i].clear();
  Matrix host(pattern, SXT_F64, random);
  const Handle matrix = make(context_.get(), host);
  std::vector<double> x(60000), y(60000), size(60000), want(60000);
  for (double &value : x) value = random.symmetric();
  for (double &value : y) value = random.symmetric();
  const double alpha = 1.5, beta = -0.5;
  host.for_each([&](std::int64_t i, std::int64_t j, auto value) {
    const auto row = static_cast<std::size_t>(i);
    want[row] += value.real() * x[static_cast<std::size_t>(j)];
    size[row] += std::abs(value.real() * x[static_cast<std::size_t>(j)]);
  });
  for (const char *kernel : {"spmv.coo.segmented.cuda", "spmv.csr.hubs.cuda", "spmv.coo.atomic.cuda"}) {
    const Vector x_there = make_vector(x), y_there = make_vector(y);
    sxt_spmv_query query{};
    query.m.q.h = {sizeof query, SXT_KIND_SPMV};
    query.m.q.expected_runs = 100;
    query.m.q.flags = SXT_QUERY_MATRIX;
    query.m.q.value_type = SXT_F64;
    query.n_rhs = 1;
    ASSERT_EQ(sxt_context_force(context_.get(), SXT_KIND_SPMV, kernel), SXT_OK);
    sxt_selection *selection = nullptr;
    ASSERT_EQ(sxt_kernel_select(context_.get(), &query.m.q, matrix.get(), &selection), SXT_OK)
        << sxt_last_error(context_.get());
    sxt_spmv_args args{};
    args.h = {sizeof args, SXT_KIND_SPMV};
    args.n_rhs = 1;
    args.alpha.value = &alpha;
    args.beta.value = &beta;
    args.x = sxt_vector_data(x_there.get());
    args.y = sxt_vector_data(y_there.get());
    EXPECT_EQ(sxt_kernel_run(selection, &args.h), SXT_OK) << sxt_last_error(context_.get());
    sxt_selection_destroy(selection);
    const std::vector<double> got = values_of(y_there);
    for (std::size_t i = 0; i < got.size(); ++i) {
      const double bound =
          (static_cast<double>(pattern.row[i].size()) + 8) * 2.3e-16 * (alpha * size[i] + std::abs(beta * y[i]));
      ASSERT_NEAR(got[i], alpha * want[i] + beta * y[i], bound + 1e-300) << kernel << ", row " << i;
    }
  }
}

}  // namespace
}  // namespace gpu_test
