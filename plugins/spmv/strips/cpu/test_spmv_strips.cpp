// SPDX-License-Identifier: BSD-3-Clause
// Strips through storage and kernel: borders of slices and parts, types, bits, padding, the model, refusals.
#include "tests/plugins/spmv_check.hpp"

namespace plugin_test {
namespace {

const sxt_kernel &storage() { return find_kernel(load_own("storage-strips"), "storage.strips.cpu"); }
const sxt_kernel &kernel() { return find_kernel(load_own("spmv-strips"), "spmv.strips.cpu"); }

TEST(SpmvStrips, MultipliesDoubles) { expect_products(storage(), kernel(), SXT_F64, SXT_F64); }
TEST(SpmvStrips, MultipliesFloatsUnderDoubles) { expect_products(storage(), kernel(), SXT_F64, SXT_F32); }
TEST(SpmvStrips, MultipliesFloats) { expect_products(storage(), kernel(), SXT_F32, SXT_F32); }
TEST(SpmvStrips, BitsDoNotDependOnThreads) {
  for (sxt_value_type type : {SXT_F32, SXT_F64}) expect_equal_bits(storage(), kernel(), type);
}
TEST(SpmvStrips, PaddingReadsNothing) { expect_no_stray_reads(storage(), kernel()); }
TEST(SpmvStrips, FollowsNewValues) { expect_refresh(storage(), kernel()); }

TEST(SpmvStrips, StripsCostLessThanGatheredColumns) {
  Random random(1, 1);
  Matrix matrix(sextant::plugin::cases::banded_pattern(8000, 8000, {-1, 0, 1}), SXT_F64, random);
  const sxt_spmv_query query = spmv_query(matrix, SXT_F64);
  const sxt_machine machine = make_machine(1);
  const double dense[] = {0, 0, 3000, 0, 3}, loose[] = {0, 0, 0, 3000, 3};
  const sxt_features strips = {5, kernel().features, dense}, gathered = {5, kernel().features, loose};
  const sxt_candidate fast = ask_candidates(kernel(), &query.m.q, machine, &strips)[0];
  const sxt_candidate slow = ask_candidates(kernel(), &query.m.q, machine, &gathered)[0];
  EXPECT_LT(fast.terms[2], slow.terms[2]);  // bytes
  EXPECT_EQ(fast.terms[5], 0);              // nothing is gathered
  EXPECT_EQ(fast.terms[6], 1500 + 1000);    // half a step a strip, one a slice
}

TEST(SpmvStrips, RefusesOtherSlicesTransposesAndTooMuchPadding) {
  Random random(2, 1);
  Matrix matrix(Pattern{2, 2, {{0}, {1}}}, SXT_F64, random);
  sxt_spmv_query query = spmv_query(matrix, SXT_F64);
  Ready form(storage(), &query.m.q, candidate_of(storage(), &query.m.q, 1), &matrix.csr().s.h);
  sxt_strips other = sextant::plugin::as<sxt_strips>(view_of(storage(), form));
  other.slice = 4;
  Ready refused(kernel(), &query.m.q, candidate_of(kernel(), &query.m.q, 1), &other.s.h);
  EXPECT_EQ(refused.status(), SXT_E_NOT_SUPPORTED);
  EXPECT_NE(Host::sentence.find("not slices of 4"), std::string::npos) << Host::sentence;

  query.op = SXT_TRANSPOSE;
  EXPECT_EQ(refusal(kernel(), &query.m.q), "operation 1: only op 0 (no transpose) is offered");
  query.op = SXT_NO_TRANSPOSE;
  query.m.rows = query.m.cols = 1000000;
  query.m.nnz = 2000000;
  const double values[] = {0, 0, 0, 1e6, 1e6};
  const sxt_features features = {5, kernel().features, values};
  char text[256] = "";
  sxt_message message{text, sizeof text};
  const sxt_machine machine = make_machine();
  EXPECT_EQ(kernel().applicable(&query.m.q, &features, &machine, &message), SXT_NOT_APPLICABLE);
  EXPECT_NE(std::string(text).find("8000000 entries would be stored for 2000000 nonzeros"), std::string::npos) << text;
}

}  // namespace
}  // namespace plugin_test
