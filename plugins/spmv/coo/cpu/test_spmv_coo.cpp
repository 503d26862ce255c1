// SPDX-License-Identifier: BSD-3-Clause
// The COO kernels beyond the kind's cases: 64-bit indices, rows that cross segments, bits and threads, refusals.
#include <cmath>
#include <cstdint>

#include "tests/plugins/spmv_support.hpp"

namespace plugin_test {
namespace {

const sxt_kernel &kernel(const std::string &name) {
  return find_kernel(load_own("spmv-coo"), "spmv.coo." + name + ".cpu");
}
const sxt_kernel &storage() { return find_kernel(load_own("storage-coo"), "storage.coo.cpu"); }

Array multiply(const sxt_kernel &kernel, Matrix &matrix, const sxt_head *csr, int threads, int lent, sxt_op op) {
  Random random(3, 9);
  const sxt_value_type type = matrix.values().type();
  const std::int64_t rows = matrix.csr().s.rows, cols = matrix.csr().s.cols;
  Array x(type, op == SXT_NO_TRANSPOSE ? cols : rows, random), y(type, op == SXT_NO_TRANSPOSE ? rows : cols, random);
  const sxt_spmv_query query = spmv_query(matrix, type, op);
  Ready coo(storage(), &query.m.q, candidate_of(storage(), &query.m.q, 1), csr);
  Ready ready(kernel, &query.m.q, candidate_of(kernel, &query.m.q, threads), view_of(storage(), coo));
  EXPECT_EQ(ready.status(), SXT_OK) << Host::sentence;
  Product product(x, y, op, 1, {0.5, 0.25}, {-1, 0.5});
  EXPECT_EQ(ready.run(&product.args.h, lent), SXT_OK) << Host::sentence;
  EXPECT_TRUE(y.guard_intact());
  return y;
}

// Segments end at row borders, inside rows, and several times inside one row.
TEST(SpmvCoo, SegmentedAgreesWithSerialForAnyEndsOfSegments) {
  Random random(1, 1);
  const Pattern patterns[] = {
      sextant::plugin::cases::random_pattern(64, 64, random, [](auto) { return 4; }),
      sextant::plugin::cases::random_pattern(1, 3000, random, [](auto) { return 3000; }),
      sextant::plugin::cases::random_pattern(200, 500, random, [](auto i) { return i == 3 || i == 199 ? 500 : i % 2; }),
      Pattern{5, 5, {{}, {2}, {}, {}, {0}}},
  };
  for (const Pattern &pattern : patterns) {
    Matrix matrix(pattern, SXT_F64, random);
    const Array serial = multiply(kernel("serial"), matrix, &matrix.csr().s.h, 1, 1, SXT_NO_TRANSPOSE);
    for (int segments : {1, 2, 3, 8, 64}) {
      const Array y = multiply(kernel("segmented"), matrix, &matrix.csr().s.h, segments, 4, SXT_NO_TRANSPOSE);
      for (std::int64_t i = 0; i < y.size(); ++i)
        EXPECT_NEAR(y.at(i).real(), serial.at(i).real(), 1e-12) << segments << ", " << i;
      EXPECT_TRUE(equal(y, multiply(kernel("segmented"), matrix, &matrix.csr().s.h, segments, 1, SXT_NO_TRANSPOSE)))
          << "bits changed with the threads lent";
    }
  }
}

TEST(SpmvCoo, SerialReadsWideIndicesAndSegmentedRefusesThem) {
  Random random(2, 1);
  Matrix matrix(sextant::plugin::cases::random_pattern(50, 70, random, [](auto i) { return i % 5; }), SXT_C128, random);
  WideCsr wide(matrix, true, true);
  for (sxt_op op : {SXT_NO_TRANSPOSE, SXT_TRANSPOSE, SXT_CONJUGATE_TRANSPOSE})
    EXPECT_TRUE(equal(multiply(kernel("serial"), matrix, &matrix.csr().s.h, 1, 1, op),
                      multiply(kernel("serial"), matrix, &wide.csr.s.h, 1, 1, op)));
  const sxt_spmv_query query = spmv_query(matrix, SXT_C128);
  Ready coo(storage(), &query.m.q, candidate_of(storage(), &query.m.q, 1), &wide.csr.s.h);
  Ready refused(kernel("segmented"), &query.m.q, candidate_of(kernel("segmented"), &query.m.q, 2),
                view_of(storage(), coo));
  EXPECT_EQ(refused.status(), SXT_E_NOT_SUPPORTED);
}

TEST(SpmvCoo, SegmentedTransposesWithSumsOfItsOwn) {
  Random random(3, 1);
  for (sxt_value_type type : {SXT_F64, SXT_C64}) {
    Matrix matrix(sextant::plugin::cases::random_pattern(200, 90, random, [](auto i) { return i % 11; }), type, random);
    for (sxt_op op : {SXT_TRANSPOSE, SXT_CONJUGATE_TRANSPOSE}) {
      const Array serial = multiply(kernel("serial"), matrix, &matrix.csr().s.h, 1, 1, op);
      for (int segments : {1, 2, 3, 8, 61}) {
        const Array y = multiply(kernel("segmented"), matrix, &matrix.csr().s.h, segments, 3, op);
        for (std::int64_t i = 0; i < y.size(); ++i)
          EXPECT_LE(std::abs(y.at(i) - serial.at(i)), type == SXT_F64 ? 1e-12 : 1e-4) << segments << ", " << i;
      }
    }
  }
}

TEST(SpmvCoo, SegmentedRefusesWideIndicesWithAReason) {
  Random random(3, 1);
  Matrix matrix(Pattern{2, 2, {{0}, {1}}}, SXT_F64, random);
  sxt_spmv_query query = spmv_query(matrix, SXT_F64);
  EXPECT_EQ(refusal(kernel("serial"), &query.m.q), "");
  query.m.rows = std::int64_t{1} << 31;
  EXPECT_EQ(refusal(kernel("segmented"), &query.m.q),
            "2147483648 rows or columns do not fit the 32-bit indices it reads");
}

TEST(SpmvCoo, ModelsSeeRestsOfRowsAndUnforeseenLengths) {
  Random random(3, 1);
  Matrix matrix(Pattern{2, 2, {{0}, {1}}}, SXT_F64, random);
  sxt_spmv_query query = spmv_query(matrix, SXT_F64);
  query.m.rows = query.m.cols = 10000;
  query.m.nnz = 100000;
  const auto terms_with = [&](const char *name, double unforeseen, double rest) {
    const double values[] = {0, 0, unforeseen, rest};
    const sxt_features features = {4, kernel(name).features, values};
    return ask_candidates(kernel(name), &query.m.q, make_machine(1), &features)[0];
  };
  // Entries that do not fill eight lanes are separate steps.
  const double all_in_lanes = terms_with("segmented", 0, 0).terms[5];
  EXPECT_DOUBLE_EQ(terms_with("segmented", 0, 25000).terms[5], 0.75 * all_in_lanes);
  EXPECT_DOUBLE_EQ(terms_with("segmented", 0, 25000).terms[6], 10000 + 25000);
  EXPECT_DOUBLE_EQ(terms_with("serial", 0, 25000).terms[6], 10000);
  EXPECT_GT(terms_with("serial", 2000, 0).terms[7], terms_with("segmented", 2000, 0).terms[7]);
  EXPECT_LT(terms_with("serial", 50, 0).terms[7], 1);
}

}  // namespace
}  // namespace plugin_test
