// SPDX-License-Identifier: BSD-3-Clause
// storage.csr.cpu and storage.coo.cpu: borrowed and copied arrays, and the operations, on a 4 x 4 matrix a person can
// check and on random ones in every type.
#include <cstdint>
#include <map>

#include "sextant/sdk/cases.hpp"
#include "tests/plugins/support.hpp"

namespace plugin_test {
namespace {

using namespace sextant::plugin;
using namespace sextant::plugin::cases;

using Entries = std::map<std::pair<std::int64_t, std::int64_t>, Wide>;

// The entries of a published CSR or COO struct.
Entries entries_of(const sxt_head *head) {
  Entries found;
  const auto &s = as<sxt_storage>(head);
  const bool csr = is_kind(*head, SXT_KIND_STORAGE_CSR);
  const auto *row = static_cast<const std::int32_t *>(csr ? as<sxt_csr>(head).row_ptr : as<sxt_coo>(head).row);
  const auto *col = static_cast<const std::int32_t *>(csr ? as<sxt_csr>(head).col : as<sxt_coo>(head).col);
  const void *values = csr ? as<sxt_csr>(head).values : as<sxt_coo>(head).values;
  for (std::int64_t i = 0, k = 0; k < s.nnz; ++k) {
    while (csr && row[i + 1] <= k) ++i;
    found[{csr ? i : row[k], col[k]}] = Array::load(values, s.value_type, k);
  }
  return found;
}

const sxt_storage_ops &ops_of(const sxt_kernel &kernel) { return *static_cast<const sxt_storage_ops *>(kernel.ops); }

// [ 4 1 . 2 ; . . . . ; . 3 5 . ; 6 . . 7 ]
Pattern small_pattern() { return {4, 4, {{0, 1, 3}, {}, {1, 2}, {0, 3}}}; }

class StorageTest : public testing::TestWithParam<std::tuple<const char *, sxt_value_type>> {
 protected:
  const std::string format = std::get<0>(GetParam());
  const sxt_value_type type = std::get<1>(GetParam());
  const sxt_kernel &kernel = find_kernel(load_own("storage-" + format), "storage." + format + ".cpu");
  Random random{7, 1};
  Matrix matrix{small_pattern(), type, random};
  sxt_matrix_query query = matrix.query(kernel.kind, sizeof query, type);
  sxt_exec exec = make_exec(2);

