// SPDX-License-Identifier: BSD-3-Clause
// Sets of Hermitian systems with known eigenvalues, and their results, for tests of the C interface.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "support.hpp"

namespace api_test {

using Hermitian = std::unique_ptr<sxt_hermitian, Destroy<sxt_hermitian, sxt_hermitian_destroy>>;

template <class T>
struct Scalar {
  using Real = T;
  static constexpr bool complex = false;
  static constexpr sxt_value_type code = sizeof(T) == 4 ? SXT_F32 : SXT_F64;
  static T conj(T v) { return v; }
  static T make(double re, double) { return static_cast<T>(re); }
};
template <class R>
struct Scalar<std::complex<R>> {
  using Real = R;
  static constexpr bool complex = true;
  static constexpr sxt_value_type code = sizeof(R) == 4 ? SXT_C64 : SXT_C128;
  static std::complex<R> conj(std::complex<R> v) { return std::conj(v); }
  static std::complex<R> make(double re, double im) { return {static_cast<R>(re), static_cast<R>(im)}; }
};

inline sxt_hermitian_options hermitian_options(sxt_value_type type, std::int64_t batch, std::int64_t n) {
  sxt_hermitian_options options;
  sxt_hermitian_options_init(&options, sizeof options);
  options.value_type = type;
  options.batch = batch;
  options.n = n;
  return options;
}
inline sxt_hermitian_set hermitian_set() {
  sxt_hermitian_set set;
  sxt_hermitian_set_init(&set, sizeof set);
  return set;
}
inline Hermitian hermitian(const Context &context, const sxt_hermitian_options &options, sxt_status expected = SXT_OK) {
  return make<Hermitian>([&](sxt_hermitian **out) { return sxt_hermitian_create(context.get(), &options, out); },
                         expected);
}

// A full matrix with these eigenvalues: a diagonal one between reflections with random vectors. Column-major.
template <class T>
std::vector<T> with_eigenvalues(const std::vector<double> &eigenvalues, std::mt19937_64 &random) {
  using C = std::complex<double>;
  const auto n = static_cast<std::int64_t>(eigenvalues.size());
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<C> a(static_cast<std::size_t>(n * n)), v(static_cast<std::size_t>(n)), w(v.size());
  for (std::int64_t i = 0; i < n; ++i) a[i + i * n] = eigenvalues[i];
  for (int times = 0; times < 3 && n > 1; ++times) {
    double length = 0;
    for (C &value : v) {
      value = {uniform(random), Scalar<T>::complex ? uniform(random) : 0};
      length += std::norm(value);
    }
    for (C &value : v) value /= std::sqrt(length);
    C vav = 0;
    std::fill(w.begin(), w.end(), C(0));
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < n; ++i) w[i] += a[i + j * n] * v[j];
    for (std::int64_t i = 0; i < n; ++i) vav += std::conj(v[i]) * w[i];
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < n; ++i)
        a[i + j * n] += 4.0 * vav * v[i] * std::conj(v[j]) - 2.0 * (v[i] * std::conj(w[j]) + w[i] * std::conj(v[j]));
  }
  std::vector<T> out(a.size());
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = j; i < n; ++i) {
      out[i + j * n] = Scalar<T>::make(a[i + j * n].real(), i == j ? 0 : a[i + j * n].imag());
      out[j + i * n] = Scalar<T>::conj(out[i + j * n]);
    }
  return out;
}

// 1 .. 1/condition, evenly on a logarithmic scale; every third negative where the matrix is to be indefinite.
inline std::vector<double> spectrum(std::int64_t n, double condition, bool indefinite = false) {
  std::vector<double> values(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) {
    values[i] = n > 1 ? std::pow(condition, -static_cast<double>(i) / static_cast<double>(n - 1)) : 1;
    if (indefinite && i % 3 == 1) values[i] = -values[i];
  }
  return values;
}

// Exactly singular matrices of order n >= 6: a zero row and column, last or in the middle; all ones; rank 5.
template <class T>
std::vector<std::vector<T>> singular_matrices(std::int64_t n, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<int> digit(-8, 8);  // whole numbers: sums of products are exact
  std::vector<std::vector<T>> out;
  const auto size = static_cast<std::size_t>(n * n);
  for (const std::int64_t zero : {n - 1, n / 3}) {
    std::vector<T> &a = out.emplace_back(size);
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = j; i < n; ++i) {
        const bool none = i == zero || j == zero;
        a[i + j * n] = none ? T(0) : Scalar<T>::make(digit(random), i == j ? 0 : digit(random));
        a[j + i * n] = Scalar<T>::conj(a[i + j * n]);
      }
  }
  out.emplace_back(size, T(1));
  std::vector<T> &low = out.emplace_back(size, T(0));
  for (int rank = 0; rank < 5; ++rank) {
    std::vector<T> v(static_cast<std::size_t>(n));
    for (T &value : v) value = Scalar<T>::make(digit(random), digit(random));
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < n; ++i) {
        const T product = v[i] * Scalar<T>::conj(v[j]);
        low[i + j * n] += rank % 2 ? -product : product;
      }
  }
  return out;
}

