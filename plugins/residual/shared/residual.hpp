// SPDX-License-Identifier: BSD-3-Clause
// Common parts of kernels of b - A x in twice the working precision: a row's sum by error-free transformations, the
// norms, and the bounds of both (docs/residual.md has the proofs). For the host, files compiled once an instruction
// set, and CUDA. Files that include it must be compiled with -ffp-contract=off: TwoSum is wrong when an addition is
// fused.
#pragma once

#include <stdint.h>

#include "sextant/plugin/kinds/residual.h"

#if defined(__CUDACC__)
#define SXT_RESIDUAL_CALL static __host__ __device__ __forceinline__
#else
#define SXT_RESIDUAL_CALL static inline __attribute__((always_inline))
#endif

namespace sextant::residual {

// High + low is the sum of the terms so far, size that of their magnitudes. Single precision leaves low at 0: its
// products are exact in double, and a plain sum in double has twice its precision.
struct Sum {
  double high, low, size;
};

#if defined(__CUDACC__)
SXT_RESIDUAL_CALL double magnitude(double a) { return fabs(a); }
SXT_RESIDUAL_CALL double fused(double a, double b, double c) { return fma(a, b, c); }
SXT_RESIDUAL_CALL double square_root(double a) { return sqrt(a); }
#else  // without a header of the C++ library, which files compiled once an instruction set do not include
SXT_RESIDUAL_CALL double magnitude(double a) { return __builtin_fabs(a); }
SXT_RESIDUAL_CALL double fused(double a, double b, double c) { return __builtin_fma(a, b, c); }
SXT_RESIDUAL_CALL double square_root(double a) { return __builtin_sqrt(a); }
#endif

// No compiler may fuse these two.
SXT_RESIDUAL_CALL double rounded_product(double a, double b) {
#if defined(__CUDA_ARCH__)
  return __dmul_rn(a, b);
#else
  return a * b;
#endif
}
SXT_RESIDUAL_CALL double rounded_sum(double a, double b) {
#if defined(__CUDA_ARCH__)
  return __dadd_rn(a, b);
#else
  return a + b;
#endif
}

// Knuth's TwoSum: sum += v, and the addition's rounding error, with `beside`, is added to low.
SXT_RESIDUAL_CALL void two_sum(Sum &sum, double v, double beside) {
  const double total = rounded_sum(sum.high, v), part = rounded_sum(total, -sum.high);
  const double lost = rounded_sum(rounded_sum(sum.high, -rounded_sum(total, -part)), rounded_sum(v, -part));
  sum.low = rounded_sum(sum.low, rounded_sum(lost, beside));
  sum.high = total;
}

// sum += a b. TwoProd: the product's rounding is one fused multiply-add.
template <bool single>
SXT_RESIDUAL_CALL void add_product(Sum &sum, double a, double b) {
  const double p = rounded_product(a, b);
  if (single)
    sum.high = rounded_sum(sum.high, p);
  else
    two_sum(sum, p, fused(a, b, -p));
  sum.size = rounded_sum(sum.size, magnitude(p));
}

// sum += another one.
template <bool single>
SXT_RESIDUAL_CALL void add_sum(Sum &sum, const Sum &other) {
  if (single)
    sum.high = rounded_sum(sum.high, other.high);
  else
    two_sum(sum, other.high, other.low);
  sum.size = rounded_sum(sum.size, other.size);
}

// A bound of |high + low - exact| for a sum of this many products, one more term, and a few additions of lanes.
template <bool single>
SXT_RESIDUAL_CALL double sum_bound(double size, double products) {
  constexpr double unit = 0x1p-53, slack = 1.01;
  const double count = products + 16;
  if (single) return slack * count * unit * size;
  // Underflow: products and their roundings lose at most 2^-1075 each.
  return slack * (count * unit) * (count * unit) * size + count * 0x1p-1072;
}

// Sums of squares that neither overflow nor underflow (Blue 1978): numbers below 2^-480 times 2^600, those above 2^480
// times 2^-600, and the rest unscaled.
struct Squares {
  double small, middle, large;
};

template <bool single>
SXT_RESIDUAL_CALL void add_square(Squares &to, double v) {
  if (!single && v > 0x1p480) {
    v *= 0x1p-600;
    to.large += v * v;
  } else if (!single && v < 0x1p-480) {
    v *= 0x1p600;
    to.small += v * v;
  } else {  // NaN as well
    to.middle += v * v;
  }
}

SXT_RESIDUAL_CALL void add_squares(Squares &to, const Squares &from) {
  to.small += from.small;
  to.middle += from.middle;
  to.large += from.large;
}

// Once NaN, NaN.
SXT_RESIDUAL_CALL void raise(double &most, double v) { most = v > most || v != v ? v : most; }

SXT_RESIDUAL_CALL double root(const Squares &s) {
  if (s.large > 0 || s.large != s.large) return square_root(s.large + s.middle * 0x1p-600 * 0x1p-600) * 0x1p600;
  if (s.middle > 0 || s.middle != s.middle) return square_root(s.middle + s.small * 0x1p-600 * 0x1p-600);
  return square_root(s.small) * 0x1p-600;
}

// The contributions of some rows to the norms: of the residual, of its bounds, of b and of the sizes.
struct Norms {
  Squares residual, bound, rhs, size;
  double residual_max, bound_max, rhs_max, size_max;
};

// A row: the parts (one, or two of a complex number) of its sum and of b.
template <bool single, int parts>
SXT_RESIDUAL_CALL void add_row(Norms &norms, const Sum *sum, const double *rhs, double products) {
  double residual = 0, bound = 0, b = 0, size = 0;
  for (int p = 0; p < parts; ++p) {
    const double value = magnitude(rounded_sum(sum[p].high, sum[p].low)), magnitude_b = magnitude(rhs[p]);
    const double uncertain = sum_bound<single>(sum[p].size, products);
    add_square<single>(norms.residual, value);
    add_square<single>(norms.bound, uncertain);
    add_square<single>(norms.rhs, magnitude_b);
    add_square<single>(norms.size, sum[p].size);
    residual += value, bound += uncertain, b += magnitude_b, size += sum[p].size;
  }
  raise(norms.residual_max, residual);
  raise(norms.bound_max, bound);
  raise(norms.rhs_max, b);
  raise(norms.size_max, size);
}

SXT_RESIDUAL_CALL void add_norms(Norms &to, const Norms &from) {
  add_squares(to.residual, from.residual);
  add_squares(to.bound, from.bound);
  add_squares(to.rhs, from.rhs);
  add_squares(to.size, from.size);
  raise(to.residual_max, from.residual_max);
  raise(to.bound_max, from.bound_max);
  raise(to.rhs_max, from.rhs_max);
  raise(to.size_max, from.size_max);
}

// additions: no square went through more of them.
SXT_RESIDUAL_CALL sxt_residual_norms finished(const Norms &norms, double additions) {
  const double relative = (additions + 16) * 0x1p-53, few = 0x1p-50, least = 0x1p-1070;
  sxt_residual_norms out;
  out.norm_2 = root(norms.residual);
  out.bound_2 = (root(norms.bound) * (1 + relative) + relative * out.norm_2) * (1 + few) + least;
  out.norm_max = norms.residual_max;
  out.bound_max = (norms.bound_max + few * out.norm_max) * (1 + few) + least;
  out.rhs_2 = root(norms.rhs);
  out.rhs_bound_2 = out.rhs_2 > 0 ? relative * out.rhs_2 * (1 + few) + least : 0;
  out.rhs_max = norms.rhs_max;
  out.rhs_bound_max = out.rhs_max > 0 ? few * out.rhs_max + least : 0;
  out.size_2 = root(norms.size);
  out.size_max = norms.size_max;
  return out;
}

// Rows that are summed one after the other; the sums of such blocks are joined in their order, so that bits depend only
// on the matrix.
enum { block_rows = 512 };

}  // namespace sextant::residual
