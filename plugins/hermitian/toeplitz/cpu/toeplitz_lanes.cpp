// SPDX-License-Identifier: BSD-3-Clause
// The recursion, the inverse and the residual of one Hermitian Toeplitz system, compiled once an instruction set. All
// loops run over contiguous numbers, the second factor of every product shifted by whole places.
#include "toeplitz_table.hpp"

namespace sextant_hermitian_toeplitz::SXT_ISA {

struct Number {
  double re, im;
};

inline Parts from(Parts v, int64_t by) { return {v.re + by, v.im + by}; }

// Sum of x y, or of conj(x) y.
template <bool complex, bool conjugate>
Number dot(int64_t n, Parts x, Parts y) {
  double re = 0, im = 0;
  if constexpr (!complex) {
#pragma omp simd reduction(+ : re)
    for (int64_t i = 0; i < n; ++i) re += x.re[i] * y.re[i];
    return {re, 0};
  } else {
    constexpr double sign = conjugate ? -1 : 1;
#pragma omp simd reduction(+ : re, im)
    for (int64_t i = 0; i < n; ++i) {
      re += x.re[i] * y.re[i] - sign * x.im[i] * y.im[i];
      im += x.re[i] * y.im[i] + sign * x.im[i] * y.re[i];
    }
    return {re, im};
  }
}

// y += k x.
template <bool complex>
void add(int64_t n, Number k, Parts x, Parts y) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    y.re[i] += k.re * x.re[i];
    if constexpr (complex) {
      y.re[i] -= k.im * x.im[i];
      y.im[i] += k.re * x.im[i] + k.im * x.re[i];
    }
  }
}

// f += k g and g += conj(k) f, each with the other as it was.
template <bool complex>
void cross(int64_t n, Number k, Parts f, Parts g) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    const double f_re = f.re[i], g_re = g.re[i];
    f.re[i] = f_re + k.re * g_re;
    g.re[i] = g_re + k.re * f_re;
    if constexpr (complex) {
      const double f_im = f.im[i], g_im = g.im[i];
      f.re[i] -= k.im * g_im;
      f.im[i] = f_im + k.re * g_im + k.im * g_re;
      g.re[i] += k.im * f_im;
      g.im[i] = g_im + k.re * f_im - k.im * f_re;
    }
  }
}

template <bool complex>
void set(Parts v, int64_t i, double re) {
  v.re[i] = re;
  if constexpr (complex) v.im[i] = 0;
}

// The order grows by one a step: T (f, 0) = (e, 0, ..., delta), and g, which is f conjugated and reversed, removes
// delta. It is stored so that shifting it by one place moves its beginning one step back.
template <bool complex>
bool recur(System &s) {
  constexpr double least = 1e-13;  // of a pivot against the diagonal: below it only rounding is left
  set<complex>(s.f, 0, 1);
  set<complex>(s.g, s.n, 1);
  s.e = s.t.re[0];
  const double diagonal = s.e < 0 ? -s.e : s.e;
  for (int64_t m = 1;; ++m) {
    const double size = s.e < 0 ? -s.e : s.e;
    if (!(size > least * diagonal) || !(size <= 1.7976931348623157e308) || (s.definite && s.e < 0)) return false;
    if (m == s.n) break;
    const Number delta = dot<complex, false>(m, s.f, from(s.backward, s.n - 1 - m));
    const Number k = {-delta.re / s.e, -delta.im / s.e};
    const Parts g = from(s.g, s.n - m);
    set<complex>(g, 0, 0);
    set<complex>(s.f, m, 0);
    cross<complex>(m + 1, k, s.f, g);
    s.e *= 1 - (k.re * k.re + k.im * k.im);
  }
  set<complex>(s.g, 0, 0);
  return true;
}

// x += sign L(v) L(v)^H b, where L(v) is the lower triangular Toeplitz matrix with v as first column.
template <bool complex>
void add_product(const System &s, Parts v, double sign, Parts b, Parts x) {
  for (int64_t i = 0; i < s.n; ++i) {
    const Number y = dot<complex, true>(s.n - i, v, from(b, i));
    s.y.re[i] = sign * y.re, s.y.im[i] = sign * y.im;
  }
  for (int64_t i = 0; i < s.n; ++i) add<complex>(s.n - i, {s.y.re[i], s.y.im[i]}, v, from(x, i));
}

template <bool complex>
void apply(const System &s, Parts b, Parts x) {
  for (int64_t i = 0; i < s.n; ++i) set<complex>(x, i, 0);
  add_product<complex>(s, s.f, 1 / s.e, b, x);
  add_product<complex>(s, s.g, -1 / s.e, b, x);
}

template <bool complex>
void residual(const System &s, Parts b, Parts x, Parts r) {
  for (int64_t i = 0; i < s.n; ++i) {
    const Number above = dot<complex, true>(s.n - 1 - i, from(s.t, 1), from(x, i + 1));
    r.re[i] = b.re[i] - above.re;
    if constexpr (complex) r.im[i] = b.im[i] - above.im;
  }
  for (int64_t i = 0; i < s.n; ++i) add<complex>(s.n - i, {-x.re[i], complex ? -x.im[i] : 0}, s.t, from(r, i));
}

extern const Table table;
const Table table = {{{recur<false>, apply<false>, residual<false>}, {recur<true>, apply<true>, residual<true>}}};

}  // namespace sextant_hermitian_toeplitz::SXT_ISA
