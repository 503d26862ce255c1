// SPDX-License-Identifier: BSD-3-Clause
// Products of a 16 x 8 by an 8 x 8 block on the tensor cores, the same register layout for f64 (mma.sync f64) and f32
// (mma.sync tf32, each number split into two so that three products keep f32's accuracy). A lane (g = lane / 4,
// t = lane % 4) holds rows g and g + 8; its inner indices are 2t and 2t + 1, because an accumulator holds just these
// columns: a result feeds the next product as its left operand without leaving the registers.
#pragma once

#include "hermitian_panel.hpp"
#include "plugins/hermitian/shared/cuda/dense_product.hpp"

namespace sextant::hermitian_panel {

using namespace plugin::cuda::dense;

SXT_DENSE unsigned shared_address(const void *at) { return static_cast<unsigned>(__cvta_generic_to_shared(at)); }

// Left operand: rows g, g + 8 at inner index 2t, then the same rows at 2t + 1. Right: columns g at 2t and 2t + 1.
template <class R>
struct Left;
template <class R>
struct Right;

template <>
struct Left<double> {
  double v[4];
  SXT_DENSE Left() {}
  SXT_DENSE Left(double a, double b, double c, double d) : v{a, b, c, d} {}
  SXT_DENSE Left minus() const { return {-v[0], -v[1], -v[2], -v[3]}; }
};
template <>
struct Right<double> {
  double v[2];
  SXT_DENSE Right() {}
  SXT_DENSE Right(double a, double b) : v{a, b} {}
};

// d = c + a b. Instructions on one accumulator wait for one another: callers alternate between accumulators.
SXT_DENSE void multiply_add(double (&d)[4], const double (&c)[4], const Left<double> &a, const Right<double> &b) {
  asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};"
      : "=d"(d[0]), "=d"(d[1]), "=d"(d[2]), "=d"(d[3])
      : "d"(a.v[0]), "d"(a.v[1]), "d"(a.v[2]), "d"(a.v[3]), "d"(b.v[0]), "d"(b.v[1]), "d"(c[0]), "d"(c[1]), "d"(c[2]),
        "d"(c[3]));
}

// x = high + low, high with tf32's 11 significant bits (rounded to nearest by integer arithmetic: the conversion
// instruction runs at a quarter of the rate), low exact and read by the tensor core to 11 bits.
SXT_DENSE void split(float x, unsigned &high, unsigned &low) {
  high = (__float_as_uint(x) + 0x1000u) & 0xffffe000u;
  low = __float_as_uint(x - __uint_as_float(high));
}
template <>
struct Left<float> {
  unsigned high[4], low[4];
  SXT_DENSE Left() {}
  SXT_DENSE Left(float a, float b, float c, float d) {
    split(a, high[0], low[0]);
    split(b, high[1], low[1]);
    split(c, high[2], low[2]);
    split(d, high[3], low[3]);
  }
  SXT_DENSE Left minus() const {
    Left other;
#pragma unroll
    for (int i = 0; i < 4; ++i) other.high[i] = high[i] ^ 0x80000000u, other.low[i] = low[i] ^ 0x80000000u;
    return other;
  }
};
template <>
struct Right<float> {
  unsigned high[2], low[2];
  SXT_DENSE Right() {}
  SXT_DENSE Right(float a, float b) {
    split(a, high[0], low[0]);
    split(b, high[1], low[1]);
  }
};

SXT_DENSE void tf32(float (&d)[4], const float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
}
// A product of split numbers is three products, the small ones first.
inline constexpr int tf32_parts = 3;
SXT_DENSE void tf32_part(float (&c)[4], const Left<float> &a, const Right<float> &b, int part) {
  tf32(c, c, part == 0 ? a.low : a.high, part == 1 ? b.low : b.high);
}
SXT_DENSE void multiply_add(float (&d)[4], const float (&c)[4], const Left<float> &a, const Right<float> &b) {
  tf32(d, c, a.low, b.high);
  tf32_part(d, a, b, 1);
  tf32_part(d, a, b, 2);
}

// A 16 x 8 accumulator: columns 2t, 2t + 1 of row g, then of row g + 8.
template <class T>
struct Accumulator {
  Real<T> re[4];
  SXT_DENSE void clear() { re[0] = re[1] = re[2] = re[3] = 0; }
  SXT_DENSE T get(int i) const { return re[i]; }
  SXT_DENSE void set(int i, T v) { re[i] = v; }
};
template <class R>
struct Accumulator<Complex<R>> {
  R re[4], im[4];
  SXT_DENSE void clear() {
#pragma unroll
    for (int i = 0; i < 4; ++i) re[i] = im[i] = 0;
  }
  SXT_DENSE Complex<R> get(int i) const { return {re[i], im[i]}; }
  SXT_DENSE void set(int i, Complex<R> v) { re[i] = v.re, im[i] = v.im; }
};

