// SPDX-License-Identifier: BSD-3-Clause
// spmv_dots.reference.cpu on a 2 x 2 complex matrix a person can check.
#include "sextant/plugin/kinds/spmv_dots.h"
#include "tests/plugins/spmv_support.hpp"

namespace plugin_test {
namespace {

TEST(SpmvDotsReference, HandChecked) {
  const sxt_kernel &kernel = find_kernel(load_own("spmv_dots-reference"), "spmv_dots.reference.cpu");
  Random random(1, 1);
  Matrix matrix(Pattern{2, 2, {{0, 1}, {1}}}, SXT_C128, random);  // [ 2 i ; . 3 ]
  matrix.values().set(0, 2);
  matrix.values().set(1, {0, 1});
  matrix.values().set(2, 3);
  Array x(SXT_C128, 2), y(SXT_C128, 2), dots(SXT_C128, 4);
  x.set(0, {0, 1});
  x.set(1, 1);
  sxt_spmv_dots_query query{};
  query.m = spmv_query(matrix, SXT_C128);
  query.m.m.q.h = {sizeof query, SXT_KIND_SPMV_DOTS};
  query.n_dots = 4;
  Product product(x, y, SXT_NO_TRANSPOSE, 1, 1, 0);
  sxt_spmv_dots_args args{};
  args.m = product.args;
  args.m.h = {sizeof args, SXT_KIND_SPMV_DOTS};
  args.n_dots = 4;
  // conj(x).y, conj(y).x, conj(y).y, conj(x).x
  const void *u[] = {x.data(), nullptr, nullptr, x.data()}, *v[] = {nullptr, x.data(), nullptr, x.data()};
  args.u = u;
  args.v = v;
  args.dots = dots.data();
  Ready ready(kernel, &query.m.m.q, candidate_of(kernel, &query.m.m.q, 1), &matrix.csr().s.h);
  ASSERT_EQ(ready.run(&args.m.h), SXT_OK);
  EXPECT_EQ(y.at(0), Wide(0, 3));  // 2i + i
  EXPECT_EQ(y.at(1), Wide(3));
  const Wide expected[] = {6, 6, 18, 2};
  for (int d = 0; d < 4; ++d) EXPECT_EQ(dots.at(d), expected[d]) << d;
}

}  // namespace
}  // namespace plugin_test
