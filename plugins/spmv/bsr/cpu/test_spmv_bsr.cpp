// SPDX-License-Identifier: BSD-3-Clause
// storage.bsr.cpu and spmv.bsr.cpu: every block size, sizes that no block divides, the size that is found, one that is
// given, refusals with numbers, scaling, threads and bits.
#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "tests/plugins/spmv_support.hpp"

namespace plugin_test {
namespace {

using namespace sextant::plugin;

const sxt_kernel &kernel() { return find_kernel(load_own("spmv-bsr"), "spmv.bsr.cpu"); }
const sxt_kernel &storage() { return find_kernel(load_own("storage-bsr"), "storage.bsr.cpu"); }
const sxt_storage_ops &ops() { return *static_cast<const sxt_storage_ops *>(storage().ops); }

// A storage with a given block size; 0: found.
struct Stored {
  sxt_matrix_query query;
  Ready ready;
  Stored(Matrix &matrix, std::int64_t block)
      : query(matrix.query(storage().kind, sizeof query, matrix.values().type())),
        ready(storage(), &query.q, with_block(query, block), &matrix.csr().s.h) {}
  static sxt_candidate with_block(const sxt_matrix_query &query, std::int64_t block) {
    sxt_candidate candidate = ask_candidates(storage(), &query.q, make_machine())[0];
    candidate.launch[1] = block;
    return candidate;
  }
  const sxt_bsr &view() const { return as<sxt_bsr>(view_of(storage(), ready)); }
};

// Dense blocks of k at random places.
Pattern blocks_of(std::int64_t k, std::int64_t block_rows, std::int64_t a_row, Random &random) {
  Pattern pattern{k * block_rows, k * block_rows, {}};
  for (std::int64_t i = 0; i < block_rows; ++i) {
    std::vector<std::int64_t> columns;
    for (std::int64_t j : sextant::plugin::cases::distinct_columns(a_row, block_rows, random))
      for (std::int64_t c = 0; c < k; ++c) columns.push_back(j * k + c);
    for (std::int64_t r = 0; r < k; ++r) pattern.row.push_back(columns);
  }
  return pattern;
}

Array multiply(const sxt_kernel &kernel, Matrix &matrix, const sxt_head *a, sxt_value_type type, int threads, int level,
               Wide beta) {
  Random random(3, 9);
  Array x(type, 3 * matrix.csr().s.cols, random), y(type, 3 * matrix.csr().s.rows, random);
  if (beta == Wide(0))
    for (std::int64_t i = 0; i < y.size(); ++i) y.set(i, std::numeric_limits<double>::quiet_NaN());
  const sxt_spmv_query query = spmv_query(matrix, type, SXT_NO_TRANSPOSE, 3);
  sxt_candidate candidate = candidate_of(kernel, &query.m.q, threads);
  candidate.launch[1] = level;
  Ready ready(kernel, &query.m.q, candidate, a);
  EXPECT_EQ(ready.status(), SXT_OK) << Host::sentence;
  Product product(x, y, SXT_NO_TRANSPOSE, 3, {0.5, 0.25}, beta);
  EXPECT_EQ(ready.run(&product.args.h), SXT_OK);
  EXPECT_TRUE(y.guard_intact());
  return y;
}

TEST(SpmvBsr, EveryBlockSizeTypeAndInstructionSet) {
  const sxt_kernel &reference = find_kernel(load_own("spmv-reference"), "spmv.reference.cpu");
  for (sxt_value_type type : {SXT_F32, SXT_F64, SXT_C64, SXT_C128})
    for (bool narrow : {false, true}) {
      if (narrow && type != SXT_F64 && type != SXT_C128) continue;
      Random random(1, type);
      // 211 rows and 197 columns: primes. Every fifth row is empty.
      Matrix matrix(
          sextant::plugin::cases::random_pattern(211, 197, random, [&](auto i) { return i % 5 ? random.below(9) : 0; }),
          !narrow           ? type
          : type == SXT_F64 ? SXT_F32
                            : SXT_C64,
          random);
      for (Wide beta : {Wide(0), Wide(-1, 0.5)}) {
        const Array want = multiply(reference, matrix, &matrix.csr().s.h, type, 1, 1, beta);
        for (int block = 2; block <= 8; ++block)
          for (int level : {1, 2, 3}) {
            const Stored bsr(matrix, block);
            ASSERT_EQ(bsr.view().block, block);
            const Array got = multiply(kernel(), matrix, &bsr.view().s.h, type, 2, level, beta);
            for (std::int64_t i = 0; i < want.size(); ++i)
              ASSERT_LE(std::abs(got.at(i) - want.at(i)), 64 * sextant::plugin::cases::epsilon(type))
                  << block << ", " << i;
            for (int threads : {1, 3, 8, 61})
              ASSERT_TRUE(equal(got, multiply(kernel(), matrix, &bsr.view().s.h, type, threads, level, beta)))
                  << threads;
          }
      }
    }
}

TEST(SpmvBsr, FindsTheBlocksThatAreThere) {
  for (int k = 2; k <= 8; ++k) {
    Random random(2, static_cast<std::uint64_t>(k));
    Matrix matrix(blocks_of(k, 400, 9, random), SXT_F64, random);
    const Stored bsr(matrix, 0);
    ASSERT_EQ(bsr.ready.status(), SXT_OK) << Host::sentence;
    EXPECT_EQ(bsr.view().block, k);
    EXPECT_EQ(bsr.view().blocks, 400 * 9);
  }
}

TEST(SpmvBsr, RefusesBlocksThatAreMostlyEmpty) {
  Random random(3, 1);
  Matrix matrix(sextant::plugin::cases::random_pattern(20000, 20000, random, [](auto) { return 5; }), SXT_F64, random);
  const Stored bsr(matrix, 0);
  EXPECT_EQ(bsr.ready.status(), SXT_NOT_APPLICABLE);
  EXPECT_EQ(Host::sentence,
            "no block size pays: the best, 2, is 25 % full and moves 36.0 bytes an entry, compressed rows 12");
  // The kernel refuses before anything is built, once it knows the features.
  const double values[] = {0, 0, 0.25, 0.11, 0.06, 0.02, 0, 0, 0};  // fills of 2, 3, 4, 8, 5, 6, 7 behind the misses
  const sxt_features features = {9, kernel().features, values};
  const sxt_spmv_query query = spmv_query(matrix, SXT_F64);
  const sxt_machine machine = make_machine();
  char text[256] = "";
  sxt_message message{text, sizeof text};
  EXPECT_EQ(kernel().applicable(&query.m.q, &features, &machine, &message), SXT_NOT_APPLICABLE);
  EXPECT_STREQ(text, "blocks of 2 are 25 % full: 36.0 bytes an entry, compressed rows 12");
  const Stored forced(matrix, 2);
  EXPECT_EQ(forced.ready.status(), SXT_OK) << "a size that is given is used";
}

TEST(SpmvBsr, ModelTakesTheBlocksThatTheStorageWouldTake) {
  Random random(8, 1);
  Matrix matrix(sextant::plugin::cases::banded_pattern(4, 4, {0}), SXT_F64, random);
  sxt_spmv_query query = spmv_query(matrix, SXT_F64);
  query.m.rows = query.m.cols = 60000;
  query.m.nnz = 3600000;
  const auto terms_with = [&](std::vector<double> values) {
    const sxt_features features = {values.size(), kernel().features, values.data()};
    return ask_candidates(kernel(), &query.m.q, make_machine(1), &features)[0];
  };
  const double vectors = 8 * 3 * 60000;
  const auto of_three = terms_with({0, 0, 0.6, 1, 0.5, NAN, NAN, NAN, 0.3, 0});
  EXPECT_DOUBLE_EQ(of_three.terms[2], 3600000 * 8 + 4 * (400000 + 20000) + vectors);
  const auto of_six = terms_with({0, 0, 1, 1, 0.5, 0.5, 1, 0.5, 0.3, 0});
  EXPECT_DOUBLE_EQ(of_six.terms[2], 3600000 * 8 + 4 * (100000 + 10000) + vectors);
  // Block rows of changing lengths cost mispredicted branches, once there are more than fit a predictor.
  EXPECT_EQ(of_six.terms[7], 0);
  const double some = terms_with({0, 0, 1, 1, 0.5, 0.5, 1, 0.5, 0.3, 100}).terms[7];
  const double many = terms_with({0, 0, 1, 1, 0.5, 0.5, 1, 0.5, 0.3, 60000}).terms[7];
  EXPECT_LT(some, 1);
  EXPECT_GT(many, 8000) << "of ten thousand block rows";
  EXPECT_LE(many, 10000);
  // Elements of x that no cache holds, beside a matrix that none holds either.
  query.m.rows = query.m.cols = 600000;
  query.m.nnz = 36000000;
  EXPECT_GT(terms_with({0.5, 0.5, 1, 1, 0.5, 0.5, 1, 0.5, 0.3, 0}).terms[3], 1e6);
}

TEST(SpmvBsr, TakesTheBlockSizeFromTheEnvironment) {
  Random random(4, 1);
  Matrix matrix(blocks_of(4, 20, 3, random), SXT_F64, random);
  ASSERT_EQ(setenv("SEXTANT_BSR_BLOCK", "3", 1), 0);
  const Stored three(matrix, 0);
  ASSERT_EQ(setenv("SEXTANT_BSR_BLOCK", "9", 1), 0);
  const Stored wrong(matrix, 0);
  const std::string sentence = Host::sentence;
  unsetenv("SEXTANT_BSR_BLOCK");
  EXPECT_EQ(three.view().block, 3);
  EXPECT_EQ(wrong.ready.status(), SXT_E_ARGUMENT);
  EXPECT_EQ(sentence, "a block size of 2 to 8 was expected in launch[1] or SEXTANT_BSR_BLOCK");
}

// [ 4 1 . ; . . . ; . . 5 ] in blocks of 2: places are filled up with zeros.
TEST(SpmvBsr, StorageScalesRefreshesAndGivesTheDiagonal) {
  Random random(5, 1);
  Matrix matrix({3, 3, {{0, 1}, {}, {2}}}, SXT_F64, random);
  const double numbers[] = {4, 1, 5};
  for (int k = 0; k < 3; ++k) matrix.values().set(k, numbers[k]);
  Stored bsr(matrix, 2);
  const auto values = [&] {
    const double *v = static_cast<const double *>(bsr.view().values);
    return std::vector<double>(v, v + 4 * bsr.view().blocks);
  };
  EXPECT_EQ(values(), (std::vector<double>{4, 0, 1, 0, 5, 0, 0, 0}));
  EXPECT_EQ(ops().bytes(bsr.ready.state()), 8u * 8 + 5 * 4);
  Array s(SXT_F64, 3), diagonal(SXT_F64, 3);
  for (int i = 0; i < 3; ++i) s.set(i, i + 1);
  const sxt_exec exec = make_exec(2);
  ASSERT_EQ(ops().scale(bsr.ready.state(), s.data(), &exec), SXT_OK);
  EXPECT_EQ(values(), (std::vector<double>{4, 0, 2, 0, 45, 0, 0, 0}));
  ASSERT_EQ(ops().diagonal(bsr.ready.state(), diagonal.data(), &exec), SXT_OK);
  EXPECT_EQ(diagonal.at(0), Wide(4));
  EXPECT_EQ(diagonal.at(1), Wide(0));
  EXPECT_EQ(diagonal.at(2), Wide(45));
  ASSERT_EQ(bsr.ready.refresh(&matrix.csr().s.h), SXT_OK);
  EXPECT_EQ(values(), (std::vector<double>{4, 0, 1, 0, 5, 0, 0, 0}));
  Matrix smaller({3, 3, {{0}, {}, {}}}, SXT_F64, random);
  EXPECT_EQ(bsr.ready.refresh(&smaller.csr().s.h), SXT_E_DIMENSION);
}

TEST(SpmvBsr, TakesEmptyMatricesAndRunsOutOfMemoryWithoutALeak) {
  Random random(6, 1);
  const int before = Host::blocks;
  for (const Pattern &pattern : {Pattern{}, Pattern{3, 0, {{}, {}, {}}}, Pattern{0, 3, {}}, Pattern{2, 2, {{}, {}}}}) {
    Matrix empty(pattern, SXT_F64, random);
    const Stored bsr(empty, 0);
    ASSERT_EQ(bsr.ready.status(), SXT_OK);
    EXPECT_EQ(bsr.view().blocks, 0);
    multiply(kernel(), empty, &bsr.view().s.h, SXT_F64, 2, 3, -1);
  }
  Matrix matrix(blocks_of(2, 5, 2, random), SXT_F64, random);
  for (int allowed = 0; allowed < 3; ++allowed) {
    Host::fail_after = allowed;
    const Stored bsr(matrix, 2);
    Host::fail_after = -1;
    EXPECT_EQ(bsr.ready.status(), SXT_E_MEMORY) << allowed;
  }
  EXPECT_EQ(Host::blocks, before);
}

TEST(SpmvBsr, RefusesTransposes) {
  Random random(7, 1);
  Matrix matrix(blocks_of(2, 5, 2, random), SXT_F64, random);
  const sxt_spmv_query query = spmv_query(matrix, SXT_F64, SXT_TRANSPOSE);
  EXPECT_EQ(refusal(kernel(), &query.m.q), "transposes are not offered for blocks");
}

}  // namespace
}  // namespace plugin_test
