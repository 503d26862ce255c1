// SPDX-License-Identifier: BSD-3-Clause
// convert.reference.cpu on numbers a person can check: both directions, scales, ends of the range; refusals.
#include <cmath>
#include <limits>

#include "sextant/plugin/kinds/convert.h"
#include "tests/plugins/support.hpp"

namespace plugin_test {
namespace {

const sxt_kernel &kernel() { return find_kernel(load_own("convert-reference"), "convert.reference.cpu"); }

sxt_convert_query query_of(std::int32_t operation, std::int64_t n, sxt_value_type type = SXT_F64) {
  return {{{sizeof(sxt_convert_query), SXT_KIND_CONVERT}, 1, 0, type}, n, operation, 0};
}

TEST(ConvertReference, HandChecked) {
  const double wide[] = {3, -8, 1 + 0x1p-24, 0x1p900}, scale[] = {2, 0.25, 1, 0x1p-900};
  float narrow[4] = {};
  sxt_convert_args args{{sizeof args, SXT_KIND_CONVERT}, 4, SXT_CONVERT_NARROW, 0, 0.5, 0, scale, wide, narrow};
  const sxt_convert_query to = query_of(SXT_CONVERT_NARROW, 4), back = query_of(SXT_CONVERT_ADD, 4);
  Ready narrows(kernel(), &to.q, candidate_of(kernel(), &to.q, 1)),
      adds(kernel(), &back.q, candidate_of(kernel(), &back.q, 1));
  ASSERT_EQ(narrows.run(&args.h), SXT_OK);
  EXPECT_EQ(narrow[0], 3);
  EXPECT_EQ(narrow[1], -1);
  EXPECT_EQ(narrow[3], 0.5f);
  EXPECT_EQ(narrow[2], 0.5f) << "half a unit is rounded to even";
  double sum[] = {10, 10, 10, 10};
  args.operation = SXT_CONVERT_ADD, args.x = narrow, args.y = sum, args.alpha = 0x1p-800, args.beta = 0x1p801;
  ASSERT_EQ(adds.run(&args.h), SXT_OK);
  EXPECT_EQ(sum[0], 22);
  EXPECT_EQ(sum[1], 9.5);
  EXPECT_EQ(sum[2], 11) << "alpha and beta are not multiplied first";
}

TEST(ConvertReference, WhatFloatDoesNotHoldIsInfiniteOrNone) {
  const double wide[] = {1e300, std::nan(""), 1e-300};
  float narrow[3] = {};
  const sxt_convert_query query = query_of(SXT_CONVERT_NARROW, 3);
  sxt_convert_args args{{sizeof args, SXT_KIND_CONVERT}, 3, SXT_CONVERT_NARROW, 0, 1, 0, nullptr, wide, narrow};
  Ready ready(kernel(), &query.q, candidate_of(kernel(), &query.q, 1));
  ASSERT_EQ(ready.run(&args.h), SXT_OK);
  EXPECT_TRUE(std::isinf(narrow[0]));
  EXPECT_TRUE(std::isnan(narrow[1]));
  EXPECT_EQ(narrow[2], 0);
}

TEST(ConvertReference, DeclinesSinglePrecisionAndUnknownOperations) {
  const sxt_convert_query single = query_of(SXT_CONVERT_NARROW, 3, SXT_F32), other = query_of(3, 3);
  EXPECT_EQ(refusal(kernel(), &single.q), "f32 is no working precision with a single one: f64 and c128 are");
  EXPECT_EQ(refusal(kernel(), &other.q), "operation 3 is not one of 1 to 2");
}

}  // namespace
}  // namespace plugin_test
