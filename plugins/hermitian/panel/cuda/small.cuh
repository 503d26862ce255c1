// SPDX-License-Identifier: BSD-3-Clause
// A 16 x 16 block is factored by one warp and its factor inverted by another, two columns behind. Elimination is by
// unscaled columns, so that only a reciprocal separates one pivot from the next; roots are taken at the end, all at
// once. Loops are kept rolled, two columns a turn, with the columns still to come shifted down: unrolled, they would be
// fetched more than they are run.
#pragma once

#include "block.cuh"

namespace sextant::hermitian_panel {

SXT_DENSE double inverse_root(double v) { return rsqrt(v); }
SXT_DENSE float inverse_root(float v) { return 1.0f / sqrtf(v); }

// Barriers 1 .. 8 tell the inverting warp that two more columns stand.
SXT_DENSE void columns_stand(int turn) { asm volatile("barrier.arrive %0, 64;" ::"r"(1 + turn) : "memory"); }
SXT_DENSE void await_columns(int turn) { asm volatile("barrier.sync %0, 64;" ::"r"(1 + turn) : "memory"); }

template <class T>
SXT_DENSE void shift(T (&v)[8]) {
#pragma unroll
  for (int q = 0; q < 7; ++q) v[q] = v[q + 1];
  v[7] = T{};
}

// What a lane needs of column j: the pivot and its own row.
template <class T>
struct Pivot {
  Real<T> pivot;
  T own;
  SXT_DENSE void load(const T *column, int j, int r) { pivot = real_of(column[j]), own = column[r]; }
};

// 1 / x = y (1 + g), the estimate and its correction separate: the critical path multiplies by y while g is computed.
template <class R>
struct Reciprocal {
  R y, g;
  SXT_DENSE R value() const { return fma(g, y, y); }
};
SXT_DENSE Reciprocal<double> reciprocal_parts(double x) {
  double y;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
  const double e = fma(-x, y, 1.0);
  return {y, fma(e, e, e)};
}
SXT_DENSE Reciprocal<float> reciprocal_parts(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return {y, fmaf(-x, y, 1.0f)};
}
// A power of two that brings a pivot into [1, 2): in single precision products of two entries would leave its range
// before they are divided by a pivot far from 1. In double precision they seldom do, and computing the factor would add
// latency.
SXT_DENSE double to_unit(double) { return 1; }
SXT_DENSE float to_unit(float pivot) { return plugin::cuda::dense::one_over_power(pivot); }
// v - p / x.
template <class T>
SXT_DENSE T minus_quotient(T v, T p, const Reciprocal<Real<T>> &by) {
  const T first = scaled(p, by.y);
  return difference(difference(v, first), scaled(first, by.g));
}

// Takes column j, which stands unscaled, off the `count` later ones of a lane: lane (r, h) holds row r of columns
// base + h, base + h + 2, .. with base = j - half. The next pivot column comes first, is put where all lanes read it,
// and its exchange overlaps the work on the others.
template <int half, int count, class T>
SXT_DENSE void eliminate(T (&v)[8], Pivot<T> &at, T *column, int j, int r, int h) {
  const Real<T> unit = to_unit(at.pivot);
  const Reciprocal<Real<T>> by = reciprocal_parts(at.pivot * unit);
  const T unscaled = r > j ? scaled(at.own, unit) : T{};
  const auto other = [&](int q) { return conjugate(column[j - half + 2 * q + h]); };
  if (half > 0 || h > half) v[half] = minus_quotient(v[half], plugin::cuda::dense::product(unscaled, other(half)), by);
  if (h == 1 - half) column[block_ld + r] = v[half];
  __syncwarp();
  at.load(column + block_ld, j + 1, r);
  const T own = scaled(unscaled, by.value());
#pragma unroll
  for (int q = 0; q < count; ++q)
    if (q != half && (q > 0 || h > half)) v[q] = minus_product(v[q], own, other(q));
}
// Four columns, from 16 - 2 `count` on: `count` columns a lane are left of them.
template <int count, class T>
SXT_DENSE void eliminate_four(T (&v)[8], Pivot<T> &at, T *block, int r, int h) {
#pragma unroll 1
  for (int j = inner - 2 * count; j < inner - 2 * count + 4; j += 2) {
    eliminate<0, count>(v, at, block + j * block_ld, j, r, h);
    columns_stand(j / 2);
    eliminate<1, count>(v, at, block + (j + 1) * block_ld, j + 1, r, h);
    shift(v);
  }
}

// Products of two entries are made before they are divided by a pivot: in double precision they are lost where the
// product of two pivots is. Single precision scales them.
SXT_DENSE bool loses_products(float) { return false; }
SXT_DENSE bool loses_products(double pivot) {
  constexpr int bias = 1023, none = 2 * bias;
  const int exponent = pivot > 0 ? __double2hiint(pivot) >> 20 : none, least = __reduce_min_sync(all_lanes, exponent);
  const int who = __ffs(__ballot_sync(all_lanes, exponent == least)) - 1;  // pivots stand in lanes 0 to 15 and again
  const bool itself = (threadIdx.x & 15) == static_cast<unsigned>(who & 15);
  return least + __reduce_min_sync(all_lanes, itself ? none : exponent) < bias + 1;
}
SXT_DENSE bool may_lose_products(float) { return false; }
SXT_DENSE bool may_lose_products(double pivot) { return pivot < 0x1p-510; }

// In: block[c * 17 + r], its lower part; rows and columns from `valid` on are those of the identity. Out: columns of L
// times the roots of their pivots. Returns 0, or not finite when pivot j came out as NaN or infinity, or j + 1 when it
// was not positive; with_signs: zero. Not finite, too, where numbers left the range on the way.
template <bool with_signs, class T>
SXT_DENSE int factor_16(T *block, int valid, int lane) {
  const int r = lane & 15, h = lane >> 4;
  T v[8];
#pragma unroll
  for (int q = 0; q < 8; ++q) {
    const int c = 2 * q + h;
    v[q] = r < valid && c < valid && r >= c ? block[c * block_ld + r] : from_real<T>(r == c);
  }
  __syncwarp();
  if (h == 0) block[r] = v[0];
  __syncwarp();
  Pivot<T> at;
  at.load(block, 0, r);
  eliminate_four<8>(v, at, block, r, h);
  eliminate_four<6>(v, at, block, r, h);
  eliminate_four<4>(v, at, block, r, h);
  eliminate_four<2>(v, at, block, r, h);
  const Real<T> pivot = real_of(block[r * block_ld + r]);
  const Real<T> size = with_signs ? fabs(pivot) : pivot;
  const int code = judge_quick_pivot(size, r);
  if (!__any_sync(all_lanes, code != 0 || may_lose_products(size))) return 0;
  if (loses_products(size)) return SXT_HERMITIAN_NOT_FINITE;
  const unsigned bad = __ballot_sync(all_lanes, code != 0);
  return bad ? __shfl_sync(all_lanes, code, __ffs(bad) - 1) : 0;
}
// The upper half of a size's bits: sizes are not negative and compare by it, in integers. An instruction of the double
// unit would wait for another block's products on the tensor cores.
SXT_DENSE int rough(double v) { return __double2hiint(v) & 0x7fffffff; }
SXT_DENSE int rough(float v) { return __float_as_int(v) & 0x7fffffff; }
template <class R>
SXT_DENSE int rough(Complex<R> v) {
  return max(rough(v.re), rough(v.im));
}
// That of a product: exponents add up, fractions nearly (at most an eighth too little).
template <class R>
SXT_DENSE int rough_product(int a, int b) {
  return max(0, a - (sizeof(R) == 8 ? 0x3ff00000 : 0x3f800000) + b);
}
// Largest element of L times that of its inverse, over the warp, against what costs less than two digits.
template <class R>
SXT_DENSE bool ill_conditioned(int largest, int largest_inverse) {
  constexpr int limit = sizeof(R) == 8 ? 0x40400000 : 0x42000000;  // 32
  largest = __reduce_max_sync(all_lanes, largest), largest_inverse = __reduce_max_sync(all_lanes, largest_inverse);
  return rough_product<R>(largest, largest_inverse) >= limit;
}

// Roots of the pivots, with signs of their sizes: lane r holds 1 / |L(r, r)|.
template <bool with_signs, class T>
SXT_DENSE Real<T> inverse_roots(const T *block, int r) {
  const Real<T> pivot = real_of(block[r * block_ld + r]);
  return inverse_root(with_signs ? fabs(pivot) : pivot);
}

// Four rows of the inverse, from 16 - 2 `count` on.
template <int count, class T>
SXT_DENSE void follow_four(T (&w)[8], const T *block, T *inverse, int ld, int r, int h) {
#pragma unroll 1
  for (int j = inner - 2 * count; j < inner - 2 * count + 4; j += 2) {
    await_columns(j / 2);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const T *column = block + (j + half) * block_ld;
      if (h == half) inverse[r * ld + j + half] = w[0];
      const T row = scaled(from_lane(all_lanes, w[0], r + 16 * half), reciprocal(real_of(column[j + half])));
#pragma unroll
      for (int q = 0; q < count; ++q)
        if (q > 0 || h > half) w[q] = minus_product(w[q], column[j + 2 * q + h], row);
    }
    shift(w);
  }
}

