// SPDX-License-Identifier: BSD-3-Clause
// Semidefinite systems whose null space the caller knows: solved outside of it, for any parts of b and the guess in it.
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>

#include "tests/api/support.hpp"

namespace api_test {
namespace {

// The Laplacian of a graph: `parts` grids of side x side points with weights that differ, not joined to each other.
// Equal values on one of the parts are turned into 0.
Csr graph_laplacian(int side, int parts = 1) {
  Csr a;
  const int points = side * side;
  a.rows = a.cols = std::int64_t{parts} * points;
  const auto weight = [](int i, int j) { return 2 + std::sin(0.9 * (i + j)) + std::cos(0.37 * i * j); };
  for (int row = 0; row < parts * points; ++row) {
    const int part = row / points * points, i = row % points / side, j = row % side;
    double before[2] = {i > 0 ? weight(row - side, row) : 0, j > 0 ? weight(row - 1, row) : 0};
    double after[2] = {j + 1 < side ? weight(row, row + 1) : 0, i + 1 < side ? weight(row, row + side) : 0};
    EXPECT_GE(row, part);
    if (i > 0) a.entry(row - side, -before[0]);
    if (j > 0) a.entry(row - 1, -before[1]);
    a.entry(row, before[0] + before[1] + after[0] + after[1]);
    if (j + 1 < side) a.entry(row + 1, -after[0]);
    if (i + 1 < side) a.entry(row + side, -after[1]);
    a.end_row();
  }
  return a;
}

std::vector<double> some_values(std::int64_t n, double offset) {
  std::vector<double> b(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = offset + std::sin(1.7 * static_cast<double>(i));
  return b;
}

double mean(const std::vector<double> &v, std::size_t first, std::size_t count) {
  return std::accumulate(v.begin() + static_cast<std::ptrdiff_t>(first),
                         v.begin() + static_cast<std::ptrdiff_t>(first + count), 0.0) /
         static_cast<double>(count);
}

std::vector<double> without_means(std::vector<double> v, std::size_t part) {
  for (std::size_t first = 0; first < v.size(); first += part) {
    const double m = mean(v, first, part);
    for (std::size_t i = first; i < first + part; ++i) v[i] -= m;
  }
  return v;
}

sxt_pcg_options with_constants() {
  sxt_pcg_options options = pcg_options();
  options.rtol = 1e-10;
  options.null_space_size = 1;
  return options;
}

Pcg create(const Matrix &a, const sxt_pcg_options &options, sxt_status expected = SXT_OK) {
  return make<Pcg>([&](sxt_pcg **out) { return sxt_pcg_create(a.get(), &options, out); }, expected);
}

// A pure Neumann problem whose b is not consistent.
class PcgNullSpaceTest : public testing::Test {
 protected:
  const Context context = cpu();
  const Csr a = graph_laplacian(24);
  const Matrix matrix = a.matrix(context);
  const std::vector<double> b = some_values(a.rows, 0.5);
  std::vector<double> x = std::vector<double>(b.size());

  void expect_solved(const sxt_pcg_report &report, double tolerance = 1e-10) {
    EXPECT_EQ(report.reason, SXT_REASON_CONVERGED);
    EXPECT_LE(relative_residual(a, without_means(b, b.size()), x), 1.01 * tolerance);
    EXPECT_NEAR(mean(x, 0, x.size()), 0, 1e-13);
    EXPECT_NEAR(report.null_space_norm, std::fabs(mean(b, 0, b.size())) * std::sqrt(b.size()), 1e-10);
  }
};

TEST_F(PcgNullSpaceTest, WithoutTheOptionAnInconsistentSystemNeverConverges) {
  sxt_pcg_options options = pcg_options();
  options.max_iterations = 2000;
  EXPECT_NE(solve(create(matrix, options), b, x, SXT_NOT_CONVERGED).reason, SXT_REASON_CONVERGED);
}

TEST_F(PcgNullSpaceTest, TheRestIsSolvedByEveryPreconditionerRecurrenceAndOrder) {
  for (const char *preconditioner : {"none", "jacobi", "block-jacobi", "ssor-ai", "fsai", "chebyshev"})
    for (const char *recurrence : {"classical", "chronopoulos-gear", "predict-recompute"}) {
      SCOPED_TRACE(std::string(preconditioner) + " " + recurrence);
      const std::string name = preconditioner;  // predict-and-recompute is for systems that are scaled beforehand
      if (recurrence[0] == 'p' && name != "none" && name != "jacobi") continue;
      sxt_pcg_options options = with_constants();
      options.preconditioner = preconditioner;
      options.recurrence = recurrence;
      expect_solved(solve(create(matrix, options), b, x));
    }
  sxt_pcg_options options = with_constants();
  options.reorder = 1;
  const Pcg renumbered = create(matrix, options);
  EXPECT_NE(explain(renumbered).find("null space"), std::string::npos);
  expect_solved(solve(renumbered, b, x));
  options = with_constants();
  options.format = "csr:f32";
  expect_solved(solve(create(matrix, options), b, x));
}

TEST_F(PcgNullSpaceTest, AGuessLosesWhatItHasInTheNullSpace) {
  const Pcg pcg = create(matrix, with_constants());
  solve(pcg, b, x);
  for (double &each : x) each += 7;
  sxt_solve_options options = solve_options();
  options.use_initial_guess = 1;
  options.rtol = 1e-8;
  const sxt_pcg_report again = solve(pcg, b, x, SXT_OK, &options);
  EXPECT_EQ(again.iterations, 0);
  expect_solved(again, 1e-8);
}

TEST_F(PcgNullSpaceTest, NothingIsLeftOfARightHandSideInTheNullSpace) {
  const Pcg pcg = create(matrix, with_constants());
  std::fill(x.begin(), x.end(), 3);
  const sxt_pcg_report report = solve(pcg, std::vector<double>(b.size(), 1.0 / 3), x);
  EXPECT_EQ(report.reason, SXT_REASON_CONVERGED);
  EXPECT_EQ(report.iterations, 0);
  EXPECT_EQ(x, std::vector<double>(b.size()));
}

TEST_F(PcgNullSpaceTest, ColumnsOfABlock) {
  const Pcg pcg = create(matrix, with_constants());
  const std::size_t n = b.size(), columns = 4;
  std::vector<double> many, answers(columns * n);
  for (std::size_t j = 0; j < columns; ++j)
    for (const double each : b) many.push_back(each * static_cast<double>(j));
  std::vector<sxt_pcg_report> reports(columns, new_report());
  const auto rows = static_cast<std::int64_t>(n);
  ASSERT_EQ(sxt_pcg_solve_block(pcg.get(), rows, static_cast<std::int64_t>(columns), many.data(), rows, answers.data(),
                                rows, nullptr, reports.data()),
            SXT_OK)
      << sxt_last_error(nullptr);
  for (std::size_t j = 0; j < columns; ++j) {
    for (std::size_t i = 0; i < n; ++i) x[i] = j > 0 ? answers[j * n + i] / static_cast<double>(j) : 0;
    if (j == 0) continue;
    reports[j].null_space_norm /= static_cast<double>(j);
    expect_solved(reports[j]);
  }
}

TEST_F(PcgNullSpaceTest, NewValuesThatHaveAnotherNullSpaceAreRefused) {
  const Pcg pcg = create(matrix, with_constants());
  std::vector<double> values = a.values;
  for (double &each : values) each *= 2;
  ASSERT_EQ(sxt_matrix_update_values(matrix.get(), values.data(), static_cast<std::int64_t>(values.size())), SXT_OK);
  EXPECT_EQ(solve(pcg, b, x).reason, SXT_REASON_CONVERGED);
  values[0] += 1;
  ASSERT_EQ(sxt_matrix_update_values(matrix.get(), values.data(), static_cast<std::int64_t>(values.size())), SXT_OK);
  solve(pcg, b, x, SXT_E_ARGUMENT);
  EXPECT_NE(last_error(context).find("row 0"), std::string::npos) << last_error(context);
}

TEST_F(PcgNullSpaceTest, WhatIsNoNullSpaceIsRefusedWithItsVector) {
  const std::size_t n = b.size();
  std::vector<double> two(2 * n, 1);
  const auto refused = [&](const void *vectors, std::int64_t size, sxt_status status, const char *words) {
    sxt_pcg_options options = pcg_options();
    options.null_space = vectors;
    options.null_space_size = size;
    create(matrix, options, status);
    EXPECT_NE(last_error(context).find(words), std::string::npos) << last_error(context);
  };
  refused(nullptr, -1, SXT_E_ARGUMENT, "null_space_size is -1");
  refused(nullptr, 2, SXT_E_ARGUMENT, "null_space is NULL");
  refused(two.data(), 0, SXT_E_ARGUMENT, "null_space_size is 0");
  refused(two.data(), 33, SXT_E_ARGUMENT, "33");
  refused(two.data(), 2, SXT_E_ARGUMENT, "vector 1 (counting from 0) is a combination");
  two[n + 5] = 2;
  refused(two.data(), 2, SXT_E_ARGUMENT, "A times vector 1");
  two[n + 5] = std::numeric_limits<double>::quiet_NaN();
  refused(two.data(), 2, SXT_E_NOT_FINITE, "value 5 of vector 1");
  std::fill(two.begin(), two.end(), 0);
  refused(two.data(), 1, SXT_E_ARGUMENT, "vector 0 (counting from 0) is zero");
  const Matrix definite = laplacian(4).matrix(context);
  create(definite, with_constants(), SXT_E_ARGUMENT);
}

TEST(PcgNullSpacesTest, OfSeveralVectorsThatAreNotOrthogonal) {
  const Context context = cpu();
  const int side = 12, points = side * side;
  const Csr a = graph_laplacian(side, 3);
  const Matrix matrix = a.matrix(context);
  const auto n = static_cast<std::size_t>(a.rows);
  std::vector<double> vectors(3 * n);
  for (std::size_t i = 0; i < n; ++i)
    vectors[i] = 1, vectors[n + i] = i < 2u * points, vectors[2 * n + i] = i < 1u * points ? -4e5 : 0;
  sxt_pcg_options options = with_constants();
  options.null_space = vectors.data();
  options.null_space_size = 3;
  const std::vector<double> b = some_values(a.rows, -2);
  std::vector<double> x(n);
  const Pcg pcg = create(matrix, options);
  vectors.assign(vectors.size(), 9);  // they were copied
  EXPECT_EQ(solve(pcg, b, x).reason, SXT_REASON_CONVERGED);
  EXPECT_LE(relative_residual(a, without_means(b, points), x), 1.01e-10);
  for (std::size_t part = 0; part < 3; ++part) EXPECT_NEAR(mean(x, part * points, points), 0, 1e-13);
}

// A chain whose links turn the phase: A = D L D^H with L a graph's Laplacian, so that the null space is the diagonal of
// D.
template <class T>
void expect_chain_solved(double tolerance) {
  using C = std::complex<T>;
  const Context context = cpu();
  const int n = 200;
  const auto phase = [](int i) { return std::polar(1.0, 0.3 * i * i); };
  std::vector<std::int32_t> ptr{0}, col;
  std::vector<C> values, null(n), b(n), x(n);
  for (int i = 0; i < n; ++i) {
    null[i] = C(phase(i));
    b[i] = C(T(std::sin(i)), T(0.5));
    for (int j = std::max(0, i - 1); j <= std::min(n - 1, i + 1); ++j) {
      const double entry = i != j ? -1 : (i > 0) + (i + 1 < n);
      col.push_back(j);
      values.push_back(i == j ? C(T(entry)) : C(entry * phase(i) * std::conj(phase(j))));
    }
    ptr.push_back(static_cast<std::int32_t>(col.size()));
  }
  sxt_matrix_options as = matrix_options();
  as.value_type = sizeof(T) == 4 ? SXT_C64 : SXT_C128;
  const Matrix matrix = make<Matrix>([&](sxt_matrix **out) {
    return sxt_matrix_from_csr(context.get(), n, n, ptr.data(), col.data(), values.data(), &as, out);
  });
  sxt_pcg_options options = pcg_options();
  options.rtol = tolerance;
  options.null_space = null.data();
  options.null_space_size = 1;
  const Pcg pcg = make<Pcg>([&](sxt_pcg **out) { return sxt_pcg_create(matrix.get(), &options, out); });
  sxt_pcg_report report = new_report();
  EXPECT_EQ(sxt_pcg_solve_array(pcg.get(), n, b.data(), x.data(), nullptr, &report), SXT_OK) << last_error(context);
  std::complex<double> along = 0, of_b = 0;
  for (int i = 0; i < n; ++i) along += std::conj(phase(i)) * std::complex<double>(x[i]) / double(n);
  for (int i = 0; i < n; ++i) of_b += std::conj(phase(i)) * std::complex<double>(b[i]) / double(n);
  double residual = 0, size = 0;
  for (int i = 0; i < n; ++i) {
    std::complex<double> r = std::complex<double>(b[i]) - of_b * phase(i);
    size += std::norm(r);
    for (std::int32_t k = ptr[i]; k < ptr[i + 1]; ++k)
      r -= std::complex<double>(values[k]) * std::complex<double>(x[col[k]]);
    residual += std::norm(r);
  }
  EXPECT_LE(std::sqrt(residual / size), 2 * tolerance);
  EXPECT_LE(std::abs(along), 100 * std::numeric_limits<T>::epsilon() * std::abs(std::complex<double>(x[0])) + 1e-12);
  EXPECT_NEAR(report.null_space_norm, std::abs(of_b) * std::sqrt(n), 1e-3);
}

TEST(PcgNullSpacesTest, OfComplexMatrices) {
  expect_chain_solved<double>(1e-10);
  expect_chain_solved<float>(1e-3);
}

}  // namespace
}  // namespace api_test
