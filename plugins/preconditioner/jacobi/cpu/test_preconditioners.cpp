// SPDX-License-Identifier: BSD-3-Clause
// Jacobi and the identity: answers checked by hand, the scaling, refusals that name the row, and the kind's own cases.
#include "plugins/preconditioner/test_support.hpp"

#include <cstdint>
#include <limits>

using namespace preconditioner_test;

namespace {

const sxt_kernel &identity() {
  return find_kernel(load_own("preconditioner-reference"), "preconditioner.identity.cpu");
}
const sxt_preconditioner_ops &ops(const sxt_kernel &kernel) {
  return *static_cast<const sxt_preconditioner_ops *>(kernel.ops);
}

template <class T>
Matrix<T> diagonal(std::initializer_list<T> entries) {
  Matrix<T> a;
  std::int32_t i = 0;
  for (const T &entry : entries) a.append_row({{i, entry}}), ++i;
  return a;
}

TEST(Jacobi, DividesByTheDiagonalAndPublishesItsRoot) {
  // The diagonal stands first, in the middle and last in its row.
  Matrix<double> a;
  a.append_row({{0, 4}, {1, -1}, {2, 1}});
  a.append_row({{0, -1}, {1, 16}, {2, 2}});
  a.append_row({{0, 1}, {1, 2}, {2, 0.25}});
  Prepared m(jacobi(), a.view(), SXT_F64);
  ASSERT_EQ(m.status, SXT_OK);
  EXPECT_EQ(m.scaling<double>(3), (std::vector<double>{0.5, 0.25, 2}));
  EXPECT_EQ(m.apply<double>({8, -32, 3}), (std::vector<double>{2, -2, 12}));
  EXPECT_STREQ(ops(jacobi()).method, "jacobi");
}

TEST(Jacobi, WorksInEveryTypeAndForNarrowMatrices) {
  using C64 = std::complex<float>;
  using C128 = std::complex<double>;
  Prepared single(jacobi(), diagonal<float>({4, 16}).view(), SXT_F32);
  EXPECT_EQ(single.apply<float>({8, 32}), (std::vector<float>{2, 2}));
  Prepared complex(jacobi(), diagonal<C64>({4, 16}).view(), SXT_C64);
  EXPECT_EQ(complex.apply<C64>({{8, 4}, {32, -16}}), (std::vector<C64>{{2, 1}, {2, -1}}));
  EXPECT_EQ(complex.scaling<float>(2), (std::vector<float>{0.5, 0.25}));
  Prepared wide(jacobi(), diagonal<C128>({4, 16}).view(), SXT_C128);
  EXPECT_EQ(wide.apply<C128>({{8, 4}, {32, -16}}), (std::vector<C128>{{2, 1}, {2, -1}}));
  // An f32 matrix under f64 vectors: the scaling has the vectors' precision.
  Prepared narrow(jacobi(), diagonal<float>({3, 3}).view(), SXT_F64);
  EXPECT_DOUBLE_EQ(narrow.scaling<double>(2)[1], 1 / std::sqrt(3.0));
}

TEST(Jacobi, ReadsWideIndices) {
  const std::vector<std::int64_t> row_ptr = {0, 2, 4}, col = {0, 1, 0, 1};
  const std::vector<double> values = {4, 1, 1, 16};
  sxt_csr a{};
  a.s = {{sizeof a, SXT_KIND_STORAGE_CSR}, SXT_F64, SXT_I64, SXT_I64, SXT_SPACE_HOST, SXT_SYMMETRIC, 0, 2, 2, 4};
  a.row_ptr = row_ptr.data(), a.col = col.data(), a.values = values.data();
  Prepared m(jacobi(), a, SXT_F64);
  EXPECT_EQ(m.apply<double>({4, 16}), (std::vector<double>{1, 1}));
}

TEST(Jacobi, ThreadsAndSizesDoNotChangeTheBits) {
  for (const std::int32_t n : {0, 1, 63, 64, 65, 129, 1000}) {
    Matrix<double> a;
    for (std::int32_t i = 0; i < n; ++i) a.append_row({{i, 1.5 + noise(i)}});
    const std::vector<double> r = noise_vector<double>(n, 4);
    Prepared one(jacobi(), a.view(), SXT_F64, 1), two(jacobi(), a.view(), SXT_F64, 2),
        three(jacobi(), a.view(), SXT_F64, 3);
    const std::vector<double> z = one.apply(r);
    EXPECT_EQ(z, two.apply(r));
    EXPECT_EQ(z, three.apply(r));
    for (std::int32_t i = 0; i < n; ++i) EXPECT_NEAR(z[i], r[i] / (1.5 + noise(i)), 1e-15 * 4);
  }
}

TEST(Jacobi, ExtremeDiagonalsStayInRange) {
  Prepared m(jacobi(), diagonal<double>({1e300, 1e-300, 5e-324}).view(), SXT_F64);
  ASSERT_EQ(m.status, SXT_OK);
  const std::vector<double> z = m.apply<double>({1e300, 1e-300, 0});
  EXPECT_NEAR(z[0], 1, 1e-14);
  EXPECT_NEAR(z[1], 1, 1e-14);
  EXPECT_EQ(z[2], 0);
}

TEST(Jacobi, RefusesABadDiagonalNamingRowAndValue) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  const int blocks = Host::blocks;
  for (const double bad : {0.0, -3.5, nan, inf, -inf}) {
    Matrix<double> a;
    for (std::int32_t i = 0; i < 20; ++i) a.append_row({{i, i == 17 ? bad : 1.0}});
    EXPECT_EQ(Prepared(jacobi(), a.view(), SXT_F64).status, SXT_E_DIAGONAL) << bad;
    EXPECT_NE(Host::sentence.find("row 17 (counting from 0)"), std::string::npos) << Host::sentence;
    char value[32];
    std::snprintf(value, sizeof value, "entry %.9g;", bad);
    EXPECT_NE(Host::sentence.find(value), std::string::npos) << Host::sentence;
  }
  Matrix<double> missing;
  missing.append_row({{0, 1}, {1, 2}});
  missing.append_row({{0, 2}});
  EXPECT_EQ(Prepared(jacobi(), missing.view(), SXT_F64).status, SXT_E_DIAGONAL);
  EXPECT_NE(Host::sentence.find("row 1 (counting from 0) has no diagonal entry"), std::string::npos) << Host::sentence;