// The inverting warp: lane (r, h) holds column r of the inverse at rows j + h, j + h + 2, ..; out: L^-1, with signs (L
// S)^-1, at inverse[c * ld + r]. Returns whether solutions with it need refinement.
template <bool with_signs, class T>
SXT_DENSE bool follow_16(const T *block, T *inverse, int ld, int lane) {
  const int r = lane & 15, h = lane >> 4;
  T w[8];
#pragma unroll
  for (int q = 0; q < 8; ++q) w[q] = from_real<T>(2 * q + h == r);
  follow_four<8>(w, block, inverse, ld, r, h);
  follow_four<6>(w, block, inverse, ld, r, h);
  follow_four<4>(w, block, inverse, ld, r, h);
  follow_four<2>(w, block, inverse, ld, r, h);
  const Real<T> root = inverse_roots<with_signs>(block, r);
  int largest = 0, largest_inverse = 0;
#pragma unroll
  for (int q = 0; q < 8; ++q) {
    const int c = 2 * q + h;
    T &entry = inverse[r * ld + c];
    const Real<T> by = __shfl_sync(all_lanes, root, c);
    entry = r <= c ? scaled(entry, by) : T{};
    largest_inverse = max(largest_inverse, rough(entry));
    if (r >= c) largest = max(largest, rough_product<Real<T>>(rough(block[c * block_ld + r]), rough(by)));
  }
  return ill_conditioned<Real<T>>(largest, largest_inverse);
}

