// SPDX-License-Identifier: BSD-3-Clause
// The random butterfly U of depth two (Parker 1995; Baboulin, Becker and Dongarra, IPDPS 2012) and the steps that mix a
// Hermitian matrix and its right-hand sides by it: U^T A U can be factored without interchanges, almost surely.
//
// Of order n, with q = ceil(n / 4), index i = k q + r is element k, 0 to 3, of orbit r. U = U2 U1, each of which joins
// pairs of an orbit: U2 elements 0 with 1 and 2 with 3, U1 0 with 2 and 1 with 3. A pair i < j becomes
// (R_i x_i + R_j x_j, R_i x_i - R_j x_j) / sqrt 2, where R of an index and a level is a number within 0.05 of 1; an
// element whose partner is beyond n is unchanged. So U^T A U consists of 4 x 4 blocks, one for each two orbits.
#pragma once

#include <complex>
#include <cstdint>

#include "plugins/hermitian/shared/steps.hpp"

namespace sextant::plugin::hermitian_steps {

inline SXT_LANES bool is_butterfly(std::int32_t step) {
  return step >= SXT_HERMITIAN_MIX && step <= SXT_HERMITIAN_UNMIX_RHS;
}

// R / sqrt 2 of an index at level 1 or 2. R is splitmix64's last steps, cut to a multiple of 2^-20, which is exact in
// every type and on every machine.
SXT_LANES inline double butterfly_number(std::int64_t index, int level) {
  std::uint64_t bits = 2 * static_cast<std::uint64_t>(index) + static_cast<std::uint64_t>(level - 1);
  bits = (bits + 1) * 0x9e3779b97f4a7c15u;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
  bits ^= bits >> 31;
  constexpr std::int64_t half = 52428;  // 0.05 * 2^20
  const auto below = static_cast<std::int64_t>(((bits >> 32) * (2 * half + 1)) >> 32);
  return (1 + static_cast<double>(below - half) * 0x1p-20) * 0.70710678118654752;
}

// Sums and multiples, written out because device code has no library of complex functions.
template <class T>
SXT_LANES T sum_of(T a, T b) {
  if constexpr (is_complex<T>)
    return T(a.real() + b.real(), a.imag() + b.imag());
  else
    return a + b;
}
template <class T>
SXT_LANES T difference_of(T a, T b) {
  if constexpr (is_complex<T>)
    return T(a.real() - b.real(), a.imag() - b.imag());
  else
    return a - b;
}
template <class T>
SXT_LANES T multiple(real_of<T> by, T a) {
  if constexpr (is_complex<T>)
    return T(by * a.real(), by * a.imag());
  else
    return by * a;
}
template <class T>
SXT_LANES T conjugate_of(T a) {
  if constexpr (is_complex<T>)
    return T(a.real(), -a.imag());
  else
    return a;
}

// The 4 x 4 matrix W of one orbit, U restricted to it, as its two levels.
template <class T>
struct Orbit {
  using R = real_of<T>;
  int count;             // number of elements: the first ones
  R outer[4], inner[4];  // R / sqrt 2 of levels 2 and 1

  SXT_LANES Orbit(std::int64_t r, std::int64_t quarter, std::int64_t n) : count(0) {
    SXT_UNROLLED_BY(4)
    for (int k = 0; k < 4; ++k) {
      const std::int64_t i = k * quarter + r;
      count += i < n;
      outer[k] = static_cast<R>(butterfly_number(i, 2));
      inner[k] = static_cast<R>(butterfly_number(i, 1));
    }
  }
  // With numbers computed before: outer, then inner.
  SXT_LANES Orbit(int elements, const R *numbers) : count(elements) {
    SXT_UNROLLED_BY(4)
    for (int k = 0; k < 4; ++k) outer[k] = numbers[k], inner[k] = numbers[4 + k];
  }
  // Both levels on the four numbers v, v + stride, ...: W^T v.
  SXT_LANES void transposed(T *v, int stride = 1) const {
    if (count > 1) apart(v[0], v[stride], outer[0], outer[1]);
    if (count > 3) apart(v[2 * stride], v[3 * stride], outer[2], outer[3]);
    if (count > 2) apart(v[0], v[2 * stride], inner[0], inner[2]);
    if (count > 3) apart(v[stride], v[3 * stride], inner[1], inner[3]);
  }
  // W v.
  SXT_LANES void plain(T *v) const {
    if (count > 2) together(v[0], v[2], inner[0], inner[2]);
    if (count > 3) together(v[1], v[3], inner[1], inner[3]);
    if (count > 1) together(v[0], v[1], outer[0], outer[1]);
    if (count > 3) together(v[2], v[3], outer[2], outer[3]);
  }

 private:
  static SXT_LANES void apart(T &a, T &b, R by_a, R by_b) {
    const T sum = sum_of(a, b), difference = difference_of(a, b);
    a = multiple(by_a, sum), b = multiple(by_b, difference);
  }
  static SXT_LANES void together(T &a, T &b, R by_a, R by_b) {
    const T x = multiple(by_a, a), y = multiple(by_b, b);
    a = sum_of(x, y), b = difference_of(x, y);
  }
};

// The lower triangle of c = U^T a U, block by block of orbits r >= s. A block's elements (k, l) with k < l lie above
// the diagonal; their mirror images are read and written.
template <class T, class Group>
class Mix {
 public:
  SXT_LANES explicit Mix(const Step<T, Group> &step) : step_(step), quarter_((step.n + 3) / 4) {}

