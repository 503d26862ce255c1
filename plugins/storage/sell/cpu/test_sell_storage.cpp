// SPDX-License-Identifier: BSD-3-Clause
// storage.sell.cpu on 11 rows a person can check: order, slices, padding; triangles, scaling, refusals.
#include "tests/plugins/spmv_check.hpp"

namespace plugin_test {
namespace {

const sxt_kernel &storage() { return find_kernel(load_own("storage-sell"), "storage.sell.cpu"); }
const sxt_kernel &kernel() { return find_kernel(load_own("spmv-sell"), "spmv.sell.slices.cpu"); }
const sxt_sell &view(const Ready &form) { return sextant::plugin::as<sxt_sell>(view_of(storage(), form)); }

TEST(SellStorage, SortsRowsByLengthAndPadsSlices) {
  Random random(1, 1);
  // Rows 0 and 9 have three entries, the others one: sorted, the first slice is three wide and the second one.
  Pattern pattern{11, 20, std::vector<std::vector<std::int64_t>>(11)};
  for (std::int64_t i = 0; i < 11; ++i) pattern.row[i] = {i};
  pattern.row[0] = {0, 4, 7};
  pattern.row[9] = {1, 9, 19};
  Matrix matrix(pattern, SXT_F64, random);
  const sxt_matrix_query query = matrix.query(SXT_KIND_STORAGE_SELL, sizeof query, SXT_F64);
  Ready form(storage(), &query.q, candidate_of(storage(), &query.q, 2), &matrix.csr().s.h);
  ASSERT_EQ(form.status(), SXT_OK);
  const sxt_sell &a = view(form);
  EXPECT_EQ(a.slice, 8);
  EXPECT_EQ(a.n_slices, 2);
  const auto *ptr = static_cast<const std::int64_t *>(a.slice_ptr);
  EXPECT_EQ((std::vector<std::int64_t>(ptr, ptr + 3)), (std::vector<std::int64_t>{0, 24, 32}));
  const auto *perm = static_cast<const std::int32_t *>(a.perm);
  ASSERT_NE(perm, nullptr);
  EXPECT_EQ((std::vector<std::int32_t>(perm, perm + 11)),
            (std::vector<std::int32_t>{0, 9, 1, 2, 3, 4, 5, 6, 7, 8, 10}));
  const auto *col = static_cast<const std::int32_t *>(a.col);
  EXPECT_EQ(col[0], 0);    // row 0
  EXPECT_EQ(col[9], 9);    // row 9, second entry
  EXPECT_EQ(col[17], 19);  // row 9, third entry
  EXPECT_EQ(col[10], -1);  // row 1 has no second entry
  EXPECT_EQ(col[24], 7);   // slot 8 is row 7
  EXPECT_EQ(col[27], -1);  // there is no slot 11
  EXPECT_EQ(static_cast<const double *>(a.values)[10], 0);
  EXPECT_EQ(static_cast<const sxt_storage_ops *>(storage().ops)->bytes(form.state()), 3 * 8u + 11 * 4 + 32 * 12);
}

TEST(SellStorage, KeepsTheOrderOfEvenRows) {
  Random random(2, 1);
  Matrix matrix(sextant::plugin::cases::banded_pattern(2000, 2000, {-1, 0, 1}), SXT_F64, random);
  const sxt_matrix_query query = matrix.query(SXT_KIND_STORAGE_SELL, sizeof query, SXT_F64);
  Ready form(storage(), &query.q, candidate_of(storage(), &query.q, 1), &matrix.csr().s.h);
  EXPECT_EQ(view(form).perm, nullptr);
}

TEST(SellStorage, TrianglesMultiplyAndFollowTheWholeMatrix) {
  Random random(3, 1);
  const Pattern pattern = sextant::plugin::cases::random_pattern(60, 60, random, [](auto i) { return i % 17; });
  Matrix matrix(pattern, SXT_F64, random), other(pattern, SXT_F64, random);
  const sxt_matrix_query query = matrix.query(SXT_KIND_STORAGE_SELL, sizeof query, SXT_F64);
  Ready form(storage(), &query.q, candidate_of(storage(), &query.q, 2), &matrix.csr().s.h);
  const auto &ops = *static_cast<const sxt_storage_ops *>(storage().ops);
  const sxt_exec exec = make_exec(2);
  const sxt_problem problem = {sizeof problem, &query.q, &other.csr().s.h, nullptr};
  for (const auto &[which, diagonal] : {std::pair{SXT_LOWER, 1}, {SXT_UPPER, 0}}) {
    void *part = nullptr;
    ASSERT_EQ(ops.triangle(form.state(), which, diagonal, &exec, &part), SXT_OK);
    ASSERT_EQ(storage().refresh(part, &problem, &exec), SXT_OK);
    Array ones(SXT_F64, 60), y(SXT_F64, 60);
    for (int i = 0; i < 60; ++i) ones.set(i, 1);
    std::vector<double> expected(60, 0);
    std::int64_t nnz = 0;
    other.for_each([&, w = which, d = diagonal](std::int64_t i, std::int64_t j, Wide value) {
      if (i == j ? d : (w == SXT_LOWER) == (j < i)) expected[i] += value.real(), ++nnz;
    });
    EXPECT_EQ(ops.view(part)->nnz, nnz);
    const sxt_spmv_query product_query = spmv_query(matrix, SXT_F64);
    Ready ready(kernel(), &product_query.m.q, candidate_of(kernel(), &product_query.m.q, 2), &ops.view(part)->h);
    Product product(ones, y, SXT_NO_TRANSPOSE, 1, 1, 0);
    ASSERT_EQ(ready.run(&product.args.h), SXT_OK);
    for (int i = 0; i < 60; ++i) EXPECT_NEAR(y.at(i).real(), expected[i], 1e-13) << i;
    storage().release(part);
  }
}

TEST(SellStorage, ScalesAndGivesTheDiagonal) {
  for (sxt_value_type type : {SXT_F32, SXT_F64, SXT_C64, SXT_C128})
    expect_scale_and_diagonal(storage(), kernel(), type);
}

TEST(SellStorage, RunsOutOfMemoryWithoutALeak) { expect_no_leaks(storage(), 4); }

TEST(SellStorage, RefusesFillAndWideColumnsWithNumbers) {
  Random random(4, 1);
  // 1100 windows of one long row each: every first slice is 100 wide for seven rows of one entry.
  const std::int64_t rows = 200 * 512;
  Pattern pattern{rows, 100, std::vector<std::vector<std::int64_t>>(rows)};
  for (std::int64_t i = 0; i < rows; i += 512)
    for (std::int64_t j = 0; j < 100; ++j) pattern.row[i].push_back(j);
  Matrix matrix(pattern, SXT_F32, random);
  const sxt_matrix_query query = matrix.query(SXT_KIND_STORAGE_SELL, sizeof query, SXT_F32);
  Ready form(storage(), &query.q, candidate_of(storage(), &query.q, 2), &matrix.csr().s.h);
  EXPECT_EQ(form.status(), SXT_E_NOT_SUPPORTED);
  EXPECT_EQ(Host::sentence,
            "slices of 8 rows would store 160000 entries for 20000 nonzeros, more than 3 times as many");
  Matrix small(Pattern{2, 2, {{0}, {1}}}, SXT_F64, random);
  WideCsr wide(small, false, true);
  sxt_matrix_query small_query = small.query(SXT_KIND_STORAGE_SELL, sizeof small_query, SXT_F64);
  Ready refused(storage(), &small_query.q, candidate_of(storage(), &small_query.q, 1), &wide.csr.s.h);
  EXPECT_EQ(refused.status(), SXT_E_NOT_SUPPORTED);
  small_query.rows = std::int64_t{1} << 31;
  EXPECT_EQ(refusal(storage(), &small_query.q), "2147483648 rows or columns do not fit the 32-bit indices it holds");
}

}  // namespace
}  // namespace plugin_test
