// SPDX-License-Identifier: BSD-3-Clause
// storage.coo.cpu: rows in the matrix's own index type, sorted; the cost of its model. Common parts with CSR are tested
// there.
#include <cstdint>

#include "tests/plugins/spmv_support.hpp"

namespace plugin_test {
namespace {

const sxt_kernel &kernel() { return find_kernel(load_own("storage-coo"), "storage.coo.cpu"); }

TEST(CooStorage, WritesRowsInTheTypeOfTheColumns) {
  Random random(1, 1);
  Matrix matrix(Pattern{4, 3, {{0, 2}, {}, {1}, {0, 1, 2}}}, SXT_F64, random);
  const std::int64_t expected[] = {0, 0, 2, 3, 3, 3};
  for (int types = 0; types < 4; ++types) {
    WideCsr source(matrix, types & 1, types & 2);
    const sxt_matrix_query query = matrix.query(SXT_KIND_STORAGE_COO, sizeof query, SXT_F64);
    Ready ready(kernel(), &query.q, candidate_of(kernel(), &query.q, 1), &source.csr.s.h);
    ASSERT_EQ(ready.status(), SXT_OK);
    const auto &coo = sextant::plugin::as<sxt_coo>(view_of(kernel(), ready));
    EXPECT_EQ(coo.s.index_type, source.csr.s.index_type);
    EXPECT_EQ(coo.col, source.csr.col);
    for (int k = 0; k < 6; ++k)
      EXPECT_EQ(
          types & 2 ? static_cast<const std::int64_t *>(coo.row)[k] : static_cast<const std::int32_t *>(coo.row)[k],
          expected[k])
          << k;
  }
}

TEST(CooStorage, RefreshesATriangleOfWideIndices) {
  Random random(2, 1);
  const Pattern pattern = {3, 3, {{0, 1}, {0, 1, 2}, {2}}};
  Matrix matrix(pattern, SXT_C64, random), other(pattern, SXT_C64, random);
  WideCsr source(matrix, true, true), values(other, true, true);
  const sxt_matrix_query query = matrix.query(SXT_KIND_STORAGE_COO, sizeof query, SXT_C64);
  Ready ready(kernel(), &query.q, candidate_of(kernel(), &query.q, 1), &source.csr.s.h);
  const auto &ops = *static_cast<const sxt_storage_ops *>(kernel().ops);
  const sxt_exec exec = make_exec();
  void *upper = nullptr;
  ASSERT_EQ(ops.triangle(ready.state(), SXT_UPPER, 0, &exec, &upper), SXT_OK);
  const sxt_problem problem = {sizeof problem, &query.q, &values.csr.s.h, nullptr};
  ASSERT_EQ(kernel().refresh(upper, &problem, &exec), SXT_OK);
  const auto &coo = sextant::plugin::as<sxt_coo>(&ops.view(upper)->h);
  ASSERT_EQ(coo.s.nnz, 2);  // entries 1 and 4 of the matrix
  EXPECT_EQ(Array::load(coo.values, SXT_C64, 0), other.values().at(1));
  EXPECT_EQ(Array::load(coo.values, SXT_C64, 1), other.values().at(4));
  EXPECT_EQ(ops.bytes(upper), 2u * (8 + 8 + 8));
  kernel().release(upper);
}

TEST(CooStorage, ChargesForTheRowArray) {
  sxt_matrix_query query{};
  query.q.h = {sizeof query, SXT_KIND_STORAGE_COO};
  query.rows = query.cols = 1000;
  query.nnz = 1000000;
  query.matrix_type = SXT_F64;
  const sxt_candidate candidate = candidate_of(kernel(), &query.q, 1);
  EXPECT_GE(candidate.state_bytes, 4000000u);
  EXPECT_NEAR(candidate.setup_s, 4e6 / 1e10, 1e-5);
  query.cols = std::int64_t{1} << 31;
  EXPECT_GE(candidate_of(kernel(), &query.q, 1).state_bytes, 8000000u);
}

}  // namespace
}  // namespace plugin_test
