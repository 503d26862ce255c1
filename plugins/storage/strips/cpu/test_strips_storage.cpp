// SPDX-License-Identifier: BSD-3-Clause
// storage.strips.cpu on rows a person can check: strips, gathered entries, scaling, new values, refusals.
#include "plugins/formats/strips.hpp"

#include "tests/plugins/spmv_check.hpp"

namespace plugin_test {
namespace {

const sxt_kernel &storage() { return find_kernel(load_own("storage-strips"), "storage.strips.cpu"); }
const sxt_kernel &kernel() { return find_kernel(load_own("spmv-strips"), "spmv.strips.cpu"); }
const sxt_strips &view(const Ready &form) { return sextant::plugin::as<sxt_strips>(view_of(storage(), form)); }

template <class T>
std::vector<T> array(const void *first, std::int64_t count) {
  const T *values = static_cast<const T *>(first);
  return {values, values + count};
}

TEST(StripsStorage, KeepsDiagonalsAndGathersTheRest) {
  Random random(1, 1);
  // A tridiagonal matrix of ten rows: three strips a slice, the first of which reads nothing before x.
  Pattern pattern = sextant::plugin::cases::banded_pattern(10, 60, {-1, 0, 1});
  Matrix band(pattern, SXT_F64, random);
  const sxt_matrix_query query = band.query(SXT_KIND_STORAGE_STRIPS, sizeof query, SXT_F64);
  Ready form(storage(), &query.q, candidate_of(storage(), &query.q, 2), &band.csr().s.h);
  ASSERT_EQ(form.status(), SXT_OK) << Host::sentence;
  const sxt_strips &a = view(form);
  EXPECT_EQ(a.n_slices, 2);
  EXPECT_EQ(array<std::int64_t>(a.strip_ptr, 3), (std::vector<std::int64_t>{0, 3, 6}));
  EXPECT_EQ(array<std::int64_t>(a.gather_ptr, 3), (std::vector<std::int64_t>{0, 0, 0}));
  EXPECT_EQ(array<std::int32_t>(a.base, 6), (std::vector<std::int32_t>{-1, 0, 1, 7, 8, 9}));
  EXPECT_EQ(array<std::uint8_t>(a.mask, 6), (std::vector<std::uint8_t>{0xfe, 0xff, 0xff, 3, 3, 3}));
  EXPECT_EQ(static_cast<const double *>(a.values)[0], 0);  // row 0 has nothing on the left
  EXPECT_EQ(static_cast<const sxt_storage_ops *>(storage().ops)->bytes(form.state()), 2 * 3 * 8u + 2 + 6 * 5 + 48 * 8);
}

TEST(StripsStorage, GathersEntriesOnNoDiagonal) {
  Random random(2, 1);
  Pattern pattern{8, 100, std::vector<std::vector<std::int64_t>>(8)};
  for (std::int64_t i = 0; i < 8; ++i) pattern.row[i] = {i, 20 + 9 * i};  // second entries on eight diagonals
  pattern.row[2] = {2};
  Matrix matrix(pattern, SXT_F64, random);
  const sxt_matrix_query query = matrix.query(SXT_KIND_STORAGE_STRIPS, sizeof query, SXT_F64);
  Ready form(storage(), &query.q, candidate_of(storage(), &query.q, 1), &matrix.csr().s.h);
  ASSERT_EQ(form.status(), SXT_OK) << Host::sentence;
  const sxt_strips &a = view(form);
  EXPECT_EQ(a.n_strips, 1);
  EXPECT_EQ(array<std::int64_t>(a.gather_ptr, 2), (std::vector<std::int64_t>{0, 8}));
  EXPECT_EQ(array<std::int32_t>(a.col, 8), (std::vector<std::int32_t>{20, 29, -1, 47, 56, 65, 74, 83}));
  EXPECT_EQ(static_cast<const double *>(a.values)[8 + 2], 0);
}

TEST(StripsStorage, PlansTheCheapestCut) {
  // Lane 0 has nine entries on nine diagonals that no other lane shares: nine columns to gather, or nine strips.
  const std::vector<std::int64_t> row_ptr = {0, 9, 10, 11, 12, 13, 14, 15, 16};
  std::vector<std::int32_t> col = {0, 2, 4, 6, 8, 10, 12, 14, 16, 1, 2, 3, 4, 5, 6, 7};
  const sextant::plugin::SlicePlan plan = sextant::plugin::plan_slice(row_ptr.data(), col.data(), 0, 8);
  EXPECT_EQ(plan.strips, 9);
  EXPECT_EQ(plan.gathered, 0);
  EXPECT_EQ(plan.least, 1);
}

TEST(StripsStorage, ScalesAndGivesTheDiagonal) {
  for (sxt_value_type type : {SXT_F32, SXT_F64}) expect_scale_and_diagonal(storage(), kernel(), type);
}

TEST(StripsStorage, RunsOutOfMemoryWithoutALeak) { expect_no_leaks(storage(), 7); }

TEST(StripsStorage, RefusesFillComplexNumbersAndWideColumnsWithNumbers) {
  Random random(4, 1);
  // One row of ten thousand scattered entries among seven empty ones, in every slice.
  Pattern pattern{24, 100000, std::vector<std::vector<std::int64_t>>(24)};
  for (std::int64_t i = 0; i < 24; i += 8)
    for (std::int64_t j = 0; j < 10000; ++j) pattern.row[i].push_back(10 * j + i / 8);
  Matrix matrix(pattern, SXT_F32, random);
  sxt_matrix_query query = matrix.query(SXT_KIND_STORAGE_STRIPS, sizeof query, SXT_F32);
  Ready form(storage(), &query.q, candidate_of(storage(), &query.q, 2), &matrix.csr().s.h);
  EXPECT_EQ(form.status(), SXT_E_NOT_SUPPORTED);
  EXPECT_EQ(Host::sentence,
            "slices of 8 rows would store 240000 entries for 30000 nonzeros, more than 3 times as many");
  query.matrix_type = SXT_C64;
  EXPECT_EQ(refusal(storage(), &query.q), "c64 values do not fit eight real lanes");
  query.matrix_type = SXT_F32;
  query.rows = std::int64_t{1} << 31;
  EXPECT_EQ(refusal(storage(), &query.q), "2147483648 rows or columns do not fit the 32-bit indices it holds");
}

}  // namespace
}  // namespace plugin_test