  // Orbits s go by two, which lie beside each other in mirror images, and neighbouring lanes take neighbouring r, which
  // lie beside each other in all the rest.
  SXT_LANES void run() const {
    std::int64_t s = 0, r = step_.group.lane();
    for (;;) {
      while (s < quarter_ && r >= quarter_) {  // on in the next column: r begins at s there
        r = r - quarter_ + s + 2;
        s += 2;
      }
      if (s >= quarter_) return;
      blocks(r, s);
      r += step_.group.lanes();
    }
  }

 private:
  SXT_LANES void blocks(std::int64_t r, std::int64_t s) const {
    const Orbit<T> row(r, quarter_, step_.n);
    T first[16], second[16];
    read(r, s, first);
    const bool both = r > s;
    if (both) read(r, s + 1, second);
    transform(row, s, first);
    write(r, s, first);
    if (!both) return;
    transform(row, s + 1, second);
    write(r, s + 1, second);
  }
  SXT_LANES bool there(int k, std::int64_t r) const { return k * quarter_ + r < step_.n; }

  // Element (k, l) to block[k + 4 l].
  SXT_LANES void read(std::int64_t r, std::int64_t s, T *block) const {
    SXT_UNROLLED_BY(16)
    for (int e = 0; e < 16; ++e) {
      const int k = e % 4, l = e / 4;
      block[e] = there(k, r) && there(l, s) ? held(k * quarter_ + r, l * quarter_ + s, k >= l) : from<T>(0, 0);
    }
  }
  // Entry (i, j) of a, which is on or below the diagonal or not.
  SXT_LANES T held(std::int64_t i, std::int64_t j, bool below) const {
    if (i == j) return from<T>(re(step_.a.at(i, i)), 0);
    const bool direct = below == step_.lower();
    const T v = direct ? step_.a.at(i, j) : step_.a.at(j, i);
    return direct ? v : conjugate_of(v);
  }
  SXT_LANES void transform(const Orbit<T> &row, std::int64_t s, T *block) const {
    const Orbit<T> column(s, quarter_, step_.n);
    SXT_UNROLLED_BY(16)
    for (int l = 0; l < 4; ++l) row.transposed(block + 4 * l);
    SXT_UNROLLED_BY(16)
    for (int k = 0; k < 4; ++k) column.transposed(block + k, 4);
  }
  SXT_LANES void write(std::int64_t r, std::int64_t s, const T *block) const {
    SXT_UNROLLED_BY(16)
    for (int e = 0; e < 16; ++e) {
      const int k = e % 4, l = e / 4;
      if (!there(k, r) || !there(l, s) || (r == s && k < l)) continue;
      const std::int64_t i = k * quarter_ + r, j = l * quarter_ + s;
      if (i == j)
        step_.c.at(i, i) = from<T>(re(block[e]), 0);
      else if (k >= l)
        step_.c.at(i, j) = block[e];
      else
        step_.c.at(j, i) = conjugate_of(block[e]);
    }
  }

  const Step<T, Group> &step_;
  std::int64_t quarter_;
};

// c = U^T b, or b = U c, or b += U c, orbit by orbit.
template <class T, class Group>
SXT_LANES void mix_rhs(const Step<T, Group> &step) {
  const std::int64_t quarter = (step.n + 3) / 4;
  const bool there = step.args.step == SXT_HERMITIAN_MIX_RHS, adds = step.args.variant != 1;
  for (std::int64_t r = step.group.lane(); r < quarter; r += step.group.lanes()) {
    const Orbit<T> orbit(r, quarter, step.n);
    for (std::int64_t rhs = 0; rhs < step.args.n_rhs; ++rhs) {
      T v[4]{};
      SXT_UNROLLED_BY(16)
      for (int k = 0; k < 4; ++k)
        if (k < orbit.count) v[k] = (there ? step.b : step.c).at(k * quarter + r, rhs);
      there ? orbit.transposed(v) : orbit.plain(v);
      SXT_UNROLLED_BY(16)
      for (int k = 0; k < 4; ++k) {
        if (k >= orbit.count) continue;
        T &target = (there ? step.c : step.b).at(k * quarter + r, rhs);
        target = !there && adds ? sum_of(target, v[k]) : v[k];
      }
    }
  }
}

// MIX, MIX_RHS or UNMIX_RHS on system s.
template <class T, class Group>
SXT_LANES void apply_butterfly(const sxt_hermitian_step_args &args, std::int64_t s, Group &group) {
  const std::int64_t n = order_of(args, s);
  if (passes_over<T>(args, s, n)) return;
  const Step<T, Group> step = step_of<T>(args, s, n, group);
  if (args.step == SXT_HERMITIAN_MIX)
    Mix<T, Group>(step).run();
  else
    mix_rhs(step);
}

}  // namespace sextant::plugin::hermitian_steps
