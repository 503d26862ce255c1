// SPDX-License-Identifier: BSD-3-Clause
// Sentences of errors: the operand that differs, the base of indices, what to try.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "hermitian_support.hpp"

namespace api_test {
namespace {

Vector vector_of(const Context &context, std::int64_t n, sxt_value_type type = SXT_F64) {
  return make<Vector>([&](sxt_vector **out) { return sxt_vector_create(context.get(), n, type, out); });
}

// (2 -1; -1 2), in the caller's counting.
Matrix pair(const Context &context, std::int32_t base, std::vector<double> values = {2, -1, -1, 2},
            sxt_status expected = SXT_OK) {
  const std::int32_t b = base, ptr[] = {b, b + 2, b + 4}, col[] = {b, b + 1, b, b + 1};
  sxt_matrix_options options = matrix_options();
  options.index_base = base;
  return make<Matrix>(
      [&](sxt_matrix **out) {
        return sxt_matrix_from_csr(context.get(), 2, 2, ptr, col, values.data(), &options, out);
      },
      expected);
}

Pcg solver(const Matrix &a, sxt_status expected = SXT_OK, sxt_pcg_options options = pcg_options()) {
  return make<Pcg>([&](sxt_pcg **out) { return sxt_pcg_create(a.get(), &options, out); }, expected);
}

void expect_says(const std::string &words) {
  EXPECT_NE(std::string(sxt_last_error(nullptr)).find(words), std::string::npos) << sxt_last_error(nullptr);
}
void expect_silent_of(const std::string &words) {
  EXPECT_EQ(std::string(sxt_last_error(nullptr)).find(words), std::string::npos) << sxt_last_error(nullptr);
}

TEST(Sentences, TheOperandOfAProductThatDiffersIsNamed) {
  const Context here = cpu(), there = cpu();
  const Matrix a = pair(here, 0);
  const Vector x = vector_of(here, 2), y = vector_of(here, 2), far = vector_of(there, 2),
               single = vector_of(here, 2, SXT_F32);
  EXPECT_EQ(sxt_spmv(SXT_NO_TRANSPOSE, nullptr, a.get(), far.get(), nullptr, y.get()), SXT_E_ARGUMENT);
  expect_says("x belongs to another context");
  EXPECT_EQ(sxt_spmv(SXT_NO_TRANSPOSE, nullptr, a.get(), x.get(), nullptr, far.get()), SXT_E_ARGUMENT);
  expect_says("y belongs to another context");
  EXPECT_EQ(sxt_spmv(SXT_NO_TRANSPOSE, nullptr, a.get(), single.get(), nullptr, y.get()), SXT_E_TYPE);
  expect_says("x holds f32");
  EXPECT_EQ(sxt_spmv(SXT_NO_TRANSPOSE, nullptr, a.get(), x.get(), nullptr, single.get()), SXT_E_TYPE);
  expect_says("y holds f32");
}

TEST(Sentences, OfTwoVectorsBothAreNamed) {
  const Context here = cpu(), there = cpu();
  const Vector x = vector_of(here, 2), far = vector_of(there, 2), single = vector_of(here, 2, SXT_F32),
               longer = vector_of(here, 3);
  double result = 0;
  EXPECT_EQ(sxt_dot(far.get(), x.get(), &result), SXT_E_ARGUMENT);
  expect_says("x and y belong to different contexts");
  EXPECT_EQ(sxt_dot(single.get(), x.get(), &result), SXT_E_TYPE);
  expect_says("x holds f32, y f64");
  EXPECT_EQ(sxt_dot(longer.get(), x.get(), &result), SXT_E_DIMENSION);
  expect_says("x has 3 values, y 2");
  EXPECT_EQ(sxt_multiply(x.get(), x.get(), far.get()), SXT_E_ARGUMENT);
  expect_says("x and w");
}

TEST(Sentences, CountAsTheMatrixIsGiven) {
  const Context context = cpu();
  for (const std::int32_t base : {0, 1}) {
    const std::string from = " (counting from " + std::to_string(base) + ")", row = std::to_string(1 + base);
    solver(pair(context, base, {2, -1, -1, -2}), SXT_E_DIAGONAL);
    expect_says("row " + row + from);
    solver(pair(context, base, {2, -1, -3, 2}), SXT_E_NOT_SYMMETRIC);
    expect_says("(" + std::to_string(base) + ", " + row + ")");
    expect_says("counting from " + std::to_string(base) + ")");
    // A kernel's own sentence: the block of both rows is not positive definite.
    sxt_pcg_options blocks = pcg_options();
    blocks.preconditioner = "block-jacobi:2";
    solver(pair(context, base, {1, 2, 2, 1}), SXT_E_NOT_POSITIVE_DEFINITE, blocks);
    expect_says("row " + row + from);
    const Matrix a = pair(context, base);
    const double values[] = {2, -1, NAN, 2};
    EXPECT_EQ(sxt_matrix_update_values(a.get(), values, 4), SXT_E_NOT_FINITE);
    expect_says("value " + std::to_string(2 + base) + from);
    const Pcg pcg = solver(a);
    const double b[] = {1, NAN};
    double x[2] = {};
    EXPECT_EQ(sxt_pcg_solve_array(pcg.get(), 2, b, x, nullptr, nullptr), SXT_E_NOT_FINITE);
    expect_says("b[" + row + "]" + from);
    sxt_solve_options options = solve_options();
    const std::int32_t stop = 1;
    options.cancel = &stop;
    const double many[] = {1, 2, 3, 4};
    double answers[4] = {};
    EXPECT_EQ(sxt_pcg_solve_block(pcg.get(), 2, 2, many, 2, answers, 2, &options, nullptr), SXT_NOT_CONVERGED);
    expect_says("column " + row + from);
  }
}

TEST(Sentences, FilesCountFromOne) {
  const Context context = cpu();
  const char *path = "sentences_test.mtx";
  std::ofstream(path) << "%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 2\n2 1 -1\n";
  const Matrix a =
      make<Matrix>([&](sxt_matrix **out) { return sxt_matrix_from_file(context.get(), path, nullptr, out); });
  std::remove(path);
  solver(a, SXT_E_DIAGONAL);
  expect_says("row 2 (counting from 1)");
}

TEST(Sentences, NumbersThatAreNoPlacesStay) {
  const Context context = cpu();
  solver(pair(context, 1, {2, -1, -1, -2}), SXT_E_DIAGONAL);
  expect_says("is -2;");
}

TEST(Sentences, ANegativeDefiniteMatrixIsToldOfItsNegative) {
  const Context context = cpu();
  solver(pair(context, 0, {-2, 1, 1, -2}), SXT_E_DIAGONAL);
  expect_says("solve with -A");
  solver(pair(context, 0, {-2, 1, 1, 2}), SXT_E_DIAGONAL);
  expect_silent_of("solve with -A");
}

// The Laplacian of a ring is singular: constants are its null space, and b = (1, 0, 0, ...) is not in its range.
TEST(Sentences, ASingularMatrixIsToldOfItsNullSpace) {
  const Context context = cpu();
  constexpr std::int32_t n = 50;
  std::vector<std::int32_t> ptr{0}, col;
  std::vector<double> values, b(n, 0.0), x(n);
  b[0] = 1;
  for (std::int32_t i = 0; i < n; ++i) {
    col.insert(col.end(), {(i + n - 1) % n, i, (i + 1) % n});
    values.insert(values.end(), {-1.0, 2.0, -1.0});
    ptr.push_back(static_cast<std::int32_t>(col.size()));
  }
  const Matrix a = make<Matrix>([&](sxt_matrix **out) {
    return sxt_matrix_from_csr(context.get(), n, n, ptr.data(), col.data(), values.data(), nullptr, out);
  });
  const Pcg pcg = solver(a);
  EXPECT_EQ(sxt_pcg_solve_array(pcg.get(), n, b.data(), x.data(), nullptr, nullptr), SXT_NOT_CONVERGED);
  expect_says("null_space");
}

TEST(Sentences, TheLogTellsOfSetUpsAndSolves) {
  std::vector<std::string> lines;
  sxt_context_options options = context_options();
  options.device = "cpu";
  options.log_level = SXT_LOG_INFO;
  options.log_user = &lines;
  options.log = [](void *user, sxt_log_level, const char *line) {
    static_cast<std::vector<std::string> *>(user)->emplace_back(line);
  };
  const Context context = make<Context>([&](sxt_context **out) { return sxt_context_create(&options, out); });
  const Pcg pcg = solver(pair(context, 0));
  const double b[] = {1, 1};
  double x[2] = {};
  EXPECT_EQ(sxt_pcg_solve_array(pcg.get(), 2, b, x, nullptr, nullptr), SXT_OK);
  std::string all;
  for (const std::string &line : lines) all += line + "\n";
  EXPECT_NE(all.find("are set up: pcg by pcg."), std::string::npos) << all;
  EXPECT_NE(all.find("a solve ended: converged after "), std::string::npos) << all;
}

// diag(1, 0, -1) and others, each next to a system that is whole.
TEST(Sentences, SingularSystemsHaveTheirInertia) {
  const Context context = cpu();
  const std::vector<double> singular[] = {
      {1, 0, 0, 0, 0, 0, 0, 0, -1}, {0, 0, 0, 0, 0, 0, 0, 0, 0}, {1, 1, 1, 1, 1, 1, 1, 1, 1}};
  const std::vector<std::int32_t> truth[] = {{1, 1, 1}, {0, 0, 3}, {1, 0, 2}};
  for (const sxt_definiteness definiteness : {sxt_definiteness{SXT_INDEFINITE}, sxt_definiteness{SXT_TRY_DEFINITE}})
    for (int k = 0; k < 3; ++k) {
      sxt_hermitian_options options = hermitian_options(SXT_F64, 2, 3);
      options.definiteness = definiteness;
      const Hermitian systems = hermitian(context, options);
      std::vector<double> a = singular[k], b(6, 1.0);
      a.insert(a.end(), {1, 0, 0, 0, 1, 0, 0, 0, 1});
      std::vector<std::int32_t> info(2, 7), pivots(6), inertia(6, -7);
      sxt_hermitian_set set = hermitian_set();
      set.a = a.data();
      set.b = b.data();
      set.info = info.data();
      set.pivots = pivots.data();
      set.inertia = inertia.data();
      ASSERT_EQ(sxt_hermitian_factor_solve(systems.get(), &set), SXT_OK) << last_error(context);
      EXPECT_GT(info[0], 0);
      EXPECT_EQ(info[1], 0);
      EXPECT_EQ(std::vector<std::int32_t>(inertia.begin(), inertia.begin() + 3), truth[k]) << definiteness << " " << k;
      EXPECT_EQ(std::vector<std::int32_t>(inertia.begin() + 3, inertia.end()), (std::vector<std::int32_t>{3, 0, 0}));
    }
}

}  // namespace
}  // namespace api_test