// Systems of one order, strided with padding; the other triangle and the padding hold `untouched`.
template <class T>
struct Systems {
  std::int64_t batch, n, lda, n_rhs, stride_a, stride_b;
  sxt_triangle triangle;
  std::vector<std::vector<T>> full;
  std::vector<T> a, b, b_before;
  std::vector<std::int32_t> info, pivots;
  static T untouched() { return Scalar<T>::make(-77.25, 3); }

  Systems(std::int64_t batch_, std::int64_t n_, std::int64_t n_rhs_, sxt_triangle triangle_, double condition,
          bool indefinite, std::uint64_t seed, std::int64_t padding = 2)
      : batch(batch_),
        n(n_),
        lda(std::max<std::int64_t>(1, n_ + padding)),
        n_rhs(n_rhs_),
        stride_a(lda * n_ + padding),
        stride_b(lda * n_rhs_ + padding),
        triangle(triangle_),
        a(static_cast<std::size_t>(batch_ * stride_a), untouched()),
        b(static_cast<std::size_t>(batch_ * stride_b), untouched()),
        info(static_cast<std::size_t>(batch_), 99),
        pivots(static_cast<std::size_t>(batch_ * std::max<std::int64_t>(1, n_)), 99) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> uniform(-1, 1);
    for (std::int64_t s = 0; s < batch; ++s) {
      full.push_back(with_eigenvalues<T>(spectrum(n, condition, indefinite), random));
      store(s);
      for (std::int64_t r = 0; r < n_rhs; ++r)
        for (std::int64_t i = 0; i < n; ++i)
          b[s * stride_b + r * lda + i] = Scalar<T>::make(uniform(random), uniform(random));
    }
    b_before = b;
  }
  bool held(std::int64_t i, std::int64_t j) const { return triangle == SXT_LOWER ? i >= j : i <= j; }
  T &at(std::int64_t s, std::int64_t i, std::int64_t j) { return a[s * stride_a + i + j * lda]; }
  // The triangle of full[s]; a complex diagonal gets an imaginary part, which must not be read.
  void store(std::int64_t s) {
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < n; ++i)
        if (held(i, j)) at(s, i, j) = full[s][i + j * n];
    if constexpr (Scalar<T>::complex)
      for (std::int64_t i = 0; i < n; ++i) at(s, i, i) += Scalar<T>::make(0, 0.5);
  }
  sxt_hermitian_options options() const {
    sxt_hermitian_options o = hermitian_options(Scalar<T>::code, batch, n);
    o.triangle = triangle;
    o.n_rhs = n_rhs;
    return o;
  }
  sxt_hermitian_set set() {
    sxt_hermitian_set out = hermitian_set();
    out.a = a.data(), out.lda = lda, out.stride_a = stride_a;
    out.b = b.data(), out.ldb = lda, out.stride_b = stride_b;
    out.info = info.data();
    out.pivots = pivots.data();
    return out;
  }
  static double epsilon() { return std::numeric_limits<typename Scalar<T>::Real>::epsilon(); }
  // |b - (A + shift I) x| / (|A| |x| + |b|) in the largest norm, in double precision, the worst right-hand side.
  double backward_error(std::int64_t s, const std::vector<T> &x, double shift = 0) const {
    using C = std::complex<double>;
    double worst = 0;
    for (std::int64_t r = 0; r < n_rhs; ++r) {
      double residual = 0, norm = 0, x_most = 0, b_most = 0;
      for (std::int64_t i = 0; i < n; ++i) {
        const std::size_t at_b = static_cast<std::size_t>(s * stride_b + r * lda + i);
        C sum = C(b_before[at_b]);
        double row = 0;
        for (std::int64_t j = 0; j < n; ++j) {
          const C v = C(full[s][i + j * n]) + (i == j ? shift : 0.0);
          sum -= v * C(x[static_cast<std::size_t>(s * stride_b + r * lda + j)]);
          row += std::abs(v);
        }
        residual = std::max(residual, std::abs(sum));
        norm = std::max(norm, row);
        x_most = std::max(x_most, std::abs(C(x[at_b])));
        b_most = std::max(b_most, std::abs(C(b_before[at_b])));
      }
      const double error = residual / (norm * x_most + b_most);
      if (n > 0 && !(error <= worst)) worst = error;
    }
    return worst;
  }
  // Nothing outside the triangle and the right-hand sides was written.
  void expect_rest_untouched() {
    for (std::int64_t s = 0; s < batch; ++s)
      for (std::int64_t k = 0; k < stride_a; ++k) {
        const std::int64_t i = k % lda, j = k / lda;
        if (i < n && j < n && held(i, j)) continue;
        ASSERT_EQ(a[s * stride_a + k], untouched()) << "system " << s << ", row " << i << ", column " << j;
      }
    for (std::int64_t s = 0; s < batch; ++s)
      for (std::int64_t k = 0; k < stride_b; ++k) {
        if (k % lda < n && k / lda < n_rhs) continue;
        ASSERT_EQ(b[s * stride_b + k], untouched()) << "right-hand side " << s;
      }
  }
};

}  // namespace api_test
