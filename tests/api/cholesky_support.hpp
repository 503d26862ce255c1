// SPDX-License-Identifier: BSD-3-Clause
// Sparse Hermitian systems of every type for tests of factorisations, and dense answers in extended precision.
#pragma once

#include <complex>
#include <functional>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "sextant/cholesky.h"
#include "tests/api/numbers.hpp"
#include "tests/api/support.hpp"

namespace api_test {

using Analysis = std::unique_ptr<sxt_analysis, Destroy<sxt_analysis, sxt_analysis_destroy>>;
using Cholesky = std::unique_ptr<sxt_cholesky, Destroy<sxt_cholesky, sxt_cholesky_destroy>>;
template <class T>
T conjugate(T x) {
  if constexpr (complex_v<T>)
    return std::conj(x);
  else
    return x;
}

inline sxt_analysis_options analysis_options() {
  sxt_analysis_options options;
  sxt_analysis_options_init(&options, sizeof options);
  return options;
}

// A Hermitian matrix as CSR with both triangles, its entries by row and column too.
template <class T>
struct Sparse {
  Csr pattern;
  std::vector<T> values;
  std::int32_t base = 0;

  std::int64_t n() const { return pattern.rows; }
  T at(std::int64_t i, std::int64_t j) const {
    for (std::int32_t k = pattern.ptr[i]; k < pattern.ptr[i + 1]; ++k)
      if (pattern.col[k] == j) return values[k];
    return T{};
  }
  void set(std::int64_t i, std::int64_t j, T value) {
    for (std::int32_t k = pattern.ptr[i]; k < pattern.ptr[i + 1]; ++k)
      if (pattern.col[k] == j) values[k] = value;
  }
  Matrix matrix(const Context &context, std::function<void(sxt_matrix_options &)> change = {}) const {
    sxt_matrix_options options = matrix_options();
    options.value_type = code<T>();
    options.index_base = base;
    if (change) change(options);
    std::vector<std::int32_t> ptr = pattern.ptr, col = pattern.col;
    for (std::int32_t &each : ptr) each += base;
    for (std::int32_t &each : col) each += base;
    return make<Matrix>([&](sxt_matrix **out) {
      return sxt_matrix_from_csr(context.get(), n(), n(), ptr.data(), col.data(), values.data(), &options, out);
    });
  }
  // The largest |b - A x|_i / (|A| |x| + |b|)_i, in long double.
  double backward_error(const T *b, const T *x) const {
    long double worst = 0;
    for (std::int64_t i = 0; i < n(); ++i) {
      LongComplex rest = b[i];
      long double size = std::abs(LongComplex(b[i]));
      for (std::int32_t k = pattern.ptr[i]; k < pattern.ptr[i + 1]; ++k) {
        rest -= LongComplex(values[k]) * LongComplex(x[pattern.col[k]]);
        size += std::abs(LongComplex(values[k])) * std::abs(LongComplex(x[pattern.col[k]]));
      }
      if (!(std::abs(rest) <= size)) return 1e30;
      if (size > 0) worst = std::max(worst, std::abs(rest) / size);
    }
    return static_cast<double>(worst);
  }
  std::vector<LongComplex> dense() const {
    std::vector<LongComplex> out(static_cast<std::size_t>(n() * n()));
    for (std::int64_t i = 0; i < n(); ++i)
      for (std::int32_t k = pattern.ptr[i]; k < pattern.ptr[i + 1]; ++k)
        out[static_cast<std::size_t>(i + pattern.col[k] * n())] = values[k];
    return out;
  }
};

// Random entries at the places of a graph's edges, and a diagonal that makes it definite; sign: of each diagonal entry
// (quasi-definite where -1: rows of one sign are then not coupled).
template <class T>
Sparse<T> random_sparse(std::int64_t n, double per_row, unsigned seed, std::vector<int> sign = {}) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> value(-1, 1), chance(0, 1);
  sign.resize(static_cast<std::size_t>(n), 1);
  std::vector<std::vector<std::pair<std::int32_t, T>>> rows(static_cast<std::size_t>(n));
  std::vector<double> sums(static_cast<std::size_t>(n), 1);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < i; ++j) {
      if (chance(random) > per_row / static_cast<double>(n)) continue;
      T x{};
      if constexpr (complex_v<T>)
        x = T(static_cast<Real<T>>(value(random)), static_cast<Real<T>>(value(random)));
      else
        x = static_cast<T>(value(random));
      rows[i].push_back({static_cast<std::int32_t>(j), x});
      rows[j].push_back({static_cast<std::int32_t>(i), conjugate(x)});
      sums[i] += std::abs(x), sums[j] += std::abs(x);
    }
  Sparse<T> out;
  out.pattern.rows = out.pattern.cols = n;
  for (std::int64_t i = 0; i < n; ++i) {
    rows[i].push_back({static_cast<std::int32_t>(i), T(static_cast<Real<T>>(sign[i] * sums[i]))});
    std::sort(rows[i].begin(), rows[i].end(), [](const auto &a, const auto &b) { return a.first < b.first; });
    for (const auto &[j, x] : rows[i]) {
      out.pattern.entry(j, 0);
      out.values.push_back(x);
    }
    out.pattern.end_row();
  }
  return out;
}