// Operands of c += s a conj(b), s = 1 or -1, x = s re(a), y = s im(a):
// re(c) += x re(b) + y im(b) and im(c) += y re(b) + (-x) im(b).
template <class T>
struct LeftOperand {
  Left<T> x;
  template <int sign>
  static SXT_DENSE LeftOperand of(T a, T b, T c, T d) {
    return {sign > 0 ? Left<T>(a, b, c, d) : Left<T>(-a, -b, -c, -d)};
  }
};
template <class R>
struct LeftOperand<Complex<R>> {
  Left<R> x, y, minus_x;
  SXT_DENSE LeftOperand(const Left<R> &x, const Left<R> &y) : x(x), y(y), minus_x(x.minus()) {}
  template <int sign>
  static SXT_DENSE LeftOperand of(Complex<R> a, Complex<R> b, Complex<R> c, Complex<R> d) {
    if (sign > 0) return {Left<R>(a.re, b.re, c.re, d.re), Left<R>(a.im, b.im, c.im, d.im)};
    return {Left<R>(-a.re, -b.re, -c.re, -d.re), Left<R>(-a.im, -b.im, -c.im, -d.im)};
  }
};
template <class T>
struct RightOperand {
  Right<T> re;
  static SXT_DENSE RightOperand of(T a, T b) { return {Right<T>(a, b)}; }
};
template <class R>
struct RightOperand<Complex<R>> {
  Right<R> re, im;
  static SXT_DENSE RightOperand of(Complex<R> a, Complex<R> b) { return {Right<R>(a.re, b.re), Right<R>(a.im, b.im)}; }
};

// One half of a complex number in shared memory. The instructions take operands in neighbouring registers, real parts
// by themselves: whole numbers, loaded at once, would have to be sorted by copies, several for each instruction.
// `volatile` keeps the compiler from joining the halves.
SXT_DENSE double load_part(unsigned at) {
  double v;
  asm volatile("ld.volatile.shared.f64 %0, [%1];" : "=d"(v) : "r"(at));
  return v;
}
SXT_DENSE Complex<double> load_whole(const Complex<double> *from) {
  Complex<double> v;
  asm volatile("ld.volatile.shared.v2.f64 {%0, %1}, [%2];" : "=d"(v.re), "=d"(v.im) : "r"(shared_address(from)));
  return v;
}

// From shared memory: element (row r, inner k) of a left block, (column n, inner k) of a right one, at [k * ld + r].
template <class T, int sign>
SXT_DENSE LeftOperand<T> load_left(const T *block, int ld, int g, int t) {
  const T *p = block + 2 * t * ld + g;
  if constexpr (sizeof(T) == 16) {
    const unsigned at = shared_address(p), next = at + 16 * ld;
    constexpr double by = sign;
    const auto part = [&](int offset) { return by * load_part(at + offset); };
    const auto next_part = [&](int offset) { return by * load_part(next + offset); };
    return {Left<double>(part(0), part(128), next_part(0), next_part(128)),
            Left<double>(part(8), part(136), next_part(8), next_part(136))};
  } else {
    return LeftOperand<T>::template of<sign>(p[0], p[8], p[ld], p[ld + 8]);
  }
}
// The same of a block that stands transposed: element (row r, inner k) at [r * ld + k]; at: the lane's element (g, 2t).
template <class T>
SXT_DENSE LeftOperand<T> load_left_transposed(const T *at, int to_row_8) {
  if constexpr (sizeof(T) == 16) {
    const unsigned upper = shared_address(at), lower = upper + 16 * to_row_8;
    const auto parts = [&](int offset) {
      return Left<double>(load_part(upper + offset), load_part(lower + offset), load_part(upper + offset + 16),
                          load_part(lower + offset + 16));
    };
    return {parts(0), parts(8)};
  } else {
    return LeftOperand<T>::template of<1>(at[0], at[to_row_8], at[1], at[to_row_8 + 1]);
  }
}
template <class T>
SXT_DENSE RightOperand<T> load_right(const T *block, int ld, int g, int t) {
  const T *p = block + 2 * t * ld + g;
  if constexpr (sizeof(T) == 16) {
    const unsigned at = shared_address(p), next = at + 16 * ld;
    return {Right<double>(load_part(at), load_part(next)), Right<double>(load_part(at + 8), load_part(next + 8))};
  } else {
    return RightOperand<T>::of(p[0], p[ld]);
  }
}
template <class T, int sign>
SXT_DENSE LeftOperand<T> as_left(const Accumulator<T> &c) {
  return LeftOperand<T>::template of<sign>(c.get(0), c.get(2), c.get(1), c.get(3));
}

// d = c + a b'.
template <class T>
SXT_DENSE void product(Accumulator<T> &d, const Accumulator<T> &c, const LeftOperand<T> &a, const RightOperand<T> &b) {
  if constexpr (complex_valued<T>) {
    multiply_add(d.re, c.re, a.x, b.re);
    multiply_add(d.im, c.im, a.y, b.re);
    multiply_add(d.re, d.re, a.y, b.im);
    multiply_add(d.im, d.im, a.minus_x, b.im);
  } else {
    multiply_add(d.re, c.re, a.x, b.re);
  }
}
template <class T>
SXT_DENSE void product(Accumulator<T> &c, const LeftOperand<T> &a, const RightOperand<T> &b) {
  product(c, c, a, b);
}

// c[j] += a b[j]' for two columns of blocks. Of c64, the instructions take turns over four accumulators: each is one of
// six on its accumulator, which wait for one another.
template <class T>
SXT_DENSE void products(Accumulator<T> *c, const LeftOperand<T> &a, const RightOperand<T> (&b)[2]) {
  if constexpr (complex_valued<T> && sizeof(T) == 8) {
#pragma unroll
    for (int part = 0; part < tf32_parts; ++part) {
#pragma unroll
      for (int j = 0; j < 2; ++j) tf32_part(c[j].re, a.x, b[j].re, part), tf32_part(c[j].im, a.y, b[j].re, part);
#pragma unroll
      for (int j = 0; j < 2; ++j) tf32_part(c[j].re, a.y, b[j].im, part), tf32_part(c[j].im, a.minus_x, b[j].im, part);
    }
  } else {
#pragma unroll
    for (int j = 0; j < 2; ++j) product(c[j], a, b[j]);
  }
}

}  // namespace sextant::hermitian_panel
