// SPDX-License-Identifier: BSD-3-Clause
// HYB through storage and kernel: borders of blocks and parts, types, bits, refusals.
#include "tests/plugins/spmv_check.hpp"

namespace plugin_test {
namespace {

const sxt_kernel &storage() { return find_kernel(load_own("storage-hyb"), "storage.hyb.cpu"); }
const sxt_kernel &kernel() { return find_kernel(load_own("spmv-hyb"), "spmv.hyb.rows.cpu"); }

TEST(SpmvHyb, MultipliesDoubles) { expect_products(storage(), kernel(), SXT_F64, SXT_F64); }
TEST(SpmvHyb, MultipliesFloatsUnderDoubles) { expect_products(storage(), kernel(), SXT_F64, SXT_F32); }
TEST(SpmvHyb, MultipliesFloats) { expect_products(storage(), kernel(), SXT_F32, SXT_F32); }
TEST(SpmvHyb, BitsDoNotDependOnThreads) {
  for (sxt_value_type type : {SXT_F32, SXT_F64}) expect_equal_bits(storage(), kernel(), type);
}
TEST(SpmvHyb, PaddingReadsNothing) { expect_no_stray_reads(storage(), kernel()); }
TEST(SpmvHyb, FollowsNewValues) { expect_refresh(storage(), kernel()); }

TEST(SpmvHyb, RefusesWhatItCannotDoWithNumbers) {
  Random random(2, 1);
  Matrix matrix(Pattern{2, 2, {{0}, {1}}}, SXT_F64, random);
  sxt_spmv_query query = spmv_query(matrix, SXT_F64, SXT_TRANSPOSE);
  EXPECT_EQ(refusal(kernel(), &query.m.q), "operation 1: only op 0 (no transpose) is offered");
  query.op = SXT_NO_TRANSPOSE;
  query.m.matrix_type = query.m.q.value_type = SXT_C128;
  EXPECT_EQ(refusal(kernel(), &query.m.q), "a matrix of type c128 with vectors of type c128 is not offered");
}

}  // namespace
}  // namespace plugin_test
