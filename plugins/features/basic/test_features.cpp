// SPDX-License-Identifier: BSD-3-Clause
// Feature kernels: a 4 x 5 matrix a person can check, then every kernel against the reference by name.
#include <cmath>
#include <cstdint>
#include <map>

#include "sextant/kinds/features.h"
#include "sextant/plugin_cases.hpp"
#include "tests/plugins/support.hpp"

namespace plugin_test {
namespace {

using namespace sextant::plugin;
using namespace sextant::plugin::cases;

const sxt_plugin *plugin() {
  static const sxt_plugin *loaded = load_own("features-basic");
  return loaded;
}

std::map<std::string, double> features_of(const sxt_kernel &kernel, const Pattern &pattern) {
  Random random(1, 1);
  Matrix matrix(pattern, SXT_F64, random);
  sxt_matrix_query query = matrix.query(SXT_KIND_FEATURES, sizeof query, SXT_F64);
  Ready ready(kernel, &query.q, ask_candidates(kernel, &query.q, make_machine())[0], &matrix.csr().s.h);
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

TEST(Features, HandChecked) {
  // Rows: {0, 4}, {}, {2}, {0, 1, 3}; diagonals 0 (twice), 4, -3, -2.
  const Pattern pattern = {4, 5, {{0, 4}, {}, {2}, {0, 1, 3}}};
  const std::map<std::string, double> rows = {{"row_nnz_mean", 1.5},
                                              {"row_nnz_max", 3},
                                              {"row_nnz_min", 0},
                                              {"row_nnz_std", std::sqrt(1.25)},
                                              {"empty_rows", 1}};
  const std::map<std::string, double> columns = {
      {"bandwidth", 4}, {"diagonals", 4}, {"diagonal_fill", 6.0 / 16}, {"column_span_mean", (4 + 0 + 0 + 3) / 4.0}};
  EXPECT_EQ(features_of(find_kernel(plugin(), "features.basic.cpu"), pattern), rows);
  EXPECT_EQ(features_of(find_kernel(plugin(), "features.columns.cpu"), pattern), columns);
}

TEST(Features, EveryKernelAgreesWithTheReferenceByName) {
  Random random(5, 0);
  const auto lengths = [&](std::int64_t most) { return [&random, most](auto) { return random.below(most + 1); }; };
  const Pattern patterns[] = {{},
                              {1, 1, {{}}},
                              {9, 0, std::vector<std::vector<std::int64_t>>(9)},
                              banded_pattern(1, 1, {0}),
                              banded_pattern(500, 500, {-20, -1, 0, 1, 20}),
                              banded_pattern(200, 200, {-199, 199}),
                              random_pattern(64, 64, random, lengths(64)),
                              random_pattern(300, 20, random, lengths(6)),
                              random_pattern(20, 300, random, lengths(40)),
                              random_pattern(400, 400, random, [](auto i) { return i == 11 ? 400 : i % 3; })};
  for (const Pattern &pattern : patterns) {
    SCOPED_TRACE(std::to_string(pattern.rows) + " x " + std::to_string(pattern.cols));
    const auto expected = features_of(find_kernel(plugin(), "features.reference.cpu"), pattern);
    for (const char *name : {"features.basic.cpu", "features.columns.cpu"})
      for (const auto &[feature, value] : features_of(find_kernel(plugin(), name), pattern)) {
        ASSERT_TRUE(expected.count(feature)) << feature;
        EXPECT_NEAR(value, expected.at(feature), 1e-12 * (1 + std::abs(value))) << feature;
      }
  }
}

TEST(Features, TiersSayWhatIsRead) {
  EXPECT_EQ(static_cast<const sxt_features_ops *>(find_kernel(plugin(), "features.basic.cpu").ops)->tier, 1);
  EXPECT_EQ(static_cast<const sxt_features_ops *>(find_kernel(plugin(), "features.columns.cpu").ops)->tier, 3);
}

}  // namespace
}  // namespace plugin_test
