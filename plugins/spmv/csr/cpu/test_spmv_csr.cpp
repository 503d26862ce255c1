// SPDX-License-Identifier: BSD-3-Clause
// The CSR kernels beyond the kind's cases: bits and threads, long rows over several threads, wide offsets, refusals,
// scratch, and their models.
#include <cmath>
#include <cstdint>

#include "tests/plugins/spmv_check.hpp"

namespace plugin_test {
namespace {

const sxt_kernel &kernel(const std::string &name) {
  return find_kernel(load_own("spmv-csr"), "spmv.csr." + name + ".cpu");
}

// Short rows, empty ones, and two rows that hold most entries.
Pattern uneven(Random &random) {
  return sextant::plugin::cases::random_pattern(900, 700, random, [&](auto i) {
    return i == 100 || i == 899 ? 650 : i % 7 ? random.below(6) : 0;
  });
}

Array multiply(const sxt_kernel &kernel, Matrix &matrix, const sxt_head *a, int threads, int lent, sxt_op op,
               std::int32_t n_rhs) {
  Random random(3, 9);
  const sxt_value_type type = matrix.values().type();
  const std::int64_t rows = matrix.csr().s.rows, cols = matrix.csr().s.cols;
  Array x(type, n_rhs * (op == SXT_NO_TRANSPOSE ? cols : rows), random);
  Array y(type, n_rhs * (op == SXT_NO_TRANSPOSE ? rows : cols), random);
  const sxt_spmv_query query = spmv_query(matrix, type, op, n_rhs);
  Ready ready(kernel, &query.m.q, candidate_of(kernel, &query.m.q, threads), a);
  EXPECT_EQ(ready.status(), SXT_OK);
  Product product(x, y, op, n_rhs, {0.5, 0.25}, {-1, 0.5});
  EXPECT_EQ(ready.run(&product.args.h, lent), SXT_OK) << Host::sentence;
  EXPECT_TRUE(y.guard_intact());
  return y;
}

TEST(SpmvCsr, RowsGivesTheSameBitsOnAnyNumberOfThreads) {
  for (sxt_value_type type : {SXT_F32, SXT_F64, SXT_C64, SXT_C128}) {
    Random random(1, type);
    Matrix matrix(uneven(random), type, random);
    for (sxt_op op : {SXT_NO_TRANSPOSE, SXT_TRANSPOSE, SXT_CONJUGATE_TRANSPOSE})
      for (std::int32_t n_rhs : {1, 6}) {
        const Array one = multiply(kernel("rows"), matrix, &matrix.csr().s.h, 1, 1, op, n_rhs);
        for (int threads : {2, 3, 8, 61})
          EXPECT_TRUE(equal(one, multiply(kernel("rows"), matrix, &matrix.csr().s.h, threads, threads, op, n_rhs)))
              << threads << " threads, op " << op;
      }
  }
}

// The balanced kernel's promise: bits depend on the parts of the plan, not on the threads that are lent.
TEST(SpmvCsr, BalancedGivesTheSameBitsWhenFewerThreadsAreLent) {
  Random random(2, 1);
  Matrix matrix(uneven(random), SXT_F64, random);
  for (sxt_op op : {SXT_NO_TRANSPOSE, SXT_TRANSPOSE}) {
    const Array full = multiply(kernel("balanced"), matrix, &matrix.csr().s.h, 7, 7, op, 5);
    for (int lent : {1, 2, 5})
      EXPECT_TRUE(equal(full, multiply(kernel("balanced"), matrix, &matrix.csr().s.h, 7, lent, op, 5)));
  }
}

// Rows longer than a part are carried over several threads; more parts than rows leave some empty.
TEST(SpmvCsr, BalancedCutsLongRows) {
  Random random(3, 1);
  for (const auto &[rows, cols] : {std::pair<int, int>{1, 5000}, {3, 2000}, {2, 1}, {5000, 1}}) {
    Matrix matrix(sextant::plugin::cases::random_pattern(rows, cols, random, [&, c = cols](auto) { return c; }),
                  SXT_F64, random);
    const Array plain = multiply(kernel("rows"), matrix, &matrix.csr().s.h, 1, 1, SXT_NO_TRANSPOSE, 1);
    for (int threads : {2, 5, 16, 64}) {
      const Array y = multiply(kernel("balanced"), matrix, &matrix.csr().s.h, threads, 4, SXT_NO_TRANSPOSE, 1);
      for (std::int64_t i = 0; i < rows; ++i)
        EXPECT_NEAR(y.at(i).real(), plain.at(i).real(), 1e-12) << threads << ", row " << i;
    }
  }
}

TEST(SpmvCsr, ReadsWideOffsetsAndRefusesWideColumns) {
  Random random(4, 1);
  Matrix matrix(uneven(random), SXT_F64, random);
  WideCsr offsets(matrix, true, false), columns(matrix, false, true);
  const sxt_spmv_query query = spmv_query(matrix, SXT_F64);
  for (const char *name : {"rows", "simd", "balanced"}) {
    EXPECT_TRUE(equal(multiply(kernel(name), matrix, &matrix.csr().s.h, 3, 3, SXT_NO_TRANSPOSE, 1),
                      multiply(kernel(name), matrix, &offsets.csr.s.h, 3, 3, SXT_NO_TRANSPOSE, 1)));
    Ready refused(kernel(name), &query.m.q, candidate_of(kernel(name), &query.m.q, 2), &columns.csr.s.h);
    EXPECT_EQ(refused.status(), SXT_E_NOT_SUPPORTED);
    EXPECT_NE(Host::sentence.find("64-bit"), std::string::npos);
    sxt_spmv_query wide = query;
    wide.m.cols = std::int64_t{1} << 31;
    EXPECT_EQ(refusal(kernel(name), &wide.m.q), "2147483648 columns do not fit the 32-bit columns it reads");
  }
}

TEST(SpmvCsr, ZeroBetaNeverReadsY) {
  Random random(5, 1);
  Matrix matrix(uneven(random), SXT_F64, random);
  for (const char *name : {"rows", "balanced"})
    for (sxt_op op : {SXT_NO_TRANSPOSE, SXT_TRANSPOSE}) {
      Array x(SXT_F64, 900, random), y(SXT_F64, 900);
      for (int i = 0; i < 900; ++i) y.set(i, std::numeric_limits<double>::quiet_NaN());
      const sxt_spmv_query query = spmv_query(matrix, SXT_F64, op);
      Ready ready(kernel(name), &query.m.q, candidate_of(kernel(name), &query.m.q, 4), &matrix.csr().s.h);
      Product product(x, y, op, 1, 1, 0);
      ASSERT_EQ(ready.run(&product.args.h), SXT_OK);
      for (int i = 0; i < (op == SXT_NO_TRANSPOSE ? 900 : 700); ++i) ASSERT_TRUE(std::isfinite(y.at(i).real())) << i;
    }
}

TEST(SpmvCsr, RefreshFollowsNewValues) {
  Random random(6, 1);
  const Pattern pattern = uneven(random);
  Matrix matrix(pattern, SXT_F64, random), other(pattern, SXT_F64, random);
  Array x(SXT_F64, 700, random), got(SXT_F64, 900), want(SXT_F64, 900);
  const sxt_spmv_query query = spmv_query(matrix, SXT_F64);
  for (const char *name : {"rows", "simd", "balanced"}) {
    Ready ready(kernel(name), &query.m.q, candidate_of(kernel(name), &query.m.q, 3), &matrix.csr().s.h);
    Ready fresh(kernel(name), &query.m.q, candidate_of(kernel(name), &query.m.q, 3), &other.csr().s.h);
    ASSERT_EQ(ready.refresh(&other.csr().s.h), SXT_OK);
    Product first(x, got, SXT_NO_TRANSPOSE, 1, 1, 0), second(x, want, SXT_NO_TRANSPOSE, 1, 1, 0);
    ASSERT_EQ(ready.run(&first.args.h), SXT_OK);
    ASSERT_EQ(fresh.run(&second.args.h), SXT_OK);
    EXPECT_TRUE(equal(got, want));
  }
}

TEST(SpmvCsr, SaysWhenScratchIsTooSmall) {
  Random random(7, 1);
  Matrix matrix(uneven(random), SXT_F64, random);
  Array x(SXT_F64, 700, random), y(SXT_F64, 900);
  const sxt_spmv_query query = spmv_query(matrix, SXT_F64);
  sxt_candidate candidate = candidate_of(kernel("balanced"), &query.m.q, 4);
  candidate.scratch_bytes -= 1;
  Ready ready(kernel("balanced"), &query.m.q, candidate, &matrix.csr().s.h);
  Product product(x, y, SXT_NO_TRANSPOSE, 1, 1, 0);
  EXPECT_EQ(ready.run(&product.args.h), SXT_E_STATE);
  EXPECT_EQ(Host::sentence, "255 bytes of scratch lent, 256 needed");
}

TEST(SpmvCsr, RunsOutOfMemoryWithoutALeak) {
  Random random(8, 1);
  Matrix matrix(uneven(random), SXT_F64, random);
  const sxt_spmv_query query = spmv_query(matrix, SXT_F64);
  const int before = Host::blocks;
  for (const char *name : {"simd", "balanced"}) {
    Host::fail_after = 0;
    Ready ready(kernel(name), &query.m.q, candidate_of(kernel(name), &query.m.q, 4), &matrix.csr().s.h);
    Host::fail_after = -1;
    EXPECT_EQ(ready.status(), SXT_E_MEMORY) << name;
  }
  EXPECT_EQ(Host::blocks, before);
}

const sxt_kernel &storage() { return find_kernel(load_own("storage-csr"), "storage.csr.cpu"); }

TEST(SpmvCsr, SimdMultipliesOnEveryInstructionSet) {
  expect_products(storage(), kernel("simd"), SXT_F64, SXT_F64);
  expect_products(storage(), kernel("simd"), SXT_F64, SXT_F32);
  expect_products(storage(), kernel("simd"), SXT_F32, SXT_F32);
}

TEST(SpmvCsr, BalancedMultipliesOnEveryInstructionSet) {
  const std::vector<sxt_op> ops = {SXT_NO_TRANSPOSE, SXT_TRANSPOSE, SXT_CONJUGATE_TRANSPOSE};
  expect_products(storage(), kernel("balanced"), SXT_F64, SXT_F64, ops);
  expect_products(storage(), kernel("balanced"), SXT_F32, SXT_F32);
  expect_products(storage(), kernel("balanced"), SXT_C128, SXT_C64, ops);
}

TEST(SpmvCsr, SimdBitsDoNotDependOnThreads) {
  expect_equal_bits(storage(), kernel("simd"), SXT_F64);
  expect_equal_bits(storage(), kernel("simd"), SXT_F32);
}

TEST(SpmvCsr, SimdReadsNothingItShouldNot) { expect_no_stray_reads(storage(), kernel("simd")); }

TEST(SpmvCsr, SimdRefusesWithReasons) {
  Random random(9, 2);
  Matrix matrix(Pattern{2, 2, {{0}, {1}}}, SXT_C64, random);
  sxt_spmv_query query = spmv_query(matrix, SXT_C64);
  EXPECT_EQ(refusal(kernel("simd"), &query.m.q), "c64 vectors: lanes hold f32 and f64 only");
  query.op = SXT_TRANSPOSE;
  EXPECT_EQ(refusal(kernel("simd"), &query.m.q), "operation 1: rows are summed for op 0 (no transpose) only");
}

// The memory term of a candidate: term 2.
double bytes_of(const char *name, const sxt_spmv_query &query, double row_max, double imbalance, int threads) {
  const double values[] = {0, 0, row_max, NAN, imbalance, imbalance, imbalance};
  const sxt_features features = {7, kernel(name).features, values};
  return ask_candidates(kernel(name), &query.m.q, make_machine(threads), &features).back().terms[2];
}

TEST(SpmvCsr, ModelsSeeImbalance) {
  Random random(9, 1);
  Matrix matrix(uneven(random), SXT_F64, random);
  sxt_spmv_query query = spmv_query(matrix, SXT_F64);
  query.m.rows = query.m.cols = 1000000;
  query.m.nnz = 5000000;
  const double even = bytes_of("balanced", query, 5, 1, 8);
  EXPECT_NEAR(even, 5e6 * 12 + 4e6 + 3 * 8e6, 1);
  EXPECT_DOUBLE_EQ(bytes_of("rows", query, 5, 1, 8), even);
  // One row holds half of everything: its thread works four times as long as the mean of eight.
  EXPECT_DOUBLE_EQ(bytes_of("rows", query, 2500000, NAN, 8), 4 * even);
  EXPECT_DOUBLE_EQ(bytes_of("simd", query, 2500000, NAN, 8), 4 * even);
  EXPECT_DOUBLE_EQ(bytes_of("balanced", query, 2500000, NAN, 8), even);
  EXPECT_DOUBLE_EQ(bytes_of("rows", query, 2500000, NAN, 1), even);
  EXPECT_DOUBLE_EQ(bytes_of("rows", query, 5000, 1.5, 8), 1.5 * even);
  // Without features it stays at the mean.
  EXPECT_DOUBLE_EQ(bytes_of("rows", query, NAN, NAN, 8), even);
}

TEST(SpmvCsr, ModelsSeeRowsOfUnforeseenLengths) {
  Random random(9, 1);
  Matrix matrix(uneven(random), SXT_F64, random);
  const sxt_spmv_query query = spmv_query(matrix, SXT_F64);
  const auto mispredicted = [&](const char *name, double unforeseen, double in_lanes, int threads) {
    const double values[] = {0, 0, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, unforeseen, in_lanes};
    const sxt_features features = {12, kernel(name).features, values};
    return ask_candidates(kernel(name), &query.m.q, make_machine(threads), &features).back().terms[7];
  };
  // A few are learnt after some runs, of very many all are missed; two threads learn twice as many.
  EXPECT_LT(mispredicted("rows", 300, 0, 1), 5);
  EXPECT_NEAR(mispredicted("rows", 1e6, 0, 1), 1e6, 1e4);
  EXPECT_LT(mispredicted("rows", 6000, 0, 2), 0.7 * mispredicted("rows", 6000, 0, 1));
  // In lanes only the number of steps counts.
  for (const char *name : {"simd", "balanced"}) {
    EXPECT_EQ(mispredicted(name, 1e6, 0, 1), 0);
    EXPECT_NEAR(mispredicted(name, 0, 1e6, 1), 1e6, 1e4);
  }
  EXPECT_EQ(mispredicted("rows", NAN, NAN, 1), 0);
}

}  // namespace
}  // namespace plugin_test
