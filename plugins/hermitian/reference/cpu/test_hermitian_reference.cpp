// SPDX-License-Identifier: BSD-3-Clause
// hermitian.reference.cpu on systems a person can check, and errors that its kind detects.
#include <complex>
#include <cstdint>

#include "tests/plugins/conformance.hpp"

#include "sextant/plugin/kinds/hermitian.h"

namespace plugin_test {
namespace {

using Complex = std::complex<double>;

const sxt_plugin *plugin() { return load_own("hermitian-reference"); }
const sxt_kernel &kernel() { return find_kernel(plugin(), "hermitian.reference.cpu"); }

// One system of order n with one right-hand side, factored and solved.
struct One {
  std::vector<Complex> a, b;
  std::vector<std::int32_t> info{55}, pivots;
  sxt_hermitian_query query{};
  sxt_hermitian_args args{};

  One(std::int64_t n, std::vector<Complex> matrix, std::vector<Complex> rhs, std::int32_t definiteness,
      sxt_triangle triangle)
      : a(std::move(matrix)), b(std::move(rhs)), pivots(static_cast<std::size_t>(n)) {
    query.q = {{sizeof query, SXT_KIND_HERMITIAN}, 1, 0, SXT_C128};
    query.batch = 1;
    query.n_max = n;
    query.n_rhs = 1;
    query.phase = SXT_HERMITIAN_FACTOR_SOLVE;
    query.definiteness = definiteness;
    args.h = {sizeof args, SXT_KIND_HERMITIAN};
    args.phase = query.phase;
    args.definiteness = definiteness;
    args.value_type = SXT_C128;
    args.triangle = triangle;
    args.batch = args.n_rhs = 1;
    args.n_max = args.lda = args.ldb = args.stride_pivots = n;
    args.a = a.data();
    args.b = b.data();
    args.info = info.data();
    args.pivots = pivots.data();
  }
  void run() {
    Ready ready(kernel(), &query.q, candidate_of(kernel(), &query.q, 1));
    ASSERT_EQ(ready.run(&args.h), SXT_OK) << Host::sentence;
  }
};

constexpr Complex i(0, 1), unread(-9, -9);

TEST(HermitianReference, CholeskyOfTwoByTwo) {
  // [4 -2i; 2i 5] = L L^H with L = [2 0; i 2]; x = (1, i) gives b = (4 + 2, 2i + 5i).
  One lower(2, {{4, 7}, {0, 2}, unread, {5, -3}}, {6, 7.0 * i}, SXT_HERMITIAN_DEFINITE, SXT_LOWER);
  lower.run();
  EXPECT_EQ(lower.info[0], 0);
  EXPECT_EQ(lower.a, (std::vector<Complex>{2, i, unread, 2}));
  EXPECT_EQ(lower.b, (std::vector<Complex>{1, i}));
  One upper(2, {4, unread, {0, -2}, 5}, {6, 7.0 * i}, SXT_HERMITIAN_DEFINITE, SXT_UPPER);
  upper.run();
  EXPECT_EQ(upper.a, (std::vector<Complex>{2, unread, -i, 2}));
  EXPECT_EQ(upper.b, (std::vector<Complex>{1, i}));
}

TEST(HermitianReference, TheLeadingMinorThatIsNotPositiveIsNamed) {
  One one(3, {1, 0, 0, unread, 1, 1, unread, unread, 1}, {1, 1, 1}, SXT_HERMITIAN_DEFINITE, SXT_LOWER);
  one.run();
  EXPECT_EQ(one.info[0], 3);  // the last 2 x 2 block is [1 1; 1 1], singular
}

TEST(HermitianReference, AnExchangeAndATwoByTwoBlock) {
  // A zero diagonal forces a 2 x 2 block; [0 -i; i 0] x = (1, 2) has x = (-2i, i).
  for (const sxt_triangle triangle : {SXT_LOWER, SXT_UPPER}) {
    One one(2, {0, triangle == SXT_LOWER ? i : unread, triangle == SXT_LOWER ? unread : -i, 0}, {1, 2},
            SXT_HERMITIAN_INDEFINITE, triangle);
    one.run();
    EXPECT_EQ(one.info[0], 0);
    const std::int32_t block = triangle == SXT_LOWER ? -2 : -1;  // the row that LAPACK names
    EXPECT_EQ(one.pivots, (std::vector<std::int32_t>{block, block}));
    EXPECT_NEAR(std::abs(one.b[0] - Complex(0, -2)), 0, 1e-15);
    EXPECT_NEAR(std::abs(one.b[1] - i), 0, 1e-15);
  }
  // Order 2 with the larger diagonal last: rows are exchanged when the first pivot is too small.
  One one(2, {0.1, 1, unread, 20}, {1.1, 21}, SXT_HERMITIAN_INDEFINITE, SXT_LOWER);
  one.run();
  EXPECT_EQ(one.pivots, (std::vector<std::int32_t>{2, 2}));
  EXPECT_EQ(one.a[0], Complex(20));
  EXPECT_EQ(one.info[0], 0);
  EXPECT_NEAR(std::abs(one.b[0] - Complex(1)), 0, 1e-14);
  EXPECT_NEAR(std::abs(one.b[1] - Complex(1)), 0, 1e-14);
}

TEST(HermitianReference, ASingularBlockIsNamed) {
  One one(2, {0, 0, unread, 0}, {1, 1}, SXT_HERMITIAN_INDEFINITE, SXT_LOWER);
  one.run();
  EXPECT_EQ(one.info[0], 1);
}

TEST(HermitianReference, SignsStandOnTheDiagonal) {
  // [-4 2i; -2i 3] = L S L^H with L = [-2 0; -i 2], S = diag(-1, 1); x = (1, i) gives b = (-4 - 2, -2i + 3i).
  One lower(2, {{-4, 7}, {0, -2}, unread, {3, -3}}, {-6, i}, SXT_HERMITIAN_SIGNED, SXT_LOWER);
  lower.run();
  EXPECT_EQ(lower.info[0], 0);
  EXPECT_EQ(lower.a, (std::vector<Complex>{-2, -i, unread, 2}));
  EXPECT_EQ(lower.b, (std::vector<Complex>{1, i}));
  One upper(2, {-4, unread, {0, 2}, 3}, {-6, i}, SXT_HERMITIAN_SIGNED, SXT_UPPER);
  upper.run();
  EXPECT_EQ(upper.a, (std::vector<Complex>{-2, unread, i, 2}));
  EXPECT_EQ(upper.b, (std::vector<Complex>{1, i}));
  One zero(2, {1, 1, unread, 1}, {1, 1}, SXT_HERMITIAN_SIGNED, SXT_LOWER);
  zero.run();
  EXPECT_EQ(zero.info[0], 2);
}

TEST(HermitianKind, NoticesWhatIsWrong) {
  const sxt_kind &kind = *plugin()->kinds[0];
  for (std::uint64_t c = 0; c < kind.n_cases; ++c) {
    Case got(kind, c), want(kind, c);
    Ready ready(kernel(), want.value.query, candidate_of(kernel(), want.value.query, 1));
    ASSERT_EQ(ready.run(want.value.args), SXT_OK);
    ASSERT_EQ(ready.run(got.value.args), SXT_OK);
    const auto &args = *reinterpret_cast<const sxt_hermitian_args *>(got.value.args);
    if (args.batch == 0) continue;
    double error = 0;
    char text[256] = "";
    sxt_message message{text, sizeof text};
    args.info[args.batch - 1] += 5;  // a wrong info
    ASSERT_EQ(kind.compare(&got.value, &want.value, &error, &message), SXT_OK);
    EXPECT_GT(error, 1) << want.value.description;
  }
}

}  // namespace
}  // namespace plugin_test
