// SPDX-License-Identifier: BSD-3-Clause
// Solves with rows in another order than the caller's: input and output are in the caller's order for every
// preconditioner, precision of values and update; and the decision whether an order is made.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <unistd.h>

#include "tests/api/support.hpp"

namespace api_test {
namespace {

std::vector<double> waves(std::int64_t n) {
  std::vector<double> b(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = std::cos(0.3 * static_cast<double>(i)) + 0.1;
  return b;
}

Pcg create(const Matrix &matrix, const sxt_pcg_options &options) {
  return make<Pcg>([&](sxt_pcg **out) { return sxt_pcg_create(matrix.get(), &options, out); });
}

sxt_pcg_options always() {
  sxt_pcg_options options = pcg_options();
  options.reorder = 1;
  options.rtol = 1e-10;
  options.probe = -1;
  return options;
}

bool contains(const std::string &text, const char *what) { return text.find(what) != std::string::npos; }

struct Way {
  const char *name, *preconditioner, *format;
  sxt_norm norm;
};

class PcgReorderTest : public testing::TestWithParam<Way> {
 protected:
  sxt_pcg_options options() const {
    sxt_pcg_options out = always();
    out.preconditioner = GetParam().preconditioner;
    out.format = GetParam().format;
    out.norm = GetParam().norm;
    return out;
  }
  // In the requested norm, computed here from the caller's arrays.
  double residual(const Csr &a, const std::vector<double> &b, const std::vector<double> &x) const {
    if (GetParam().norm == SXT_NORM_2) return relative_residual(a, b, x);
    const std::vector<double> ax = a.times(x);
    double most = 0, norm = 0;
    for (std::size_t i = 0; i < b.size(); ++i)
      most = std::max(most, std::abs(b[i] - ax[i])), norm = std::max(norm, std::abs(b[i]));
    return most / norm;
  }
  Context context_ = cpu();
};

TEST_P(PcgReorderTest, AnswersInTheCallersOrder) {
  const Csr a = shuffled(laplacian(40, 0.1));
  const Matrix matrix = a.matrix(context_);
  const Pcg pcg = create(matrix, options());
  EXPECT_TRUE(contains(explain(pcg), "ordering.rcm.cpu, bandwidth ")) << explain(pcg);
  const std::vector<double> b = waves(a.rows);
  std::vector<double> x(b.size());
  const sxt_pcg_report report = solve(pcg, b, x);
  EXPECT_LE(residual(a, b, x), 1.0001e-10);
  EXPECT_NEAR(report.true_relative_residual, residual(a, b, x), 1e-12);
  // A guess, exact and slightly wrong.
  sxt_solve_options warm = solve_options();
  warm.use_initial_guess = 1;
  const std::vector<double> before = x;
  EXPECT_EQ(solve(pcg, b, x, SXT_OK, &warm).iterations, 0);
  EXPECT_EQ(x, before);
  for (double &each : x) each *= 1 + 1e-6;
  EXPECT_LT(solve(pcg, b, x, SXT_OK, &warm).iterations, report.iterations);
  EXPECT_LE(residual(a, b, x), 1.0001e-10);
}

TEST_P(PcgReorderTest, NewValuesReachTheNextSolve) {
  const Csr first = shuffled(laplacian(30, 0.3));
  Csr second = first;
  for (std::int64_t i = 0; i < second.rows; ++i)
    for (std::int32_t k = second.ptr[i]; k < second.ptr[i + 1]; ++k)
      second.values[k] *=
          2 + std::sin(static_cast<double>(i) * 0.1) * std::sin(static_cast<double>(second.col[k]) * 0.1);
  for (std::int64_t i = 0; i < second.rows; ++i)  // stays definite
    for (std::int32_t k = second.ptr[i]; k < second.ptr[i + 1]; ++k)
      if (second.col[k] == i) second.values[k] *= 4;
  const Matrix matrix = first.matrix(context_);
  const Pcg pcg = create(matrix, options());
  const std::vector<double> b = waves(first.rows);
  std::vector<double> x(b.size());
  solve(pcg, b, x);
  EXPECT_LE(residual(first, b, x), 1.0001e-10);
  const auto count = static_cast<std::int64_t>(second.values.size());
  ASSERT_EQ(sxt_matrix_update_values(matrix.get(), second.values.data(), count), SXT_OK) << last_error(context_);
  solve(pcg, b, x);
  EXPECT_LE(residual(second, b, x), 1.0001e-10);
}

TEST_P(PcgReorderTest, ColumnsOfABlockAreInTheCallersOrder) {
  const Csr a = shuffled(laplacian(30, 0.2));
  const Matrix matrix = a.matrix(context_);
  const Pcg pcg = create(matrix, options());
  constexpr int columns = 3;
  std::vector<double> b, x(static_cast<std::size_t>(columns * a.rows));
  for (int j = 0; j < columns; ++j)
    for (const double each : waves(a.rows)) b.push_back(each + j);
  ASSERT_EQ(sxt_pcg_solve_block(pcg.get(), a.rows, columns, b.data(), a.rows, x.data(), a.rows, nullptr, nullptr),
            SXT_OK);
  for (int j = 0; j < columns; ++j) {
    const auto part = [&](const std::vector<double> &all) {
      return std::vector<double>(all.begin() + j * a.rows, all.begin() + (j + 1) * a.rows);
    };
    EXPECT_LE(residual(a, part(b), part(x)), 1.0001e-10) << j;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Ways, PcgReorderTest,
    testing::Values(Way{"none", "none", "auto", SXT_NORM_2}, Way{"jacobi", "jacobi", "auto", SXT_NORM_2},
                    Way{"max_norm", "jacobi", "auto", SXT_NORM_MAX},
                    Way{"max_norm_plain", "none", "auto", SXT_NORM_MAX}, Way{"f32", "jacobi", "csr:f32", SXT_NORM_2},
                    Way{"f32_plain", "none", "csr:f32", SXT_NORM_2},
                    Way{"blocks", "block-jacobi:4", "auto", SXT_NORM_2}, Way{"fsai", "fsai", "auto", SXT_NORM_2},
                    Way{"slices", "jacobi", "sell", SXT_NORM_2}),
    [](const auto &way) { return way.param.name; });

template <class T>
void solve_hermitian(sxt_value_type type, double rtol) {
  const Csr plain = shuffled(laplacian(24, 0.5));
  std::vector<T> values;
  for (std::int64_t i = 0; i < plain.rows; ++i)
    for (std::int32_t k = plain.ptr[i]; k < plain.ptr[i + 1]; ++k) {
      const std::int32_t j = plain.col[k];
      T value(static_cast<float>(plain.values[k]));
      if constexpr (!std::is_floating_point_v<T>)
        if (j != i) value *= std::polar<typename T::value_type>(1, j > i ? 0.4f : -0.4f);
      values.push_back(value);
    }
  const Context context = cpu();
  sxt_matrix_options matrix_type = matrix_options();
  matrix_type.value_type = type;
  const Matrix matrix = make<Matrix>([&](sxt_matrix **out) {
    return sxt_matrix_from_csr(context.get(), plain.rows, plain.rows, plain.ptr.data(), plain.col.data(), values.data(),
                               &matrix_type, out);
  });
  sxt_pcg_options options = always();
  options.rtol = rtol;
  const Pcg pcg = create(matrix, options);
  std::vector<T> b, x(static_cast<std::size_t>(plain.rows));
  for (const double each : waves(plain.rows)) b.push_back(T(static_cast<float>(each)));
  ASSERT_EQ(sxt_pcg_solve_array(pcg.get(), plain.rows, b.data(), x.data(), nullptr, nullptr), SXT_OK)
      << last_error(context);
  double residual = 0, norm = 0;
  for (std::int64_t i = 0; i < plain.rows; ++i) {
    std::complex<double> sum = 0;
    for (std::int32_t k = plain.ptr[i]; k < plain.ptr[i + 1]; ++k)
      sum += std::complex<double>(values[static_cast<std::size_t>(k)]) *
             std::complex<double>(x[static_cast<std::size_t>(plain.col[k])]);
    residual += std::norm(std::complex<double>(b[static_cast<std::size_t>(i)]) - sum);
    norm += std::norm(std::complex<double>(b[static_cast<std::size_t>(i)]));
  }
  EXPECT_LE(std::sqrt(residual / norm), 2 * rtol);
}

TEST(PcgReorder, EveryValueType) {
  solve_hermitian<float>(SXT_F32, 1e-5);
  solve_hermitian<double>(SXT_F64, 1e-10);
  solve_hermitian<std::complex<float>>(SXT_C64, 1e-5);
  solve_hermitian<std::complex<double>>(SXT_C128, 1e-10);
}

TEST(PcgReorder, NeverIsKept) {
  const Context context = cpu();
  const Matrix matrix = shuffled(laplacian(20)).matrix(context);
  sxt_pcg_options options = always();
  options.reorder = -1;
  const std::string text = explain(create(matrix, options));
  EXPECT_TRUE(contains(text, "the caller's")) << text;
  EXPECT_FALSE(contains(text, "ordering.")) << text;
}

TEST(PcgReorder, SmallSystemsAreLeftAsTheyAre) {
  const Context context = cpu();
  const Matrix matrix = shuffled(laplacian(20)).matrix(context);
  const std::string text = explain(create(matrix, pcg_options()));
  EXPECT_TRUE(contains(text, "another order would take about ")) << text;
}

TEST(PcgReorder, OneRowAndRowsApart) {
  const Context context = cpu();
  for (const Csr &a : {diagonal({4}), diagonal({1, 2, 3, 4, 5})}) {
    const Matrix matrix = a.matrix(context);
    const Pcg pcg = create(matrix, always());
    const std::vector<double> b(static_cast<std::size_t>(a.rows), 2);
    std::vector<double> x(b.size());
    solve(pcg, b, x);
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_DOUBLE_EQ(x[i], 2 / a.values[i]);
  }
}

// Without the check of symmetry any pattern may come: the order still holds all rows.
TEST(PcgReorder, APatternThatIsNotSymmetricIsOrdered) {
  const Context context = cpu();
  Csr a;
  a.rows = a.cols = 4;
  for (const std::vector<std::int32_t> &row : {std::vector<std::int32_t>{0, 1, 3}, {0, 1, 2}, {1, 2}, {3}}) {
    const auto i = static_cast<std::int32_t>(a.ptr.size()) - 1;
    for (const std::int32_t j : row) a.entry(j, i == j ? 4 : 0);
    a.end_row();
  }
  const Matrix matrix = a.matrix(context);
  sxt_pcg_options options = always();
  options.check_symmetry = 0;
  const Pcg pcg = create(matrix, options);
  const std::vector<double> b{4, 8, 12, 16};
  std::vector<double> x(4);
  solve(pcg, b, x);
  EXPECT_EQ(x, (std::vector<double>{1, 2, 3, 4}));
}

TEST(PcgReorder, ABadEntryIsNamedByTheCallersNumber) {
  const Context context = cpu();
  const Csr a = shuffled(laplacian(20));
  const Matrix matrix = a.matrix(context);
  const Pcg pcg = create(matrix, always());
  std::vector<double> b(static_cast<std::size_t>(a.rows), 1), x(b.size());
  b[123] = NAN;
  EXPECT_EQ(sxt_pcg_solve_array(pcg.get(), a.rows, b.data(), x.data(), nullptr, nullptr), SXT_E_NOT_FINITE);
  EXPECT_TRUE(contains(last_error(context), "b[123]")) << last_error(context);
}

TEST(PcgReorder, AForcedOrderingIsTheOneTaken) {
  const Context context = cpu();
  const Matrix matrix = shuffled(laplacian(20)).matrix(context);
  ASSERT_EQ(sxt_context_force(context.get(), "sxt.ordering/2", "ordering.reference.cpu"), SXT_OK);
  EXPECT_TRUE(contains(explain(create(matrix, always())), "ordering.reference.cpu, bandwidth "));
}

TEST(PcgReorder, DeterministicSolvesRepeat) {
  const Csr a = shuffled(laplacian(40, 0.01));
  const std::vector<double> b = waves(a.rows);
  std::vector<double> first;
  for (const int threads : {1, 2, 4}) {
    const Context context = cpu(threads, true);
    const Matrix matrix = a.matrix(context);
    sxt_pcg_options options = always();
    options.recurrence = "classical";
    options.format = "csr";
    const Pcg pcg = create(matrix, options);
    std::vector<double> x(b.size());
    solve(pcg, b, x);
    if (first.empty()) first = x;
    EXPECT_EQ(x, first) << threads << " threads";
  }
}

TEST(PcgReorder, NewValuesAndFurtherSolvesAskForNoMemory) {
  Lender lender;
  const Context context = lender.context();
  const Csr a = shuffled(laplacian(30, 0.1));
  const Matrix matrix = a.matrix(context);
  sxt_pcg_options options = always();
  options.preconditioner = "jacobi";
  const Pcg pcg = create(matrix, options);
  const std::vector<double> b = waves(a.rows);
  std::vector<double> x(b.size());
  solve(pcg, b, x);
  const std::int64_t before = lender.calls;
  for (int step = 0; step < 3; ++step) {
    std::vector<double> values(a.values);
    for (double &each : values) each *= 1 + step;
    ASSERT_EQ(sxt_matrix_update_values(matrix.get(), values.data(), static_cast<std::int64_t>(values.size())), SXT_OK);
    solve(pcg, b, x);
  }
  EXPECT_EQ(lender.calls, before);
}

std::string temporary(const char *name) { return testing::TempDir() + "reorder_" + std::to_string(getpid()) + name; }

// A plan that has an order is followed without predicting its gain.
TEST(PcgReorder, APlanKeepsTheOrder) {
  const std::string path = temporary(".plan");
  const Csr a = shuffled(laplacian(20));
  {
    const Context context = cpu();
    const Matrix matrix = a.matrix(context);
    create(matrix, always());
    ASSERT_EQ(sxt_plan_save(context.get(), path.c_str()), SXT_OK);
  }
  sxt_pcg_options automatic = always();
  automatic.reorder = 0;
  const Context context = cpu();
  ASSERT_EQ(sxt_plan_load(context.get(), path.c_str(), 1), SXT_OK);
  const Matrix matrix = a.matrix(context), other = shuffled(laplacian(20), 4).matrix(context);
  EXPECT_TRUE(contains(explain(create(matrix, automatic)), "ordering.rcm.cpu, bandwidth "));
  ASSERT_EQ(sxt_plan_load(context.get(), path.c_str(), 0), SXT_OK);
  EXPECT_TRUE(contains(explain(create(other, automatic)), "the caller's")) << "the plan is for another pattern";
  std::remove(path.c_str());
}

}  // namespace
}  // namespace api_test