template <class T>
std::vector<T> random_vector(std::int64_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> value(-1, 1);
  std::vector<T> out(static_cast<std::size_t>(n));
  for (T &x : out)
    if constexpr (complex_v<T>)
      x = T(static_cast<Real<T>>(value(random)), static_cast<Real<T>>(value(random)));
    else
      x = static_cast<T>(value(random));
  return out;
}

// In place: A^-1 of a dense matrix, column-major, by elimination with pivots of the largest size.
inline std::vector<LongComplex> inverse_of(std::vector<LongComplex> a, std::int64_t n) {
  std::vector<LongComplex> x(static_cast<std::size_t>(n * n));
  for (std::int64_t i = 0; i < n; ++i) x[static_cast<std::size_t>(i + i * n)] = 1;
  const auto at = [n](std::vector<LongComplex> &m, std::int64_t i, std::int64_t j) -> LongComplex & {
    return m[static_cast<std::size_t>(i + j * n)];
  };
  for (std::int64_t k = 0; k < n; ++k) {
    std::int64_t pivot = k;
    for (std::int64_t i = k; i < n; ++i)
      if (std::abs(at(a, i, k)) > std::abs(at(a, pivot, k))) pivot = i;
    for (std::int64_t j = 0; j < n; ++j)
      std::swap(at(a, k, j), at(a, pivot, j)), std::swap(at(x, k, j), at(x, pivot, j));
    const LongComplex scale = LongComplex(1) / at(a, k, k);
    for (std::int64_t j = 0; j < n; ++j) at(a, k, j) *= scale, at(x, k, j) *= scale;
    for (std::int64_t i = 0; i < n; ++i) {
      const LongComplex factor = i == k ? 0 : at(a, i, k);
      for (std::int64_t j = 0; j < n && factor != LongComplex(0); ++j)
        at(a, i, j) -= factor * at(a, k, j), at(x, i, j) -= factor * at(x, k, j);
    }
  }
  return x;
}

inline Analysis analyse(const Matrix &a, const sxt_analysis_options *options = nullptr, sxt_status expected = SXT_OK) {
  return make<Analysis>([&](sxt_analysis **out) { return sxt_analysis_create(a.get(), options, out); }, expected);
}
inline Cholesky cholesky_of(const Analysis &analysis, sxt_status expected = SXT_OK) {
  return make<Cholesky>([&](sxt_cholesky **out) { return sxt_cholesky_create(analysis.get(), out); }, expected);
}
inline Cholesky factored(const Analysis &analysis) {
  Cholesky cholesky = cholesky_of(analysis);
  EXPECT_EQ(sxt_cholesky_factor(cholesky.get(), nullptr, nullptr), SXT_OK) << sxt_last_error(nullptr);
  return cholesky;
}
inline sxt_cholesky_info info_of(const Cholesky &cholesky) {
  sxt_cholesky_info info{};
  info.struct_size = sizeof info;
  EXPECT_EQ(sxt_cholesky_get_info(cholesky.get(), &info), SXT_OK) << sxt_last_error(nullptr);
  return info;
}
inline sxt_analysis_info info_of(const Analysis &analysis) {
  sxt_analysis_info info{};
  info.struct_size = sizeof info;
  EXPECT_EQ(sxt_analysis_get_info(analysis.get(), &info), SXT_OK) << sxt_last_error(nullptr);
  return info;
}

}  // namespace api_test
