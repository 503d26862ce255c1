// SPDX-License-Identifier: BSD-3-Clause
// For tests of conjugate gradients on a GPU: problems, their true residual, and solves with b and x on the device.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <utility>
#include <vector>

#include "support.hpp"
#include "tests/api/support.hpp"

namespace gpu_test {

using api_test::badly_scaled;
using api_test::Csr;
using api_test::laplacian;
using api_test::new_report;
using api_test::pcg_options;
using api_test::relative_residual;
using api_test::shuffled;
using Matrix = api_test::Matrix;
using Pcg = api_test::Pcg;

inline constexpr const char *persistent = "pcg.persistent.predict-recompute.cuda";
inline constexpr const char *stencil = "pcg.stencil.predict-recompute.cuda";
inline constexpr const char *cooperative = "pcg.cooperative.predict-recompute.cuda";
inline constexpr const char *pair = "pcg.graph-csr.predict-recompute.cuda";
inline constexpr const char *pair_m = "pcg.graph-csr-m.predict-recompute.cuda";
inline constexpr const char *engines[] = {persistent,
                                          cooperative,
                                          pair,
                                          pair_m,
                                          "pcg.graph.predict-recompute.cuda",
                                          "pcg.graph.chronopoulos-gear.cuda",
                                          "pcg.graph.classical.cuda"};

using Z = std::complex<double>;

// |b - A x| / |b| with A's pattern and complex values.
inline double relative_residual(const Csr &a, const std::vector<Z> &values, const std::vector<Z> &b,
                                const std::vector<Z> &x) {
  double residual = 0, norm = 0;
  for (std::int64_t i = 0; i < a.rows; ++i) {
    Z ax{};
    for (std::int32_t k = a.ptr[i]; k < a.ptr[i + 1]; ++k) ax += values[k] * x[a.col[k]];
    residual += std::norm(b[i] - ax), norm += std::norm(b[i]);
  }
  return std::sqrt(residual / norm);
}

// A's values with phases off the diagonal: Hermitian where A is symmetric.
inline std::vector<Z> turned(const Csr &a) {
  std::vector<Z> values(a.values.begin(), a.values.end());
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int32_t k = a.ptr[i]; k < a.ptr[i + 1]; ++k)
      if (a.col[k] != i) values[k] *= a.col[k] > i ? Z(0.6, -0.8) : Z(0.6, 0.8);
  return values;
}

// A band with rows of very different lengths: diagonally dominant, every seventh row reaches far.
inline Csr uneven(int n) {
  std::vector<std::vector<std::pair<std::int32_t, double>>> rows(static_cast<std::size_t>(n));
  std::vector<double> sums(rows.size(), 1);
  const auto couple = [&](int i, int j, double value) {
    rows[i].push_back({j, value}), rows[j].push_back({i, value});
    sums[i] += std::fabs(value), sums[j] += std::fabs(value);
  };
  for (int i = 0; i < n; ++i)
    for (int d = 1; d <= (i % 7 == 0 ? 40 : 2) && i + d < n; ++d) couple(i, i + d, -1.0 / d);
  Csr a;
  a.rows = a.cols = n;
  for (int i = 0; i < n; ++i) {
    rows[i].push_back({i, sums[i]});
    std::sort(rows[i].begin(), rows[i].end());
    for (const auto &[j, value] : rows[i]) a.entry(j, value);
    a.end_row();
  }
  return a;
}

inline std::vector<double> waves(std::int64_t n) {
  std::vector<double> b(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = std::cos(0.3 * static_cast<double>(i)) + 0.1;
  return b;
}

class PcgGpu : public Gpu {
 protected:
  Matrix matrix_of(const Csr &a) {
    return api_test::make<Matrix>([&](sxt_matrix **out) {
      return sxt_matrix_from_csr(context_.get(), a.rows, a.cols, a.ptr.data(), a.col.data(), a.values.data(), nullptr,
                                 out);
    });
  }
  template <class T>
  Matrix complex_matrix(const Csr &a, const std::vector<T> &values) {
    sxt_matrix_options options = api_test::matrix_options();
    options.value_type = sizeof(T) == sizeof(Z) ? SXT_C128 : SXT_C64;
    return api_test::make<Matrix>([&](sxt_matrix **out) {
      return sxt_matrix_from_csr(context_.get(), a.rows, a.cols, a.ptr.data(), a.col.data(), values.data(), &options,
                                 out);
    });
  }
  Pcg create(const Matrix &matrix, const char *engine, const char *preconditioner = nullptr, double rtol = 1e-9,
             std::int32_t reorder = 0, const char *format = nullptr) {
    sxt_pcg_options options = pcg_options();
    options.engine = engine;
    options.preconditioner = preconditioner;
    options.rtol = rtol;
    options.reorder = reorder;
    options.format = format;
    return api_test::make<Pcg>([&](sxt_pcg **out) { return sxt_pcg_create(matrix.get(), &options, out); });
  }
  template <class T>
  Vector on_device(const std::vector<T> &values, sxt_value_type type) {
    sxt_vector *made = nullptr;
    EXPECT_EQ(sxt_vector_create(context_.get(), static_cast<std::int64_t>(values.size()), type, &made), SXT_OK)
        << sxt_last_error(context_.get());
    if (made && !values.empty()) device().copy(sxt_vector_data(made), values.data(), values.size() * sizeof(T));
    return {made, sxt_vector_destroy};
  }
  // b and x lie on the device during the solve.
  template <class T>
  sxt_pcg_report solve_as(const Pcg &pcg, sxt_value_type type, const std::vector<T> &b, std::vector<T> &x,
                          sxt_status expected = SXT_OK, const sxt_solve_options *options = nullptr) {
    sxt_pcg_report report = new_report();
    const Vector rhs = on_device(b, type), solution = on_device(x, type);
    EXPECT_EQ(sxt_pcg_solve(pcg.get(), rhs.get(), solution.get(), options, &report), expected)
        << sxt_last_error(context_.get());
    EXPECT_EQ(sxt_context_synchronize(context_.get()), SXT_OK);
    if (!x.empty()) device().copy(x.data(), sxt_vector_data(solution.get()), x.size() * sizeof(T));
    return report;
  }
  sxt_pcg_report solve(const Pcg &pcg, const std::vector<double> &b, std::vector<double> &x,
                       sxt_status expected = SXT_OK, const sxt_solve_options *options = nullptr) {
    return solve_as(pcg, SXT_F64, b, x, expected, options);
  }
};

}  // namespace gpu_test
