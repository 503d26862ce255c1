// SPDX-License-Identifier: BSD-3-Clause
// storage.dia.cpu and storage.dia-symmetric.cpu: the diagonals of small matrices a person can check, scaling, refusals.
#include <cmath>
#include <cstdint>
#include <map>

#include "sextant/sdk/cases.hpp"
#include "tests/plugins/support.hpp"

namespace plugin_test {
namespace {

using namespace sextant::plugin;
using namespace sextant::plugin::cases;

using Diagonals = std::map<std::int64_t, std::vector<double>>;

const sxt_kernel &kernel(bool symmetric) {
  return find_kernel(load_own("storage-dia"), symmetric ? "storage.dia-symmetric.cpu" : "storage.dia.cpu");
}
const sxt_storage_ops &ops() { return *static_cast<const sxt_storage_ops *>(kernel(false).ops); }

// A storage of a matrix, on two threads.
struct Built {
  sxt_matrix_query query;
  Ready ready;
  Built(Matrix &matrix, bool symmetric)
      : query(matrix.query(kernel(symmetric).kind, sizeof query, matrix.values().type())),
        ready(kernel(symmetric), &query.q, ask_candidates(kernel(symmetric), &query.q, make_machine())[0],
              &matrix.csr().s.h) {}
  const sxt_dia &view() const { return as<sxt_dia>(&ops().view(ready.state())->h); }
  Diagonals diagonals() const {
    Diagonals found;
    for (std::int64_t d = 0; d < view().n_diagonals; ++d)
      for (std::int64_t i = 0; i < view().s.rows; ++i)
        found[view().host_offsets[d]].push_back(
            Array::load(view().values, view().s.value_type, d * view().ld + i).real());
    return found;
  }
};

// [ 4 1 . 2 ; . . . . ; . 3 5 . ; 6 . . 7 ]
struct Small {
  Random random{1, 1};
  Matrix matrix;
  explicit Small(sxt_value_type type) : matrix({4, 4, {{0, 1, 3}, {}, {1, 2}, {0, 3}}}, type, random) {
    const double numbers[] = {4, 1, 2, 3, 5, 6, 7};
    for (int k = 0; k < 7; ++k) matrix.values().set(k, numbers[k]);
  }
};

// [ 4 -1 . ; -1 4 -2 ; . -2 16 ], scaled by its diagonal: [ 1 -1/4 . ; . 1 -1/4 ; . . 1 ].
struct Positive {
  Random random{1, 1};
  Matrix matrix;
  explicit Positive(sxt_value_type type) : matrix(banded_pattern(3, 3, {-1, 0, 1}), type, random) {
    const double numbers[] = {4, -1, -1, 4, -2, -2, 16};
    for (int k = 0; k < 7; ++k) matrix.values().set(k, numbers[k]);
    matrix.mirror_upper(SXT_HERMITIAN);
  }
};

class DiaStorage : public testing::TestWithParam<sxt_value_type> {};

TEST_P(DiaStorage, HoldsEveryDiagonal) {
  Small small(GetParam());
  Matrix &matrix = small.matrix;
  Built built(matrix, false);
  ASSERT_EQ(built.ready.status(), SXT_OK);
  EXPECT_STREQ(built.view().s.h.kind, SXT_KIND_STORAGE_DIA);
  EXPECT_EQ(built.view().ld * static_cast<std::int64_t>(value_bytes(GetParam())) % 64, 0);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(built.view().values) % 64, 0u);
  const Diagonals expected = {
      {-3, {0, 0, 0, 6}}, {-1, {0, 0, 3, 0}}, {0, {4, 0, 5, 7}}, {1, {1, 0, 0, 0}}, {3, {2, 0, 0, 0}}};
  EXPECT_EQ(built.diagonals(), expected);
  Array diagonal(GetParam(), 4);
  const sxt_exec exec = make_exec(1);
  ASSERT_EQ(ops().diagonal(built.ready.state(), diagonal.data(), &exec), SXT_OK);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(diagonal.at(i).real(), expected.at(0)[i]);
  EXPECT_EQ(kernel(false).run(built.ready.state(), nullptr, nullptr, &exec), SXT_E_NOT_SUPPORTED);
}

TEST_P(DiaStorage, ScalesAndRefreshes) {
  Small small(GetParam());
  Matrix &matrix = small.matrix;
  Built built(matrix, false);
  Array s(real_type(GetParam()), 4);
  for (int i = 0; i < 4; ++i) s.set(i, 1 << i);  // 1 2 4 8
  const sxt_exec exec = make_exec(2);
  ASSERT_EQ(ops().scale(built.ready.state(), s.data(), &exec), SXT_OK);
  EXPECT_EQ(
      built.diagonals(),
      (Diagonals{
          {-3, {0, 0, 0, 48}}, {-1, {0, 0, 24, 0}}, {0, {4, 0, 80, 448}}, {1, {2, 0, 0, 0}}, {3, {16, 0, 0, 0}}}));
  EXPECT_EQ(matrix.values().at(0), Wide(4)) << "the source was changed";
  matrix.values().set(0, 40);
  ASSERT_EQ(built.ready.refresh(&matrix.csr().s.h), SXT_OK);
  EXPECT_EQ(built.diagonals().at(0), (std::vector<double>{40, 0, 5, 7}));
  Random random(1, 1);
  Matrix smaller({4, 4, {{0}, {}, {}, {}}}, GetParam(), random);
  EXPECT_EQ(built.ready.refresh(&smaller.csr().s.h), SXT_E_DIMENSION);
  EXPECT_NE(Host::sentence.find("1 new values for a pattern of 7"), std::string::npos) << Host::sentence;
}

TEST_P(DiaStorage, LeavesOutADiagonalOfOnes) {
  Positive positive(GetParam());
  Matrix &matrix = positive.matrix;
  Built built(matrix, true);
  ASSERT_EQ(built.ready.status(), SXT_OK);
  EXPECT_TRUE(built.view().symmetric);
  EXPECT_FALSE(built.view().unit_diagonal);
  EXPECT_EQ(built.diagonals(), (Diagonals{{0, {4, 4, 16}}, {1, {-1, -2, 0}}}));
  Array s(real_type(GetParam()), 3);
  for (int i = 0; i < 3; ++i) s.set(i, i < 2 ? 0.5 : 0.25);
  const sxt_exec exec = make_exec(2);
  ASSERT_EQ(ops().scale(built.ready.state(), s.data(), &exec), SXT_OK);
  EXPECT_TRUE(built.view().unit_diagonal);
  EXPECT_EQ(built.diagonals(), (Diagonals{{1, {-0.25, -0.25, 0}}}));
  Array diagonal(GetParam(), 3);
  ASSERT_EQ(ops().diagonal(built.ready.state(), diagonal.data(), &exec), SXT_OK);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(diagonal.at(i), Wide(1));
  // Scaled once more it is no longer one; new values restore all diagonals.
  ASSERT_EQ(ops().scale(built.ready.state(), s.data(), &exec), SXT_OK);
  EXPECT_FALSE(built.view().unit_diagonal);
  EXPECT_EQ(built.diagonals().at(0), (std::vector<double>{0.25, 0.25, 0.0625}));
  ASSERT_EQ(built.ready.refresh(&matrix.csr().s.h), SXT_OK);
  EXPECT_EQ(built.diagonals(), (Diagonals{{0, {4, 4, 16}}, {1, {-1, -2, 0}}}));
}

INSTANTIATE_TEST_SUITE_P(Types, DiaStorage, testing::Values(SXT_F32, SXT_F64, SXT_C64, SXT_C128),
                         [](const auto &info) { return std::string(value_name(info.param)); });

TEST(DiaStorageLimits, RefusesTooManyDiagonalsWithTheNumber) {
  Random random(2, 1);
  // 1999 diagonals, 2000 rows, 7997 entries: an arrow.
  Pattern arrow = banded_pattern(2000, 2000, {-1, 0, 1});
  for (std::int64_t j = 2; j < 2000; ++j) arrow.row[0].push_back(j);
  Matrix matrix(arrow, SXT_F64, random);
  Built built(matrix, false);
  EXPECT_EQ(built.ready.status(), SXT_NOT_APPLICABLE);
  EXPECT_EQ(Host::sentence, "2001 diagonals x 2000 rows for 7996 entries: more than 4 places an entry");
  // The model refuses before anything is built, once it knows the feature.
  const double values[] = {NAN, 2001};
  const sxt_features features = {2, kernel(false).features, values};
  const sxt_machine machine = make_machine();
  char text[256] = "";
  sxt_message message{text, sizeof text};
  EXPECT_EQ(kernel(false).applicable(&built.query.q, &features, &machine, &message), SXT_NOT_APPLICABLE);
  EXPECT_EQ(std::string(text), Host::sentence);
}

TEST(DiaStorageLimits, TheSymmetricFormAsksForSymmetry) {
  Random random(2, 1);
  Matrix matrix(banded_pattern(5, 5, {-1, 0, 1}), SXT_F64, random);
  sxt_matrix_query query = matrix.query(kernel(true).kind, sizeof query, SXT_F64);
  EXPECT_EQ(refusal(kernel(true), &query.q), "the matrix is not known to be symmetric or Hermitian");
  query.symmetry = SXT_SKEW;
  EXPECT_EQ(refusal(kernel(true), &query.q), "the matrix is not known to be symmetric or Hermitian");
  query.symmetry = SXT_SYMMETRIC;
  EXPECT_EQ(refusal(kernel(true), &query.q), "");
}

TEST(DiaStorageLimits, SkewsLargeDiagonalsOffPages) {
  Random random(2, 1);
  Matrix matrix(banded_pattern(16384, 16384, {0}), SXT_F64, random);
  Built built(matrix, false);
  EXPECT_EQ(built.view().ld * 8 % 4096, 320);
}

TEST(DiaStorageLimits, TakesEmptyMatricesAndRunsOutOfMemoryWithoutALeak) {
  Random random(3, 1);
  const int before = Host::blocks;
  for (const Pattern &pattern : {Pattern{}, Pattern{3, 0, {{}, {}, {}}}, Pattern{0, 3, {}}, Pattern{2, 2, {{}, {}}}}) {
    Matrix empty(pattern, SXT_F64, random);
    Built built(empty, false);
    ASSERT_EQ(built.ready.status(), SXT_OK);
    EXPECT_EQ(built.view().n_diagonals, 0);
  }
  Small small(SXT_F64);
  Matrix &matrix = small.matrix;
  for (int allowed = 0; allowed < 2; ++allowed) {
    Host::fail_after = allowed;
    Built built(matrix, false);
    Host::fail_after = -1;
    EXPECT_EQ(built.ready.status(), SXT_E_MEMORY) << allowed;
  }
  EXPECT_EQ(Host::blocks, before);
}

}  // namespace
}  // namespace plugin_test
