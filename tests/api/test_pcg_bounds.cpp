// SPDX-License-Identifier: BSD-3-Clause
// What a report tells of a residual, where it was rounded on its way to the caller, and right-hand sides whose parts
// are finite and their sums are not.
#include <cmath>
#include <complex>
#include <cstdint>
#include <vector>

#include "tests/api/support.hpp"

namespace api_test {
namespace {

Matrix two_by_two(const Context &context, double diagonal, double beside) {
  Csr a;
  a.rows = a.cols = 2;
  a.entry(0, diagonal), a.entry(1, beside), a.end_row();
  a.entry(0, beside), a.entry(1, diagonal), a.end_row();
  return a.matrix(context);
}

// |b - A x| in quadruple precision, where its squares do not leave the range.
__extension__ typedef __float128 Quad;
Quad root(Quad square) {
  Quad r = std::sqrt(static_cast<double>(square));
  for (int i = 0; i < 4 && r > 0; ++i) r = (r + square / r) / 2;
  return r;
}

void expect_bounded(const Context &context, const Pcg &pcg, double diagonal, double beside, const double (&b)[2],
                    double rtol) {
  double x[2];
  sxt_solve_options options = solve_options();
  options.rtol = rtol;
  sxt_pcg_report report = new_report();
  ASSERT_GE(sxt_pcg_solve_array(pcg.get(), 2, b, x, &options, &report), 0) << last_error(context);
  const Quad by = std::ldexp(1.0, 1000);  // so that squares of the least numbers stay in the range
  const Quad first = (b[0] - Quad{diagonal} * x[0] - Quad{beside} * x[1]) * by;
  const Quad second = (b[1] - Quad{diagonal} * x[1] - Quad{beside} * x[0]) * by;
  const bool tiny = std::fabs(b[1]) < 1e-290;
  const Quad norm =
      tiny ? root(first * first + second * second) / by : root(first / by * (first / by) + second / by * (second / by));
  const Quad off = norm > report.residual_norm ? norm - report.residual_norm : report.residual_norm - norm;
  EXPECT_LE(static_cast<double>(off), report.residual_bound)
      << b[0] << ", " << b[1] << ": " << report.residual_norm << ", " << sxt_reason_name(report.reason);
}

TEST(PcgBoundsTest, WhatIsHandedBackHasABound) {
  const Context context = cpu(1);
  const Matrix indefinite = two_by_two(context, 1, 2), definite = two_by_two(context, 3, 1);
  const auto solver = [](const Matrix &a) {
    return make<Pcg>([&](sxt_pcg **out) { return sxt_pcg_create(a.get(), nullptr, out); });
  };
  const Pcg fails = solver(indefinite), solves = solver(definite);
  for (int k = 1; k < 40; ++k) {
    expect_bounded(context, fails, 1, 2, {0.1 * k, -0.3}, 1e-8);
    expect_bounded(context, solves, 3, 1, {1.2345e-311 * k, 3.21e-308}, 1e-3);
  }
}

template <class R>
void expect_sums_beyond_the_range(sxt_value_type type, R large) {
  using T = std::complex<R>;
  const Context context = cpu(1);
  const std::int32_t row[] = {0, 1, 2}, col[] = {0, 1, 2};
  const T values[] = {1, 2, 4};
  sxt_matrix_options as = matrix_options();
  as.value_type = type;
  const Matrix matrix = make<Matrix>(
      [&](sxt_matrix **out) { return sxt_matrix_from_coo(context.get(), 3, 3, 3, row, col, values, &as, out); });
  for (const sxt_norm norm : {SXT_NORM_2, SXT_NORM_MAX}) {
    sxt_pcg_options options = pcg_options();
    options.norm = norm;
    const Pcg pcg = make<Pcg>([&](sxt_pcg **out) { return sxt_pcg_create(matrix.get(), &options, out); });
    T b[] = {T(large, large), T(1, 1), T(1, 0)}, x[3];
    sxt_pcg_report report = new_report();
    EXPECT_EQ(sxt_pcg_solve_array(pcg.get(), 3, b, x, nullptr, &report), SXT_OK) << last_error(context);
    EXPECT_LE(std::abs(x[0].real() - large), large * R(1e-4));
    EXPECT_LE(std::abs(x[0].imag() - large), large * R(1e-4));
    b[0] = T(1, 0), x[0] = T(large, large), x[1] = x[2] = 0;
    sxt_solve_options guess = solve_options();
    guess.use_initial_guess = 1;
    EXPECT_GE(sxt_pcg_solve_array(pcg.get(), 3, b, x, &guess, &report), 0) << last_error(context);
    b[2] = T(0, std::numeric_limits<R>::infinity());
    EXPECT_EQ(sxt_pcg_solve_array(pcg.get(), 3, b, x, nullptr, &report), SXT_E_NOT_FINITE);
    EXPECT_NE(last_error(context).find("b[2]"), std::string::npos) << last_error(context);
  }
}

TEST(PcgBoundsTest, FiniteNumbersWhoseSumsAreNot) {
  expect_sums_beyond_the_range<float>(SXT_C64, 2e38F);
  expect_sums_beyond_the_range<double>(SXT_C128, 1e308);
}

}  // namespace
}  // namespace api_test
