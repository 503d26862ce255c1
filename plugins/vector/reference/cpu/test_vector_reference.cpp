// SPDX-License-Identifier: BSD-3-Clause
// vector.reference.cpu on three numbers a person can check, for every operation of the kind's table.
#include <cstdint>

#include "sextant/plugin/kinds/vector.h"
#include "sextant/sdk/cases.hpp"
#include "tests/plugins/support.hpp"

namespace plugin_test {
namespace {

using sextant::plugin::cases::Array;
using sextant::plugin::cases::Wide;

struct Expected {
  std::int32_t operation;
  std::vector<double> y, z;
};

class VectorReferenceTest : public testing::TestWithParam<Expected> {};

TEST_P(VectorReferenceTest, HandChecked) {
  const sxt_kernel &kernel = find_kernel(load_own("vector-reference"), "vector.reference.cpu");
  Array x(SXT_F32, 3), y(SXT_F32, 3), z(SXT_F32, 3), alpha(SXT_F32, 1), beta(SXT_F32, 1);
  for (int i = 0; i < 3; ++i) x.set(i, i + 1), y.set(i, 10 * (i + 1)), z.set(i, 0);
  alpha.set(0, 2);
  beta.set(0, -1);
  const std::int64_t index[] = {2, 0, 1};
  sxt_vector_query query{{{sizeof query, SXT_KIND_VECTOR}, 1, 0, SXT_F32}, 3, GetParam().operation, SXT_I64};
  sxt_vector_args args{{sizeof args, SXT_KIND_VECTOR},
                       3,
                       GetParam().operation,
                       SXT_I64,
                       {alpha.data(), 0, 0},
                       {beta.data(), 0, 0},
                       x.data(),
                       y.data(),
                       z.data(),
                       index};
  Ready ready(kernel, &query.q, candidate_of(kernel, &query.q, 1));
  ASSERT_EQ(ready.run(&args.h), SXT_OK);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(y.at(i), Wide(GetParam().y[i])) << i;
    EXPECT_EQ(z.at(i), Wide(GetParam().z[i])) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Operations, VectorReferenceTest,
                         testing::Values(Expected{SXT_VECTOR_COPY, {1, 2, 3}, {0, 0, 0}},
                                         Expected{SXT_VECTOR_FILL, {2, 2, 2}, {0, 0, 0}},
                                         Expected{SXT_VECTOR_SCALE, {20, 40, 60}, {0, 0, 0}},
                                         Expected{SXT_VECTOR_AXPY, {12, 24, 36}, {0, 0, 0}},
                                         Expected{SXT_VECTOR_AXPBY, {-8, -16, -24}, {0, 0, 0}},
                                         Expected{SXT_VECTOR_WAXPBY, {10, 20, 30}, {-8, -16, -24}},
                                         Expected{SXT_VECTOR_MULTIPLY, {10, 20, 30}, {10, 40, 90}},
                                         Expected{SXT_VECTOR_REAL_MULTIPLY, {10, 20, 30}, {10, 40, 90}},
                                         Expected{SXT_VECTOR_REAL_DIVIDE, {10, 20, 30}, {10, 10, 10}},
                                         Expected{SXT_VECTOR_GATHER, {3, 1, 2}, {0, 0, 0}},
                                         Expected{SXT_VECTOR_SCATTER, {2, 3, 1}, {0, 0, 0}}));

}  // namespace
}  // namespace plugin_test