  void SetUp() override {
    const double numbers[] = {4, 1, 2, 3, 5, 6, 7};
    for (int k = 0; k < 7; ++k) matrix.values().set(k, numbers[k]);
  }
  Ready ready() {
    return Ready(kernel, &query.q, ask_candidates(kernel, &query.q, make_machine())[0], &matrix.csr().s.h);
  }
};

TEST_P(StorageTest, HoldsTheEntriesAndBorrowsTheValues) {
  Ready r = ready();
  ASSERT_EQ(r.status(), SXT_OK);
  const sxt_head *view = view_of(kernel, r);
  EXPECT_STREQ(view->kind, kernel.kind);
  EXPECT_EQ(entries_of(view), entries_of(&matrix.csr().s.h));
  const void *values = format == "csr" ? as<sxt_csr>(view).values : as<sxt_coo>(view).values;
  EXPECT_EQ(values, matrix.csr().values);
  EXPECT_EQ(ops_of(kernel).bytes(r.state()), format == "csr" ? 0u : 7u * 4);  // the rows of COO are its own
  EXPECT_EQ(kernel.run(r.state(), nullptr, nullptr, &exec), SXT_E_NOT_SUPPORTED);
}

TEST_P(StorageTest, ScalesACopyAndLeavesTheSourceAlone) {
  Ready r = ready();
  Array s(real_type(type), 4);
  for (int i = 0; i < 4; ++i) s.set(i, 1 << i);  // 1 2 4 8
  const std::uint64_t before = ops_of(kernel).bytes(r.state());
  ASSERT_EQ(ops_of(kernel).scale(r.state(), s.data(), &exec), SXT_OK);
  const Entries scaled = {{{0, 0}, 4},  {{0, 1}, 2},  {{0, 3}, 16}, {{2, 1}, 24},
                          {{2, 2}, 80}, {{3, 0}, 48}, {{3, 3}, 448}};
  EXPECT_EQ(entries_of(view_of(kernel, r)), scaled);
  EXPECT_EQ(matrix.values().at(3), Wide(3));
  EXPECT_EQ(ops_of(kernel).bytes(r.state()) - before, 7 * value_bytes(type));
  // New values arrive unscaled, in the copy.
  matrix.values().set(0, 40);
  ASSERT_EQ(r.refresh(&matrix.csr().s.h), SXT_OK);
  EXPECT_EQ(entries_of(view_of(kernel, r)), entries_of(&matrix.csr().s.h));
}

TEST_P(StorageTest, RefreshFollowsTheSource) {
  Ready r = ready();
  Matrix other(small_pattern(), type, random);
  ASSERT_EQ(r.refresh(&other.csr().s.h), SXT_OK);
  EXPECT_EQ(entries_of(view_of(kernel, r)), entries_of(&other.csr().s.h));
  Matrix smaller({4, 4, {{0}, {}, {}, {}}}, type, random);
  EXPECT_EQ(r.refresh(&smaller.csr().s.h), SXT_E_DIMENSION);
  EXPECT_NE(Host::sentence.find("1 new values for a pattern of 7"), std::string::npos) << Host::sentence;
}

TEST_P(StorageTest, GivesTheDiagonal) {
  Ready r = ready();
  Array diagonal(type, 4, random);
  ASSERT_EQ(ops_of(kernel).diagonal(r.state(), diagonal.data(), &exec), SXT_OK);
  const double expected[] = {4, 0, 5, 7};
  for (int i = 0; i < 4; ++i) EXPECT_EQ(diagonal.at(i), Wide(expected[i])) << i;
  EXPECT_TRUE(diagonal.guard_intact());
}

TEST_P(StorageTest, CutsTriangles) {
  Ready r = ready();
  void *lower = nullptr, *upper = nullptr, *again = nullptr;
  ASSERT_EQ(ops_of(kernel).triangle(r.state(), SXT_LOWER, 1, &exec, &lower), SXT_OK);
  ASSERT_EQ(ops_of(kernel).triangle(r.state(), SXT_UPPER, 0, &exec, &upper), SXT_OK);
  ASSERT_EQ(ops_of(kernel).triangle(lower, SXT_LOWER, 0, &exec, &again), SXT_OK);
  EXPECT_EQ(entries_of(&ops_of(kernel).view(lower)->h),
            (Entries{{{0, 0}, 4}, {{2, 1}, 3}, {{2, 2}, 5}, {{3, 0}, 6}, {{3, 3}, 7}}));
  EXPECT_EQ(entries_of(&ops_of(kernel).view(upper)->h), (Entries{{{0, 1}, 1}, {{0, 3}, 2}}));
  EXPECT_EQ(entries_of(&ops_of(kernel).view(again)->h), (Entries{{{2, 1}, 3}, {{3, 0}, 6}}));
  // A triangle takes new values from the whole matrix.
  matrix.values().set(5, -6);
  const sxt_problem problem = {sizeof problem, &query.q, &matrix.csr().s.h, nullptr};
  ASSERT_EQ(kernel.refresh(again, &problem, &exec), SXT_OK);
  EXPECT_EQ(entries_of(&ops_of(kernel).view(again)->h), (Entries{{{2, 1}, 3}, {{3, 0}, -6}}));
  for (void *state : {lower, upper, again}) kernel.release(state);
}

TEST_P(StorageTest, RunsOutOfMemoryWithoutALeak) {
  const int before = Host::blocks;
  for (int allowed = 0; allowed < 3; ++allowed) {
    Ready r = ready();
    void *part = nullptr;
    Host::fail_after = allowed;
    const sxt_status status = ops_of(kernel).triangle(r.state(), SXT_LOWER, 1, &exec, &part);
    Host::fail_after = -1;
    EXPECT_EQ(status, SXT_E_MEMORY) << allowed;
  }
  EXPECT_EQ(Host::blocks, before);
}

TEST_P(StorageTest, TakesEmptyMatrices) {
  for (const Pattern &pattern : {Pattern{}, Pattern{3, 0, {{}, {}, {}}}, Pattern{0, 3, {}}}) {
    Matrix empty(pattern, type, random);
    Ready r(kernel, &query.q, ask_candidates(kernel, &query.q, make_machine())[0], &empty.csr().s.h);
    ASSERT_EQ(r.status(), SXT_OK);
    Array s(real_type(type), 4, random);
    EXPECT_EQ(ops_of(kernel).scale(r.state(), s.data(), &exec), SXT_OK);
    EXPECT_EQ(ops_of(kernel).diagonal(r.state(), s.data(), &exec), SXT_OK);
    EXPECT_EQ(ops_of(kernel).view(r.state())->nnz, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, StorageTest,
                         testing::Combine(testing::Values("csr", "coo"),
                                          testing::Values(SXT_F32, SXT_F64, SXT_C64, SXT_C128)),
                         [](const auto &info) {
                           return std::string(std::get<0>(info.param)) + "_" + value_name(std::get<1>(info.param));
                         });

}  // namespace
}  // namespace plugin_test
