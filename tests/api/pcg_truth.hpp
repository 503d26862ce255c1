// SPDX-License-Identifier: BSD-3-Clause
// References for solves: conjugate gradients and a dense factorisation in extended precision (long double), on matrices
// small enough for it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "tests/api/support.hpp"

namespace api_test {

using Extended = long double;
using Wide = std::vector<Extended>;

inline Extended dot(const Wide &u, const Wide &v) {
  Extended sum = 0;
  for (std::size_t i = 0; i < u.size(); ++i) sum += u[i] * v[i];
  return sum;
}
inline Extended length(const Wide &v) { return std::sqrt(dot(v, v)); }
inline Wide times(const Csr &a, const Wide &x) {
  Wide y(x.size());
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int32_t k = a.ptr[i]; k < a.ptr[i + 1]; ++k) y[i] += Extended{a.values[k]} * x[a.col[k]];
  return y;
}
inline Wide widened(const std::vector<double> &v) { return Wide(v.begin(), v.end()); }

// Norms of the residuals of conjugate gradients (Hestenes and Stiefel) on S A S, S b from zero, with s_i = 1 /
// sqrt(a_ii) where `scaled`, until a norm is rtol times the initial one.
inline Wide extended_history(const Csr &a, const std::vector<double> &b, bool scaled, double rtol, int most) {
  const auto n = b.size();
  Wide s(n, 1), x(n), r(n), p(n);
  for (std::int64_t i = 0; scaled && i < a.rows; ++i)
    for (std::int32_t k = a.ptr[i]; k < a.ptr[i + 1]; ++k)
      if (a.col[k] == i) s[i] = 1 / std::sqrt(Extended{a.values[k]});
  for (std::size_t i = 0; i < n; ++i) p[i] = r[i] = s[i] * b[i];
  Extended squared = dot(r, r);
  Wide history{std::sqrt(squared)};
  for (int k = 0; k < most && history.back() > rtol * history.front(); ++k) {
    Wide scaled_p(n);
    for (std::size_t i = 0; i < n; ++i) scaled_p[i] = s[i] * p[i];
    Wide q = times(a, scaled_p);
    for (std::size_t i = 0; i < n; ++i) q[i] *= s[i];
    const Extended alpha = squared / dot(p, q), before = squared;
    for (std::size_t i = 0; i < n; ++i) x[i] += alpha * p[i], r[i] -= alpha * q[i];
    squared = dot(r, r);
    for (std::size_t i = 0; i < n; ++i) p[i] = r[i] + squared / before * p[i];
    history.push_back(std::sqrt(squared));
  }
  return history;
}

// The Cholesky factor of a small matrix; empty where it has none.
class Direct {
 public:
  explicit Direct(const Csr &a) : n_(static_cast<std::size_t>(a.rows)), l_(n_ * n_) {
    for (std::int64_t i = 0; i < a.rows; ++i)
      for (std::int32_t k = a.ptr[i]; k < a.ptr[i + 1]; ++k)
        if (a.col[k] <= i) at(static_cast<std::size_t>(i), static_cast<std::size_t>(a.col[k])) = a.values[k];
    for (std::size_t j = 0; j < n_; ++j)
      for (std::size_t i = j; i < n_; ++i) {
        Extended sum = at(i, j);
        for (std::size_t k = 0; k < j; ++k) sum -= at(i, k) * at(j, k);
        if (i == j && !(sum > 0)) {
          l_.clear();
          return;
        }
        at(i, j) = i == j ? std::sqrt(sum) : sum / at(j, j);
      }
  }
  bool good() const { return !l_.empty(); }
  Wide solve(Wide b) const {
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t k = 0; k < i; ++k) b[i] -= at(i, k) * b[k];
      b[i] /= at(i, i);
    }
    for (std::size_t i = n_; i-- > 0;) {
      b[i] /= at(i, i);
      for (std::size_t k = 0; k < i; ++k) b[k] -= at(i, k) * b[i];
    }
    return b;
  }

 private:
  Extended &at(std::size_t i, std::size_t j) { return l_[i * n_ + j]; }
  const Extended &at(std::size_t i, std::size_t j) const { return l_[i * n_ + j]; }
  std::size_t n_;
  Wide l_;
};