  const Matrix<std::complex<double>> skewed = diagonal<std::complex<double>>({{1, 0}, {2, 0.5}});
  EXPECT_EQ(Prepared(jacobi(), skewed.view(), SXT_C128).status, SXT_E_DIAGONAL);
  EXPECT_NE(Host::sentence.find("row 1 (counting from 0) has the diagonal entry 2 +0.5 i"), std::string::npos)
      << Host::sentence;
  EXPECT_EQ(Host::blocks, blocks) << "a refusal keeps no memory";
}

TEST(Jacobi, RefreshTakesNewValuesOrKeepsTheOldOnes) {
  Prepared m(jacobi(), diagonal<double>({4, 16}).view(), SXT_F64);
  const int blocks = Host::blocks;
  ASSERT_EQ(m.refresh(diagonal<double>({16, 4}).view()), SXT_OK);
  EXPECT_EQ(m.apply<double>({16, 16}), (std::vector<double>{1, 4}));
  EXPECT_EQ(m.refresh(diagonal<double>({1, -1}).view()), SXT_E_DIAGONAL);
  EXPECT_EQ(m.apply<double>({16, 16}), (std::vector<double>{1, 4}));
  EXPECT_EQ(m.refresh(diagonal<double>({1, 1, 1}).view()), SXT_E_DIMENSION);
  EXPECT_EQ(Host::blocks, blocks);
}

