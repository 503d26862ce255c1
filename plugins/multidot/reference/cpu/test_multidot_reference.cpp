// SPDX-License-Identifier: BSD-3-Clause
// multidot.reference.cpu on numbers a person can check.
#include "sextant/plugin/kinds/multidot.h"
#include "sextant/sdk/cases.hpp"
#include "tests/plugins/support.hpp"

namespace plugin_test {
namespace {

using sextant::plugin::cases::Array;
using sextant::plugin::cases::Wide;

TEST(MultidotReference, HandChecked) {
  const sxt_kernel &kernel = find_kernel(load_own("multidot-reference"), "multidot.reference.cpu");
  Array a(SXT_C64, 2), b(SXT_C64, 2), result(SXT_C64, 3);
  a.set(0, {1, 1});
  a.set(1, 2);
  b.set(0, {0, 1});
  b.set(1, 3);
  const void *u[] = {a.data(), a.data(), b.data()}, *v[] = {b.data(), a.data(), a.data()};
  const sxt_multidot_query query{{{sizeof query, SXT_KIND_MULTIDOT}, 1, 0, SXT_C64}, 2, 3, 2};
  sxt_multidot_args args{{sizeof args, SXT_KIND_MULTIDOT}, 2, 3, 0, u, v, result.data()};
  Ready ready(kernel, &query.q, candidate_of(kernel, &query.q, 1));
  ASSERT_EQ(ready.run(&args.h), SXT_OK);
  EXPECT_EQ(result.at(0), Wide(7, 1));  // (1 - i) i + 2 * 3
  EXPECT_EQ(result.at(1), Wide(6));
  EXPECT_EQ(result.at(2), Wide(7, -1));
  args.n = 0;
  ASSERT_EQ(ready.run(&args.h), SXT_OK);
  for (int d = 0; d < 3; ++d) EXPECT_EQ(result.at(d), Wide(0));
}

}  // namespace
}  // namespace plugin_test
