// SPDX-License-Identifier: BSD-3-Clause
// spmv.reference.cpu on a 3 x 2 complex matrix a person can check, and with all index types.
#include <cstdint>

#include "tests/plugins/spmv_support.hpp"

namespace plugin_test {
namespace {

const sxt_kernel &reference() { return find_kernel(load_own("spmv-reference"), "spmv.reference.cpu"); }

// [ 1  i ; . . ; 2 . ]
struct SmallMatrix {
  Random random{1, 1};
  Matrix matrix{Pattern{3, 2, {{0, 1}, {}, {0}}}, SXT_C128, random};
  SmallMatrix() {
    matrix.values().set(0, 1);
    matrix.values().set(1, {0, 1});
    matrix.values().set(2, 2);
  }
};

void expect_product(sxt_op op, std::vector<Wide> x_values, std::vector<Wide> y_values, Wide alpha, Wide beta,
                    const std::vector<Wide> &expected) {
  SmallMatrix small;
  for (int types = 0; types < 4; ++types) {
    WideCsr wide(small.matrix, types & 1, types & 2);
    Array x(SXT_C128, static_cast<std::int64_t>(x_values.size())),
        y(SXT_C128, static_cast<std::int64_t>(y_values.size()));
    for (std::size_t i = 0; i < x_values.size(); ++i) x.set(i, x_values[i]);
    for (std::size_t i = 0; i < y_values.size(); ++i) y.set(i, y_values[i]);
    const sxt_spmv_query query = spmv_query(small.matrix, SXT_C128, op);
    Ready ready(reference(), &query.m.q, candidate_of(reference(), &query.m.q, 1), &wide.csr.s.h);
    Product product(x, y, op, 1, alpha, beta);
    ASSERT_EQ(ready.run(&product.args.h), SXT_OK);
    for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(y.at(i), expected[i]) << i << ", index types " << types;
  }
}

TEST(SpmvReference, Plain) { expect_product(SXT_NO_TRANSPOSE, {1, 10}, {100, 100, 100}, 1, 0, {{1, 10}, 0, 2}); }
TEST(SpmvReference, Transpose) { expect_product(SXT_TRANSPOSE, {1, 5, 10}, {7, 7}, 2, 1, {49, {7, 2}}); }
TEST(SpmvReference, ConjugateTranspose) {
  expect_product(SXT_CONJUGATE_TRANSPOSE, {1, 5, {0, 10}}, {7, 7}, 1, -1, {{-6, 20}, {-7, -1}});
}

TEST(SpmvReference, ZeroBetaNeverReadsY) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  expect_product(SXT_NO_TRANSPOSE, {1, 10}, {nan, nan, nan}, 1, 0, {{1, 10}, 0, 2});
}

TEST(SpmvReference, DeclinesMixedTypesItDoesNotHave) {
  SmallMatrix small;
  const sxt_spmv_query query = spmv_query(small.matrix, SXT_F64);
  EXPECT_EQ(refusal(reference(), &query.m.q), "a matrix of type c128 with vectors of type f64 is not offered");
}

}  // namespace
}  // namespace plugin_test
