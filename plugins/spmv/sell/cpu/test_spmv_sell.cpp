// SPDX-License-Identifier: BSD-3-Clause
// SELL through storage and kernel: borders of slices, parts and windows, all types and operations, bits, refusals.
#include "tests/plugins/spmv_check.hpp"

namespace plugin_test {
namespace {

const sxt_kernel &storage() { return find_kernel(load_own("storage-sell"), "storage.sell.cpu"); }
const sxt_kernel &kernel() { return find_kernel(load_own("spmv-sell"), "spmv.sell.slices.cpu"); }
const std::vector<sxt_op> all_ops = {SXT_NO_TRANSPOSE, SXT_TRANSPOSE, SXT_CONJUGATE_TRANSPOSE};

TEST(SpmvSell, MultipliesDoubles) { expect_products(storage(), kernel(), SXT_F64, SXT_F64, all_ops); }
TEST(SpmvSell, MultipliesFloatsUnderDoubles) { expect_products(storage(), kernel(), SXT_F64, SXT_F32, all_ops); }
TEST(SpmvSell, MultipliesFloats) { expect_products(storage(), kernel(), SXT_F32, SXT_F32); }
TEST(SpmvSell, MultipliesComplexNumbers) {
  expect_products(storage(), kernel(), SXT_C128, SXT_C128, all_ops);
  expect_products(storage(), kernel(), SXT_C64, SXT_C64);
}
TEST(SpmvSell, BitsDoNotDependOnThreads) {
  for (sxt_value_type type : {SXT_F32, SXT_F64, SXT_C128}) expect_equal_bits(storage(), kernel(), type);
}
TEST(SpmvSell, PaddingReadsNothing) { expect_no_stray_reads(storage(), kernel()); }
TEST(SpmvSell, FollowsNewValues) { expect_refresh(storage(), kernel()); }

TEST(SpmvSell, DeterministicTransposesUseOneThread) {
  Random random(1, 1);
  Matrix matrix(Pattern{2, 2, {{0}, {1}}}, SXT_F64, random);
  sxt_spmv_query query = spmv_query(matrix, SXT_F64, SXT_TRANSPOSE);
  EXPECT_GT(ask_candidates(kernel(), &query.m.q, make_machine(8)).size(), 1u);
  query.m.q.flags |= SXT_QUERY_DETERMINISTIC;
  const auto only = ask_candidates(kernel(), &query.m.q, make_machine(8));
  ASSERT_EQ(only.size(), 1u);
  EXPECT_EQ(only[0].launch[0], 1);
}

TEST(SpmvSell, RefusesOtherSlicesAndTooMuchPadding) {
  Random random(2, 1);
  Matrix matrix(Pattern{2, 2, {{0}, {1}}}, SXT_F64, random);
  sxt_spmv_query query = spmv_query(matrix, SXT_F64);
  Ready form(storage(), &query.m.q, candidate_of(storage(), &query.m.q, 1), &matrix.csr().s.h);
  sxt_sell other = sextant::plugin::as<sxt_sell>(view_of(storage(), form));
  other.slice = 32;
  Ready refused(kernel(), &query.m.q, candidate_of(kernel(), &query.m.q, 1), &other.s.h);
  EXPECT_EQ(refused.status(), SXT_E_NOT_SUPPORTED);
  EXPECT_NE(Host::sentence.find("not slices of 32"), std::string::npos) << Host::sentence;

  query.m.rows = query.m.cols = 1000000;
  query.m.nnz = 2000000;
  const double values[] = {0, 0, 9.5e6, 1e6, 9e6, 1};  // half of all entries in one row, others spread widely
  const sxt_features features = {6, kernel().features, values};
  char text[256] = "";
  sxt_message message{text, sizeof text};
  const sxt_machine machine = make_machine();
  EXPECT_EQ(kernel().applicable(&query.m.q, &features, &machine, &message), SXT_NOT_APPLICABLE);
  EXPECT_NE(std::string(text).find("9000000 entries would be stored for 2000000 nonzeros"), std::string::npos) << text;
}

TEST(SpmvSell, ModelCountsStoredEntriesAndScatteredRows) {
  Random random(2, 1);
  Matrix matrix(Pattern{2, 2, {{0}, {1}}}, SXT_F64, random);
  sxt_spmv_query query = spmv_query(matrix, SXT_F64);
  query.m.rows = query.m.cols = 8000;
  query.m.nnz = 40000;
  const auto terms_with = [&](double unsorted, double stored, double sorted) {
    const double values[] = {0, 0, unsorted, 9, stored, sorted};
    const sxt_features features = {6, kernel().features, values};
    return ask_candidates(kernel(), &query.m.q, make_machine(1), &features).back();
  };
  EXPECT_DOUBLE_EQ(terms_with(60000, 44000, 1).terms[2], 44000 * 12 + 8000 + 3 * 8 * 8000);
  EXPECT_DOUBLE_EQ(terms_with(60000, NAN, NAN).terms[2], 60000 * 12 + 8000 + 3 * 8 * 8000);
  EXPECT_DOUBLE_EQ(terms_with(60000, 30000, 1).terms[2], 40000 * 12 + 8000 + 3 * 8 * 8000) << "no fewer than there are";
  EXPECT_DOUBLE_EQ(terms_with(60000, 44000, 0).terms[6], 1000);
  EXPECT_DOUBLE_EQ(terms_with(60000, 44000, 1).terms[6], 2000) << "sorted rows are put into y one by one";
}

}  // namespace
}  // namespace plugin_test
