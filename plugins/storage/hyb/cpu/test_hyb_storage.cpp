// SPDX-License-Identifier: BSD-3-Clause
// storage.hyb.cpu: the rule of one third, and the places of entries.
#include "tests/plugins/spmv_check.hpp"

namespace plugin_test {
namespace {

const sxt_kernel &storage() { return find_kernel(load_own("storage-hyb"), "storage.hyb.cpu"); }
const sxt_kernel &kernel() { return find_kernel(load_own("spmv-hyb"), "spmv.hyb.rows.cpu"); }

std::int64_t width_of(const std::vector<std::int64_t> &lengths) {
  Random random(1, 1);
  const auto rows = static_cast<std::int64_t>(lengths.size());
  Matrix matrix(sextant::plugin::cases::random_pattern(rows, 50, random, [&](auto i) { return lengths[i]; }), SXT_F64,
                random);
  const sxt_matrix_query query = matrix.query(SXT_KIND_STORAGE_HYB, sizeof query, SXT_F64);
  Ready form(storage(), &query.q, candidate_of(storage(), &query.q, 2), &matrix.csr().s.h);
  EXPECT_EQ(form.status(), SXT_OK);
  const auto &a = sextant::plugin::as<sxt_hyb>(view_of(storage(), form));
  std::int64_t rest = 0;
  for (std::int64_t length : lengths) rest += std::max<std::int64_t>(0, length - a.ell.width);
  EXPECT_EQ(a.coo.s.nnz, rest);
  EXPECT_EQ(a.ell.s.nnz, matrix.csr().s.nnz);
  return a.ell.width;
}

TEST(HybStorage, IsAsWideAsAThirdOfTheRows) {
  EXPECT_EQ(width_of({1, 2, 3}), 3);     // one of three rows has three entries
  EXPECT_EQ(width_of({1, 2, 3, 1}), 2);  // two of four rows have two, one has three: fewer than a third
  EXPECT_EQ(width_of({40, 2, 2, 2, 2, 2}), 2);
  EXPECT_EQ(width_of({0, 0, 0, 9}), 0);  // one of four is less than a third
  EXPECT_EQ(width_of({0, 0, 9}), 9);
  EXPECT_EQ(width_of({}), 0);
}

TEST(HybStorage, PutsTheFirstEntriesInTheRegularPart) {
  Random random(2, 1);
  Matrix matrix(Pattern{4, 9, {{3}, {0, 2, 5, 8}, {7}, {1}}}, SXT_F64, random);
  const sxt_matrix_query query = matrix.query(SXT_KIND_STORAGE_HYB, sizeof query, SXT_F64);
  Ready form(storage(), &query.q, candidate_of(storage(), &query.q, 1), &matrix.csr().s.h);
  const auto &a = sextant::plugin::as<sxt_hyb>(view_of(storage(), form));
  EXPECT_EQ(a.ell.width, 1);
  const auto *regular = static_cast<const std::int32_t *>(a.ell.col);
  EXPECT_EQ((std::vector<std::int32_t>(regular, regular + 5)), (std::vector<std::int32_t>{3, 0, 7, 1, -1}));
  const auto *row = static_cast<const std::int32_t *>(a.coo.row), *col = static_cast<const std::int32_t *>(a.coo.col);
  EXPECT_EQ((std::vector<std::int32_t>(row, row + 3)), (std::vector<std::int32_t>{1, 1, 1}));
  EXPECT_EQ((std::vector<std::int32_t>(col, col + 3)), (std::vector<std::int32_t>{2, 5, 8}));
  EXPECT_EQ(static_cast<const double *>(a.coo.values)[2], matrix.values().at(4).real());
  EXPECT_EQ(static_cast<const sxt_storage_ops *>(storage().ops)->bytes(form.state()), 8 * 12u + 3 * 16);
}

TEST(HybStorage, ScalesAndGivesTheDiagonal) {
  for (sxt_value_type type : {SXT_F32, SXT_F64, SXT_C64, SXT_C128})
    expect_scale_and_diagonal(storage(), kernel(), type);
}

TEST(HybStorage, RunsOutOfMemoryWithoutALeak) { expect_no_leaks(storage(), 6); }

}  // namespace
}  // namespace plugin_test
