// SPDX-License-Identifier: BSD-3-Clause
// ELL through storage and kernel: borders of blocks and parts, types, bits, refusals.
#include "tests/plugins/spmv_check.hpp"

namespace plugin_test {
namespace {

const sxt_kernel &storage() { return find_kernel(load_own("storage-ell"), "storage.ell.cpu"); }
const sxt_kernel &kernel() { return find_kernel(load_own("spmv-ell"), "spmv.ell.rows.cpu"); }

TEST(SpmvEll, MultipliesDoubles) { expect_products(storage(), kernel(), SXT_F64, SXT_F64); }
TEST(SpmvEll, MultipliesFloatsUnderDoubles) { expect_products(storage(), kernel(), SXT_F64, SXT_F32); }
TEST(SpmvEll, MultipliesFloats) { expect_products(storage(), kernel(), SXT_F32, SXT_F32); }
TEST(SpmvEll, BitsDoNotDependOnThreads) {
  for (sxt_value_type type : {SXT_F32, SXT_F64}) expect_equal_bits(storage(), kernel(), type);
}
TEST(SpmvEll, PaddingReadsNothing) { expect_no_stray_reads(storage(), kernel()); }
TEST(SpmvEll, FollowsNewValues) { expect_refresh(storage(), kernel()); }

TEST(SpmvEll, RefusesWhatItCannotDoWithNumbers) {
  Random random(2, 1);
  Matrix matrix(Pattern{2, 2, {{0}, {1}}}, SXT_F64, random);
  sxt_spmv_query query = spmv_query(matrix, SXT_F64, SXT_TRANSPOSE);
  EXPECT_EQ(refusal(kernel(), &query.m.q), "operation 1: only op 0 (no transpose) is offered");
  query.op = SXT_NO_TRANSPOSE;
  query.m.rows = query.m.cols = 1000000;
  query.m.nnz = 2000000;
  const double values[] = {0, 0, 7};
  const sxt_features features = {3, kernel().features, values};
  char text[256] = "";
  sxt_message message{text, sizeof text};
  const sxt_machine machine = make_machine();
  EXPECT_EQ(kernel().applicable(&query.m.q, &features, &machine, &message), SXT_NOT_APPLICABLE);
  EXPECT_STREQ(text,
               "1000000 rows of 7 entries would be stored for 2000000 nonzeros, 3.5 times as many; the limit is 3");
  query.m.matrix_type = query.m.q.value_type = SXT_C128;
  EXPECT_EQ(refusal(kernel(), &query.m.q), "a matrix of type c128 with vectors of type c128 is not offered");
}

}  // namespace
}  // namespace plugin_test
