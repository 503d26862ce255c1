// SPDX-License-Identifier: BSD-3-Clause
// L R^H of a 16 x 16 tile in the registers of one warp, 16 columns of L and R at a time, by tensor-core instructions:
// FP64 for f64 and c128, error-corrected TF32 (three products for one) for f32 and c64. Include from .cu files.
#pragma once

#include "sextant/sdk/cuda/dense.hpp"

#ifdef __CUDACC__

namespace sextant::plugin::cuda::dense {

constexpr int side = 16;

// A lane's eight elements of the tile: rows lane / 4 (+ 8), columns 2 (lane % 4) (+ 1) (+ 8).
SXT_DENSE int row_of(int i, int lane) { return (i & 4) * 2 + lane / 4; }
SXT_DENSE int column_of(int i, int lane) { return (i & 2) * 4 + lane % 4 * 2 + (i & 1); }

// c (16 x 8) += a (16 x 4) b (4 x 8): c[0..1] in row lane / 4, c[2..3] in the row 8 below.
SXT_DENSE void multiply_add(double (&c)[4], double a0, double a1, double b) {
#if __CUDA_ARCH__ >= 900
  asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
      : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
      : "d"(a0), "d"(a1), "d"(b));
#else
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
      : "+d"(c[0]), "+d"(c[1])
      : "d"(a0), "d"(b));
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
      : "+d"(c[2]), "+d"(c[3])
      : "d"(a1), "d"(b));
#endif
}

template <class T, bool tensor = sizeof(Real<T>) == 8>
struct Product;

template <class T>
struct Product<T, true> {
  static constexpr int parts = complex_valued<T> ? 2 : 1;
  double sum[parts][2][4] = {};  // real and imaginary part, left and right half of the tile

  // left(r, k), right(c, k): elements of L and R.
  template <class Left, class Right>
  SXT_DENSE void add(Left left, Right right, int lane) {
#pragma unroll
    for (int step = 0; step < 4; ++step) {
      const int k = step * 4 + lane % 4;
      const T a0 = left(lane / 4, k), a1 = left(lane / 4 + 8, k);
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const T b = right(half * 8 + lane / 4, k);
        if constexpr (complex_valued<T>) {
          multiply_add(sum[0][half], a0.re, a1.re, b.re);
          multiply_add(sum[1][half], a0.im, a1.im, b.re);
          multiply_add(sum[0][half], a0.im, a1.im, b.im);
          multiply_add(sum[1][half], -a0.re, -a1.re, b.im);
        } else {
          multiply_add(sum[0][half], a0, a1, b);
        }
      }
    }
  }
  // Element (row_of(i), column_of(i)) of the sum.
  SXT_DENSE T element(int i) const {
    const int half = i >> 1 & 1, e = (i >> 2) * 2 + (i & 1);
    if constexpr (complex_valued<T>)
      return {sum[0][half][e], sum[1][half][e]};
    else
      return sum[0][half][e];
  }
};

// A number as the sum of two that TF32 holds (11 bits each): the product of two such sums without its last term is
// right to about 2^-22.
struct Split {
  std::uint32_t high, low;
  SXT_DENSE explicit Split(float x) {
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(high) : "f"(x));
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(low) : "f"(x - __uint_as_float(high)));
  }
  SXT_DENSE Split(std::uint32_t high, std::uint32_t low) : high(high), low(low) {}
  SXT_DENSE Split operator-() const { return {high ^ 0x80000000u, low ^ 0x80000000u}; }
};

// c (16 x 8) += a (16 x 8) b (8 x 8): a[0..1] in rows lane / 4 and 8 below, column lane % 4, a[2..3] four columns on.
SXT_DENSE void multiply_add_tf32(float (&c)[4], const std::uint32_t (&a)[4], std::uint32_t b0, std::uint32_t b1) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
      "%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
SXT_DENSE void multiply_add(float (&c)[4], const Split (&a)[4], const Split (&b)[2]) {
  const std::uint32_t high[4] = {a[0].high, a[1].high, a[2].high, a[3].high};
  const std::uint32_t low[4] = {a[0].low, a[1].low, a[2].low, a[3].low};
  multiply_add_tf32(c, low, b[0].high, b[1].high);
  multiply_add_tf32(c, high, b[0].low, b[1].low);
  multiply_add_tf32(c, high, b[0].high, b[1].high);
}

template <class T>
struct Product<T, false> {
  static constexpr int parts = complex_valued<T> ? 2 : 1;
  float sum[parts][2][4] = {};

  template <class Left, class Right>
  SXT_DENSE void add(Left left, Right right, int lane) {
#pragma unroll
    for (int step = 0; step < 2; ++step) {
      const int r = lane / 4, k = step * 8 + lane % 4;
      const T a[4] = {left(r, k), left(r + 8, k), left(r, k + 4), left(r + 8, k + 4)};
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const T b[2] = {right(half * 8 + r, k), right(half * 8 + r, k + 4)};
        if constexpr (complex_valued<T>) {
          const Split re[4] = {Split(a[0].re), Split(a[1].re), Split(a[2].re), Split(a[3].re)};
          const Split im[4] = {Split(a[0].im), Split(a[1].im), Split(a[2].im), Split(a[3].im)};
          const Split b_re[2] = {Split(b[0].re), Split(b[1].re)}, b_im[2] = {Split(b[0].im), Split(b[1].im)};
          const Split minus_b_im[2] = {-b_im[0], -b_im[1]};
          multiply_add(sum[0][half], re, b_re);
          multiply_add(sum[1][half], im, b_re);
          multiply_add(sum[0][half], im, b_im);
          multiply_add(sum[1][half], re, minus_b_im);
        } else {
          multiply_add(sum[0][half], {Split(a[0]), Split(a[1]), Split(a[2]), Split(a[3])}, {Split(b[0]), Split(b[1])});
        }
      }
    }
  }
  SXT_DENSE T element(int i) const {
    const int half = i >> 1 & 1, e = (i >> 2) * 2 + (i & 1);
    if constexpr (complex_valued<T>)
      return {sum[0][half][e], sum[1][half][e]};
    else
      return sum[0][half][e];
  }
};

// 1 / x to full precision for x of ordinary size, without the branch for extreme ones: it is on the critical path of
// pivots.
SXT_DENSE double reciprocal(double x) {
  double y;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
  const double e = fma(-x, y, 1.0);
  return fma(fma(e, e, e), y, y);
}
SXT_DENSE float reciprocal(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return fmaf(fmaf(-x, y, 1.0f), y, y);
}

// 1 over the power of two below |x| (of the larger part of a complex x): by integers, exact, finite for all x.
SXT_DENSE double one_over_power(double x) {
  const int exponent = min(max(__double2hiint(x) >> 20 & 0x7ff, 1), 2045);
  return __hiloint2double((2046 - exponent) << 20, 0);
}
SXT_DENSE float one_over_power(float x) {
  const int exponent = min(max(__float_as_int(x) >> 23 & 0xff, 1), 253);
  return __int_as_float((254 - exponent) << 23);
}
template <class R>
SXT_DENSE R one_over_power(Complex<R> x) {
  return one_over_power(fmax(fabs(x.re), fabs(x.im)));
}

}  // namespace sextant::plugin::cuda::dense

#endif  // __CUDACC__