// Largest eigenvalue over the smallest, from below, by powers of A and of its inverse.
inline double condition(const Csr &a, const Direct &direct) {
  Wide u(static_cast<std::size_t>(a.rows)), v;
  std::mt19937 random(11);
  for (Extended &each : u) each = static_cast<double>(random() % 2001) / 1000 - 1;
  v = u;
  Extended largest = 0, of_inverse = 0;
  for (int k = 0; k < 60; ++k) {
    const Extended before_u = length(u), before_v = length(v);
    u = times(a, u), v = direct.solve(std::move(v));
    largest = length(u) / before_u, of_inverse = length(v) / before_v;
    const Extended size_u = length(u), size_v = length(v);
    for (Extended &each : u) each /= size_u;
    for (Extended &each : v) each /= size_v;
  }
  return static_cast<double>(largest * of_inverse);
}

struct Judged {
  double condition, true_error, true_residual;
};
// Compares an answer and its report with the direct solution.
inline Judged judge(const Csr &a, const Direct &direct, double condition, const std::vector<double> &b,
                    const std::vector<double> &x, const sxt_pcg_report &report) {
  const Wide exact = direct.solve(widened(b)), wide_b = widened(b), found = widened(x), ax = times(a, found);
  Wide error(exact.size()), residual(exact.size());
  for (std::size_t i = 0; i < exact.size(); ++i) error[i] = found[i] - exact[i], residual[i] = wide_b[i] - ax[i];
  const Judged out{condition, static_cast<double>(length(error) / length(exact)),
                   static_cast<double>(length(residual) / length(wide_b))};
  // The report is right up to the rounding of b - A x itself.
  Extended rounding = 0;
  for (std::int64_t i = 0; i < a.rows; ++i) {
    Extended row = std::fabs(wide_b[i]);
    for (std::int32_t k = a.ptr[i]; k < a.ptr[i + 1]; ++k) row += std::fabs(Extended{a.values[k]} * found[a.col[k]]);
    rounding += row * row;
  }
  const double room =
      64 * std::numeric_limits<double>::epsilon() * static_cast<double>(std::sqrt(rounding) / length(wide_b));
  EXPECT_NEAR(report.true_relative_residual, out.true_residual, 1e-6 * out.true_residual + room);
  // |x - x*| / |x*| <= cond(A) |b - A x| / |b|; the condition is estimated from below.
  EXPECT_LE(out.true_error, 1.1 * condition * out.true_residual);
  return out;
}

// Symmetric positive definite matrices of many kinds, 60 to 400 rows.
inline std::vector<std::pair<std::string, Csr>> small_systems() {
  std::vector<std::pair<std::string, Csr>> out{{"5 points", laplacian(14)},
                                               {"5 points, shifted", laplacian(20, 0.5)},
                                               {"shuffled", shuffled(laplacian(15, 0.01))},
                                               {"diagonal", diagonal({1, 10, 100, 1e3, 1e4, 3, 30, 300})}};
  Csr scaled = laplacian(16, 0.01);  // rows from 1e-3 to 1e3
  for (std::int64_t i = 0; i < scaled.rows; ++i)
    for (std::int32_t k = scaled.ptr[i]; k < scaled.ptr[i + 1]; ++k)
      scaled.values[k] *=
          std::pow(10.0, 1.5 * (std::sin(0.7 * static_cast<double>(i)) + std::sin(0.7 * scaled.col[k])));
  out.emplace_back("badly scaled", std::move(scaled));
  Csr beam;  // fourth differences: condition grows with n^4
  beam.rows = beam.cols = 60;
  const double stencil[] = {1, -4, 6, -4, 1};
  for (int i = 0; i < 60; ++i) {
    for (int d = -2; d <= 2; ++d)
      if (i + d >= 0 && i + d < 60) beam.entry(i + d, stencil[d + 2]);
    beam.end_row();
  }
  out.emplace_back("a beam", std::move(beam));
  Csr arrow;  // one full row and column
  arrow.rows = arrow.cols = 120;
  for (int i = 0; i < 120; ++i) {
    if (i > 0) arrow.entry(0, -0.5);
    if (i > 0) arrow.entry(i, 2 + i % 5);
    for (int j = 0; i == 0 && j < 120; ++j) arrow.entry(j, j == 0 ? 80 : -0.5);
    arrow.end_row();
  }
  out.emplace_back("an arrow", std::move(arrow));
  return out;
}

}  // namespace api_test
