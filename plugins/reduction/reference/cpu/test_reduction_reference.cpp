// SPDX-License-Identifier: BSD-3-Clause
// reduction.reference.cpu on numbers a person can check, and the kind's defined answers.
#include <cmath>
#include <cstdint>
#include <limits>

#include "sextant/plugin/kinds/reduction.h"
#include "sextant/sdk/cases.hpp"
#include "tests/plugins/support.hpp"

namespace plugin_test {
namespace {

using sextant::plugin::cases::Array;
using sextant::plugin::cases::Wide;

const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();

template <class Result = double>
Result reduce(std::int32_t operation, sxt_value_type type, const std::vector<Wide> &x_values,
              const std::vector<Wide> &y_values = {}) {
  const sxt_kernel &kernel = find_kernel(load_own("reduction-reference"), "reduction.reference.cpu");
  const auto n = static_cast<std::int64_t>(x_values.size());
  Array x(type, n), y(type, n);
  for (std::int64_t i = 0; i < n; ++i) x.set(i, x_values[i]);
  for (std::size_t i = 0; i < y_values.size(); ++i) y.set(static_cast<std::int64_t>(i), y_values[i]);
  Result result{};
  const sxt_reduction_query query{{{sizeof query, SXT_KIND_REDUCTION}, 1, 0, type}, n, operation, 0};
  sxt_reduction_args args{{sizeof args, SXT_KIND_REDUCTION}, n, operation, 0, x.data(), y.data(), &result};
  Ready ready(kernel, &query.q, candidate_of(kernel, &query.q, 1));
  EXPECT_EQ(ready.run(&args.h), SXT_OK);
  return result;
}

TEST(ReductionReference, HandChecked) {
  EXPECT_EQ(reduce(SXT_REDUCTION_SUM, SXT_F64, {1, 2, -5}), -2);
  EXPECT_EQ(reduce(SXT_REDUCTION_DOT, SXT_F64, {1, 2, 3}, {4, 5, 6}), 32);
  EXPECT_EQ(reduce(SXT_REDUCTION_NRM2, SXT_F64, {3, -4}), 5);
  EXPECT_EQ(reduce(SXT_REDUCTION_ASUM, SXT_C128, {{1, -2}, {-3, 4}}), 10);
  EXPECT_EQ(reduce(SXT_REDUCTION_AMAX, SXT_C128, {{1, -2}, {-3, 4}}), 7);
  EXPECT_EQ(reduce<std::int64_t>(SXT_REDUCTION_IAMAX, SXT_F64, {1, -9, 9, 2}), 1);
  EXPECT_EQ(reduce<Wide>(SXT_REDUCTION_DOT, SXT_C128, {{0, 1}}, {{0, 1}}), Wide(-1));
  EXPECT_EQ(reduce<Wide>(SXT_REDUCTION_DOTC, SXT_C128, {{0, 1}}, {{0, 1}}), Wide(1));
}

TEST(ReductionReference, NothingGivesZero) {
  for (std::int32_t operation = SXT_REDUCTION_SUM; operation <= SXT_REDUCTION_AMAX; ++operation)
    EXPECT_EQ(reduce(operation, SXT_F64, {}), 0) << operation;
  EXPECT_EQ(reduce<std::int64_t>(SXT_REDUCTION_IAMAX, SXT_F64, {}), -1);
}

TEST(ReductionReference, ExtremesAndNonNumbers) {
  EXPECT_DOUBLE_EQ(reduce(SXT_REDUCTION_NRM2, SXT_F64, {3e300, 4e300}), 5e300);
  EXPECT_DOUBLE_EQ(reduce(SXT_REDUCTION_NRM2, SXT_F64, {3e-300, 4e-300}), 5e-300);
  EXPECT_EQ(reduce(SXT_REDUCTION_NRM2, SXT_F64, {1, -infinity}), infinity);
  for (std::int32_t operation = SXT_REDUCTION_SUM; operation <= SXT_REDUCTION_AMAX; ++operation)
    EXPECT_TRUE(std::isnan(reduce(operation, SXT_F64, {infinity, nan, 1}, {1, 1, 1}))) << operation;
  EXPECT_EQ(reduce<std::int64_t>(SXT_REDUCTION_IAMAX, SXT_F64, {infinity, nan, nan}), 1);
}

}  // namespace
}  // namespace plugin_test