TEST(Preconditioners, AnswerToTheirMethodOnly) {
  sxt_preconditioner_query query{};
  query.m.rows = query.m.cols = 5;
  query.m.q.value_type = SXT_F64;
  char text[256] = "";
  sxt_message message{text, sizeof text};
  const auto applies = [&](const sxt_kernel &k, const char *method) {
    std::strcpy(query.method, method);
    return k.applicable(&query.m.q, nullptr, nullptr, &message) == SXT_OK;
  };
  EXPECT_TRUE(applies(jacobi(), ""));
  EXPECT_TRUE(applies(jacobi(), "jacobi"));
  EXPECT_FALSE(applies(jacobi(), "ssor-ai"));
  EXPECT_NE(std::string(text).find("asks for \"ssor-ai\""), std::string::npos);
  EXPECT_TRUE(applies(identity(), "none"));
  EXPECT_FALSE(applies(identity(), "jacobi"));
  EXPECT_STREQ(ops(identity()).method, "none");
  EXPECT_EQ(ops(identity()).scaling, nullptr);
  EXPECT_TRUE(identity().flags & SXT_KERNEL_REFERENCE) << "or it would win every open query";
}

TEST(Preconditioners, CandidatesCountBytesAndThreads) {
  sxt_preconditioner_query query{};
  query.m.rows = query.m.cols = 1000;
  query.m.q.value_type = SXT_C128;
  const sxt_machine machine = make_machine(4);
  sxt_candidate out[8] = {};
  std::uint64_t count = 0;
  ASSERT_EQ(jacobi().candidates(&query.m.q, nullptr, &machine, nullptr, out, 8, &count), SXT_OK);
  ASSERT_EQ(count, 3u);  // 1, 2, 4 threads
  EXPECT_EQ(out[2].launch[0], 4);
  EXPECT_EQ(out[0].terms[2], 1000.0 * (16 + 16 + 8));
  EXPECT_EQ(out[0].state_bytes, 8000u);
  ASSERT_EQ(identity().candidates(&query.m.q, nullptr, &machine, nullptr, out, 8, &count), SXT_OK);
  EXPECT_EQ(out[0].terms[2], 32000.0);
}

TEST(PreconditionerKind, BothMembersPassEveryCase) {
  const sxt_kind &kind = *load_own("preconditioner-reference")->kinds[0];
  EXPECT_EQ(kind.reference, nullptr);
  for (const sxt_kernel *kernel : {&jacobi(), &identity()}) {
    for (std::uint64_t i = 0; i < kind.n_cases; ++i) {
      sxt_case c{};
      ASSERT_EQ(kind.make_case(Host::table(), 2, i, &c), SXT_OK);
      SCOPED_TRACE(std::string(kernel->name) + ", " + c.description);
      sxt_exec exec = make_exec();
      const sxt_problem problem{sizeof problem, c.query, c.a, nullptr};
      void *state = nullptr;
      ASSERT_EQ(kernel->prepare(&problem, nullptr, nullptr, &exec, &state), SXT_OK);
      ASSERT_EQ(kernel->run(state, nullptr, c.args, &exec), SXT_OK);
      kernel->release(state);
      double error = 99;
      char text[256] = "";
      sxt_message message{text, sizeof text};
      EXPECT_EQ(kind.compare(&c, nullptr, &error, &message), SXT_OK);
      EXPECT_LE(error, 1) << text;

      // The comparison must detect a negative M, a NaN, and a factor i.
      const auto &args = plugin::as<sxt_preconditioner_args>(c.args);
      plugin::with_value_type(c.query->value_type, [&]<class T>(plugin::Tag<T>) {
        T *z = static_cast<T *>(args.z);
        const std::vector<T> right(z, z + args.n);
        const auto wrong = [&](T factor) {
          for (std::int64_t k = 0; k < args.n; ++k) z[k] = right[static_cast<std::size_t>(k)] * factor;
          kind.compare(&c, nullptr, &error, &message);
          EXPECT_TRUE(args.n == 0 || error > 1) << error;
        };
        wrong(T(-1));
        wrong(T(std::numeric_limits<plugin::real_of<T>>::quiet_NaN()));
        if constexpr (plugin::is_complex<T>) wrong(T(1, 0.01f));
        return static_cast<sxt_status>(SXT_OK);
      });
      kind.free_case(&c);
    }
  }
}

}  // namespace
