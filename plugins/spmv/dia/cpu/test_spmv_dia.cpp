// SPDX-License-Identifier: BSD-3-Clause
// The DIA kernels beyond the kind's cases: every instruction set, threads and bits, all operations of symmetric and
// Hermitian matrices, diagonals at the borders of blocks, a diagonal of ones.
#include <cmath>
#include <cstdint>
#include <memory>

#include "tests/plugins/spmv_support.hpp"

namespace plugin_test {
namespace {

const sxt_kernel &kernel(bool symmetric) {
  return find_kernel(load_own("spmv-dia"), symmetric ? "spmv.dia-symmetric.cpu" : "spmv.dia.cpu");
}
const sxt_kernel &storage(bool symmetric) {
  return find_kernel(load_own("storage-dia"), symmetric ? "storage.dia-symmetric.cpu" : "storage.dia.cpu");
}

// A matrix in one of the two forms.
struct Stored {
  sxt_matrix_query query;
  Ready ready;
  Stored(Matrix &matrix, bool symmetric)
      : query(matrix.query(storage(symmetric).kind, sizeof query, matrix.values().type())),
        ready(storage(symmetric), &query.q, ask_candidates(storage(symmetric), &query.q, make_machine())[0],
              &matrix.csr().s.h) {}
  const sxt_head *head() const { return view_of(storage(false), ready); }
};

Array multiply(const sxt_kernel &kernel, Matrix &matrix, const sxt_head *a, sxt_value_type type, int threads,
               std::int64_t level, sxt_op op, std::int32_t n_rhs = 1, Wide beta = {-1, 0.5}) {
  Random random(3, 9);
  const std::int64_t rows = matrix.csr().s.rows, cols = matrix.csr().s.cols;
  Array x(type, n_rhs * (op == SXT_NO_TRANSPOSE ? cols : rows), random);
  Array y(type, n_rhs * (op == SXT_NO_TRANSPOSE ? rows : cols), random);
  if (beta == Wide(0))
    for (std::int64_t i = 0; i < y.size(); ++i) y.set(i, std::numeric_limits<double>::quiet_NaN());
  const sxt_spmv_query query = spmv_query(matrix, type, op, n_rhs);
  sxt_candidate candidate = candidate_of(kernel, &query.m.q, threads);
  candidate.launch[1] = level;
  Ready ready(kernel, &query.m.q, candidate, a);
  EXPECT_EQ(ready.status(), SXT_OK);
  Product product(x, y, op, n_rhs, {0.5, 0.25}, beta);
  EXPECT_EQ(ready.run(&product.args.h), SXT_OK) << Host::sentence;
  EXPECT_TRUE(y.guard_intact());
  return y;
}

// The reference on CSR.
Array expected(Matrix &matrix, sxt_value_type type, sxt_op op, std::int32_t n_rhs = 1, Wide beta = {-1, 0.5}) {
  return multiply(find_kernel(load_own("spmv-reference"), "spmv.reference.cpu"), matrix, &matrix.csr().s.h, type, 1, 1,
                  op, n_rhs, beta);
}

void expect_near(const Array &got, const Array &want, double terms) {
  const double bound = 8 * terms * sextant::plugin::cases::epsilon(got.type());
  ASSERT_EQ(got.size(), want.size());
  for (std::int64_t i = 0; i < got.size(); ++i) ASSERT_LE(std::abs(got.at(i) - want.at(i)), bound) << i;
}

// Offsets at, just before and beyond the borders of blocks of 1024 rows, more than a group of them.
const std::vector<std::int64_t> offsets = {-2047, -1025, -1024, -1023, -7, -2, -1, 0, 1, 2, 7, 1023, 1024, 1025, 2047};

TEST(SpmvDia, EveryInstructionSetTypeAndOperation) {
  for (sxt_value_type type : {SXT_F32, SXT_F64, SXT_C64, SXT_C128})
    for (bool narrow : {false, true}) {
      if (narrow && type != SXT_F64 && type != SXT_C128) continue;
      const sxt_value_type stored = !narrow ? type : type == SXT_F64 ? SXT_F32 : SXT_C64;
      Random random(1, type);
      Matrix matrix(sextant::plugin::cases::banded_pattern(2100, 2060, offsets), stored, random);
      const Stored dia(matrix, false);
      for (sxt_op op : {SXT_NO_TRANSPOSE, SXT_TRANSPOSE, SXT_CONJUGATE_TRANSPOSE})
        for (int level : {1, 2, 3})
          expect_near(multiply(kernel(false), matrix, dia.head(), type, 2, level, op, 2), expected(matrix, type, op, 2),
                      15);
    }
}

TEST(SpmvDia, SymmetricAndHermitianInEveryOperation) {
  for (sxt_value_type type : {SXT_F32, SXT_F64, SXT_C64, SXT_C128})
    for (sxt_symmetry symmetry : {SXT_SYMMETRIC, SXT_HERMITIAN})
      for (std::int64_t n : {1, 5, 1024, 2048, 2049, 3000}) {
        Random random(1, type);
        Matrix matrix(sextant::plugin::cases::banded_pattern(n, n, offsets), type, random);
        matrix.mirror_upper(symmetry);
        const Stored dia(matrix, true);
        for (sxt_op op : {SXT_NO_TRANSPOSE, SXT_TRANSPOSE, SXT_CONJUGATE_TRANSPOSE})
          for (int level : {1, 3})
            expect_near(multiply(kernel(true), matrix, dia.head(), type, 2, level, op), expected(matrix, type, op), 15);
      }
}

TEST(SpmvDia, SameBitsOnAnyNumberOfThreads) {
  for (bool symmetric : {false, true})
    for (sxt_value_type type : {SXT_F32, SXT_F64, SXT_C128}) {
      Random random(2, type);
      Matrix matrix(sextant::plugin::cases::banded_pattern(9000, 9000, offsets), type, random);
      matrix.mirror_upper(SXT_SYMMETRIC);
      const Stored dia(matrix, symmetric);
      const Array one = multiply(kernel(symmetric), matrix, dia.head(), type, 1, 3, SXT_NO_TRANSPOSE);
      for (int threads : {2, 3, 8, 61})
        EXPECT_TRUE(equal(one, multiply(kernel(symmetric), matrix, dia.head(), type, threads, 3, SXT_NO_TRANSPOSE)))
            << threads;
    }
}

TEST(SpmvDia, ZeroBetaNeverReadsY) {
  Random random(5, 1);
  Matrix matrix(sextant::plugin::cases::banded_pattern(1100, 1100, {-1050, 1050}), SXT_F64, random);  // empty rows
  matrix.mirror_upper(SXT_SYMMETRIC);
  for (bool symmetric : {false, true}) {
    const Stored dia(matrix, symmetric);
    const Array y = multiply(kernel(symmetric), matrix, dia.head(), SXT_F64, 1, 3, SXT_NO_TRANSPOSE, 1, 0);
    expect_near(y, expected(matrix, SXT_F64, SXT_NO_TRANSPOSE, 1, 0), 4);
    EXPECT_EQ(y.at(500), Wide(0));
  }
}

// After scaling by its diagonal a matrix has ones there, which are no longer stored.
TEST(SpmvDia, MultipliesWithADiagonalOfOnes) {
  Random random(6, 1);
  Matrix matrix(sextant::plugin::cases::banded_pattern(1500, 1500, {-40, -1, 0, 1, 40}), SXT_F64, random);
  matrix.mirror_upper(SXT_SYMMETRIC);
  std::int64_t k = 0;
  matrix.for_each([&](std::int64_t i, std::int64_t j, Wide) { matrix.values().set(k++, i == j ? 4 : -1); });
  const Stored dia(matrix, true);
  Array s(SXT_F64, 1500);
  for (std::int64_t i = 0; i < 1500; ++i) s.set(i, 0.5);
  const sxt_exec exec = make_exec(1);
  const auto &ops = *static_cast<const sxt_storage_ops *>(storage(true).ops);
  ASSERT_EQ(ops.scale(dia.ready.state(), s.data(), &exec), SXT_OK);
  ASSERT_TRUE(sextant::plugin::as<sxt_dia>(dia.head()).unit_diagonal);
  k = 0;
  matrix.for_each([&](std::int64_t i, std::int64_t j, Wide) { matrix.values().set(k++, i == j ? 1 : -0.25); });
  for (Wide beta : {Wide(0), Wide(-1, 0)})
    expect_near(multiply(kernel(true), matrix, dia.head(), SXT_F64, 2, 3, SXT_NO_TRANSPOSE, 1, beta),
                expected(matrix, SXT_F64, SXT_NO_TRANSPOSE, 1, beta), 5);
}

TEST(SpmvDia, RefusesWhatItCannotDo) {
  Random random(7, 1);
  Matrix matrix(sextant::plugin::cases::banded_pattern(10, 12, {0}), SXT_F64, random);
  sxt_spmv_query query = spmv_query(matrix, SXT_F64);
  EXPECT_EQ(refusal(kernel(false), &query.m.q), "");
  EXPECT_EQ(refusal(kernel(true), &query.m.q), "the matrix is not known to be symmetric or Hermitian");
  query.m.q.value_type = SXT_F32;
  EXPECT_EQ(refusal(kernel(false), &query.m.q), "a matrix of type f64 with vectors of type f32 is not offered");
}

// Bytes: five diagonals, x once, y read and written; the symmetric form stores three of them.
TEST(SpmvDia, ModelCountsWhatMoves) {
  Random random(8, 1);
  Matrix matrix(sextant::plugin::cases::banded_pattern(4, 4, {0}), SXT_F64, random);
  sxt_spmv_query query = spmv_query(matrix, SXT_F64);
  query.m.rows = query.m.cols = 1024000;
  query.m.nnz = 5 * 1024000;
  query.m.symmetry = SXT_SYMMETRIC;
  for (bool symmetric : {false, true}) {
    const double values[] = {5, 5};
    const sxt_features features = {2, kernel(symmetric).features, values};
    const auto bytes = ask_candidates(kernel(symmetric), &query.m.q, make_machine(4), &features).back().terms[2];
    EXPECT_DOUBLE_EQ(bytes, 8 * 1024000.0 * ((symmetric ? 3 : 5) + 3));
  }
}

// Threads share rows, not blocks: of 1100 rows two take about a half each.
TEST(SpmvDia, ModelKnowsThatThreadsShareSmallMatricesEvenly) {
  Random random(8, 1);
  Matrix matrix(sextant::plugin::cases::banded_pattern(4, 4, {0}), SXT_F64, random);
  sxt_spmv_query query = spmv_query(matrix, SXT_F64);
  query.m.rows = query.m.cols = 1100;
  query.m.nnz = 50 * 1100;
  query.m.symmetry = SXT_SYMMETRIC;
  const double values[] = {100, 100}, few[] = {3, 3};
  for (bool symmetric : {false, true}) {
    const sxt_features features = {2, kernel(symmetric).features, values};
    const auto one = ask_candidates(kernel(symmetric), &query.m.q, make_machine(1), &features).back();
    const auto two = ask_candidates(kernel(symmetric), &query.m.q, make_machine(2), &features).back();
    for (int t : {2, 3, 4}) EXPECT_NEAR(two.terms[t], one.terms[t], 0.1 * one.terms[t]) << t;
    // Diagonals that end in a block go alone there: many of them cost more than their entries.
    const sxt_features of_few = {2, kernel(symmetric).features, few};
    const auto least = ask_candidates(kernel(symmetric), &query.m.q, make_machine(1), &of_few).back();
    EXPECT_GT(one.terms[4] - least.terms[4], 97 * 1024 / 24);
  }
}

}  // namespace
}  // namespace plugin_test