// Inverts a factor that stands in block[c * 17 + r], identity from `valid` on; with signs L S.
template <bool with_signs, class T>
SXT_DENSE bool invert_16(const T *block, T *inverse, int inverse_ld, int valid, int lane) {
  const int r = lane & 15, h = lane >> 4;
  T w[8];
#pragma unroll
  for (int q = 0; q < 8; ++q) w[q] = from_real<T>(2 * q + h == r);
#pragma unroll 1
  for (int j = 0; j < inner; ++j) {
    // Row j is always in place 0 of the half that holds it: the even half moves on after it, the odd one as well.
    const T *column = block + j * block_ld;
    const bool mine = h == (j & 1);
    const Real<T> by = j < valid ? 1 / real_of(column[j]) : 1;
    const unsigned sign = with_signs && by < 0 ? 0x80000000u : 0;
    if (mine) w[0] = scaled(w[0], by), inverse[r * inverse_ld + j] = flipped(w[0], sign);
    const T row = from_lane(all_lanes, w[0], r + 16 * (j & 1));
    if (mine) {
#pragma unroll
      for (int q = 0; q < 7; ++q) w[q] = w[q + 1];
    }
#pragma unroll
    for (int q = 0; q < 8; ++q) {
      const int i = j + 1 + (mine ? 1 : 0) + 2 * q;
      if (i < valid) w[q] = minus_product(w[q], column[i], row);
    }
  }
  __syncwarp();
  int largest = 0, largest_inverse = 0;
#pragma unroll
  for (int q = 0; q < 8; ++q) {
    const int c = 2 * q + h;
    largest_inverse = max(largest_inverse, rough(inverse[r * inverse_ld + c]));
    if (r >= c && r < valid) largest = max(largest, rough(block[c * block_ld + r]));
  }
  return ill_conditioned<Real<T>>(largest, largest_inverse);
}

}  // namespace sextant::hermitian_panel
