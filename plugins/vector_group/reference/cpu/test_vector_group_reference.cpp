// SPDX-License-Identifier: BSD-3-Clause
// vector_group.reference.cpu with complex scalars on one element a person can check; its numbers over real scalars are
// checked beside the fused kernel's.
#include "sextant/plugin/kinds/vector_group.h"
#include "sextant/sdk/cases.hpp"
#include "tests/plugins/support.hpp"

namespace plugin_test {
namespace {

using sextant::plugin::cases::Array;
using sextant::plugin::cases::Wide;

TEST(VectorGroupReference, HandCheckedWithComplexScalars) {
  const sxt_kernel &kernel = find_kernel(load_own("vector_group-reference"), "vector_group.reference.cpu");
  const Wide before[] = {{1, 0}, {5, 0}, {3, 1}, {4, 0}};  // x r p q
  std::vector<Array> vectors;
  for (const Wide &value : before) vectors.emplace_back(SXT_C64, 1), vectors.back().set(0, value);
  Array alpha(SXT_C64, 1), beta(SXT_C64, 1);
  alpha.set(0, {0, 1});
  beta.set(0, 2);
  const sxt_vector_group_query query{
      {{sizeof query, SXT_KIND_VECTOR_GROUP}, 1, 0, SXT_C64}, 1, SXT_GROUP_PREDICT_RECOMPUTE, 0};
  sxt_vector_group_args args{};
  args.h = {sizeof args, SXT_KIND_VECTOR_GROUP};
  args.n = 1;
  args.group = SXT_GROUP_PREDICT_RECOMPUTE;
  args.scalars[0].value = alpha.data();
  args.scalars[1].value = beta.data();
  for (int k = 0; k < 4; ++k) args.vectors[k] = vectors[k].data();
  Ready ready(kernel, &query.q, candidate_of(kernel, &query.q, 1));
  ASSERT_EQ(ready.run(&args.h), SXT_OK);
  EXPECT_EQ(vectors[1].at(0), Wide(5, -4));   // r - i q
  EXPECT_EQ(vectors[0].at(0), Wide(0, 3));    // x + i (3 + i)
  EXPECT_EQ(vectors[2].at(0), Wide(11, -2));  // r + 2 p
  EXPECT_EQ(vectors[3].at(0), Wide(4));
  args.group = 9;
  EXPECT_EQ(ready.run(&args.h), SXT_E_NOT_SUPPORTED);
}

}  // namespace
}  // namespace plugin_test
