// SPDX-License-Identifier: BSD-3-Clause
// storage.ell.cpu on a matrix a person can check, and its refusal of too much padding.
#include "tests/plugins/spmv_check.hpp"

namespace plugin_test {
namespace {

const sxt_kernel &storage() { return find_kernel(load_own("storage-ell"), "storage.ell.cpu"); }
const sxt_kernel &kernel() { return find_kernel(load_own("spmv-ell"), "spmv.ell.rows.cpu"); }

TEST(EllStorage, PadsRowsToTheLongest) {
  Random random(1, 1);
  Matrix matrix(Pattern{3, 5, {{1, 4}, {}, {0}}}, SXT_F64, random);
  const sxt_matrix_query query = matrix.query(SXT_KIND_STORAGE_ELL, sizeof query, SXT_F64);
  Ready form(storage(), &query.q, candidate_of(storage(), &query.q, 2), &matrix.csr().s.h);
  ASSERT_EQ(form.status(), SXT_OK);
  const auto &a = sextant::plugin::as<sxt_ell>(view_of(storage(), form));
  EXPECT_EQ(a.width, 2);
  EXPECT_EQ(a.ld, 8);
  const auto *col = static_cast<const std::int32_t *>(a.col);
  EXPECT_EQ((std::vector<std::int32_t>(col, col + 16)),
            (std::vector<std::int32_t>{1, -1, 0, -1, -1, -1, -1, -1, 4, -1, -1, -1, -1, -1, -1, -1}));
  EXPECT_EQ(static_cast<const double *>(a.values)[8], matrix.values().at(1).real());
  EXPECT_EQ(static_cast<const sxt_storage_ops *>(storage().ops)->bytes(form.state()), 16 * 12u);
}

TEST(EllStorage, ScalesAndGivesTheDiagonal) {
  for (sxt_value_type type : {SXT_F32, SXT_F64, SXT_C64, SXT_C128})
    expect_scale_and_diagonal(storage(), kernel(), type);
}

TEST(EllStorage, RunsOutOfMemoryWithoutALeak) { expect_no_leaks(storage(), 2); }

TEST(EllStorage, RefusesFillWithNumbers) {
  Random random(2, 1);
  Pattern pattern{10000, 30, std::vector<std::vector<std::int64_t>>(10000)};
  for (std::int64_t j = 0; j < 30; ++j) pattern.row[77].push_back(j);
  Matrix matrix(pattern, SXT_F32, random);
  const sxt_matrix_query query = matrix.query(SXT_KIND_STORAGE_ELL, sizeof query, SXT_F32);
  Ready form(storage(), &query.q, candidate_of(storage(), &query.q, 1), &matrix.csr().s.h);
  EXPECT_EQ(form.status(), SXT_E_NOT_SUPPORTED);
  EXPECT_EQ(Host::sentence, "10000 rows of 30 entries would be stored for 30 nonzeros, more than 3 times as many");
}

}  // namespace
}  // namespace plugin_test
