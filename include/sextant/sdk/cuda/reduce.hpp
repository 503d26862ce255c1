// SPDX-License-Identifier: BSD-3-Clause
// Reductions in CUDA kernels: what one element contributes, how contributions merge and what comes out, for every
// operation of kind sxt.reduction/1 and every value type. Include from .cu files only. An operation is a type with
//   Value    element type          Acc     what is carried        Out    the result
//   vectors  operands read (1, 2)  identity(), element(x, y, i), merge(a, b), result(a)
// merge is not assumed to be associative: kernels fix the order, so that equal input gives equal bits.
// The three accumulators of nrm2 in double precision: Blue, A portable Fortran program to find the Euclidean norm,
// ACM TOMS 4 (1978), with the constants of Anderson, ACM TOMS 44 (2017). Compensated sums: Neumaier (1974); Ogita, Rump
// and Oishi, SIAM J. Sci. Comput. 26 (2005).
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "sextant/sdk/cuda/numbers.hpp"

namespace sextant::plugin::cuda {

// ---- operations
// A is the accumulator's type: V itself or its wider form.
template <class V, class A>
struct Sum {
  using Value = V;
  using Acc = A;
  using Out = V;
  static constexpr int vectors = 1;
  __device__ static Acc identity() { return {}; }
  __device__ static Acc element(V x, V, std::int64_t) { return convert<A>(x); }
  __device__ static Acc merge(Acc a, Acc b) { return plus(a, b); }
  __device__ static Out result(Acc a) { return convert<V>(a); }
};

template <class V, class A, bool conjugate>
struct Dot : Sum<V, A> {
  static constexpr int vectors = 2;
  __device__ static A element(V x, V y, std::int64_t) {
    const A a = convert<A>(x), b = convert<A>(y);
    return times(conjugate ? conjugated(a) : a, b);
  }
};

template <class V, class A>
struct AbsSum : Sum<Real<V>, A> {
  using Value = V;
  __device__ static A element(V x, V, std::int64_t) {
    if constexpr (sizeof(A) > sizeof(Real<V>))
      return magnitude(convert<Wide<V>>(x));
    else
      return magnitude(x);
  }
};

// f32: squares of all single numbers are far inside the range of double.
template <class V>
struct Norm2Single {
  using Value = V;
  using Acc = double;
  using Out = float;
  static constexpr int vectors = 1;
  __device__ static Acc identity() { return 0; }
  __device__ static Acc element(float x, float, std::int64_t) { return static_cast<double>(x) * x; }
  __device__ static Acc element(Complex<float> x, Complex<float>, std::int64_t) {
    return fma(static_cast<double>(x.re), static_cast<double>(x.re), static_cast<double>(x.im) * x.im);
  }
  __device__ static Acc merge(Acc a, Acc b) { return a + b; }
  __device__ static Out result(Acc a) { return static_cast<float>(sqrt(a)); }
};

// f64: big, middle and small numbers are summed apart, scaled by powers of two.
struct BlueSums {
  double big, middle, small;
};
template <class V>
struct Norm2Double {
  using Value = V;
  using Acc = BlueSums;
  using Out = double;
  static constexpr int vectors = 1;
  static constexpr double big_from = 0x1p486, small_below = 0x1p-511, big_scale = 0x1p-538, small_scale = 0x1p537;
  __device__ static Acc identity() { return {0, 0, 0}; }
  __device__ static void add(Acc &acc, double x) {
    const double a = fabs(x);
    const bool big = a > big_from, small = a < small_below;  // a NaN is in the middle and stays there
    const double scaled = a * (big ? big_scale : small ? small_scale : 1.0), square = scaled * scaled;
    acc.big += big ? square : 0;
    acc.small += small ? square : 0;
    acc.middle += big || small ? 0 : square;
  }
  __device__ static Acc element(double x, double, std::int64_t) {
    Acc acc{};
    return add(acc, x), acc;
  }
  __device__ static Acc element(Complex<double> x, Complex<double>, std::int64_t) {
    Acc acc{};
    return add(acc, x.re), add(acc, x.im), acc;
  }
  __device__ static Acc merge(Acc a, Acc b) { return {a.big + b.big, a.middle + b.middle, a.small + b.small}; }
  __device__ static Out result(Acc a) {
    if (a.big > 0) {
      if (a.middle > 0 || isnan(a.middle)) a.big += a.middle * big_scale * big_scale;
      return sqrt(a.big) / big_scale;
    }
    if (!(a.small > 0)) return sqrt(a.middle);
    const double small = sqrt(a.small) / small_scale;
    if (!(a.middle > 0 || isnan(a.middle))) return small;
    const double middle = sqrt(a.middle), ratio = small / middle;  // small < 2^-511 <= each of the middle ones
    return middle * sqrt(1 + ratio * ratio);
  }
};

// Largest magnitude, smallest and largest value: a NaN wins over everything.
enum class Extreme { magnitude, least, most };
template <class V, Extreme which>
struct Extremum {
  using Value = V;
  using Acc = Real<V>;
  using Out = Real<V>;
  static constexpr int vectors = 1;
  __device__ static Acc identity() {
    return which == Extreme::magnitude ? Acc(0) : which == Extreme::least ? Acc(INFINITY) : Acc(-INFINITY);
  }
  __device__ static Acc element(V x, V, std::int64_t) {
    if constexpr (which == Extreme::magnitude)
      return magnitude(x);
    else
      return x;
  }
  __device__ static Acc merge(Acc a, Acc b) {
    const bool take_b = which == Extreme::least ? b < a : b > a;
    return isnan(a) ? a : isnan(b) || take_b ? b : a;
  }
  __device__ static Out result(Acc a) { return a == Acc(0) ? Acc(0) : a; }  // never -0
};

// The first index of the largest magnitude; the first NaN if there is one.
template <class R>
struct Place {
  R value;
  std::int64_t index;
};
template <class V>
struct LargestIndex {
  using Value = V;
  using Acc = Place<Real<V>>;
  using Out = std::int64_t;
  static constexpr int vectors = 1;
  __device__ static Acc identity() { return {Real<V>(-1), -1}; }
  __device__ static Acc element(V x, V, std::int64_t i) { return {magnitude(x), i}; }
  __device__ static Acc merge(Acc a, Acc b) {
    if (b.index < 0) return a;
    if (a.index < 0) return b;
    const bool nan_a = isnan(a.value), nan_b = isnan(b.value);
    if (nan_a != nan_b) return nan_a ? a : b;
    if (nan_a || a.value == b.value) return a.index < b.index ? a : b;
    return b.value > a.value ? b : a;
  }
  __device__ static Out result(Acc a) { return a.index; }
};

// A sum and its rounding error.
template <class R>
struct TwoFold {
  R sum, error;
};
template <class R>
__device__ TwoFold<R> two_sum(R a, R b) {
  const R s = a + b, t = s - a;
  return {s, (a - (s - t)) + (b - t)};
}
template <class R>
__device__ TwoFold<R> merge_folds(TwoFold<R> a, TwoFold<R> b) {
  const TwoFold<R> s = two_sum(a.sum, b.sum);
  return {s.sum, s.error + (a.error + b.error)};
}
template <class R>
__device__ TwoFold<R> two_product(R a, R b) {
  const R p = a * b;
  return {p, fma(a, b, -p)};
}
template <class R>
__device__ R value_of(TwoFold<R> a) {
  return isfinite(a.sum) ? a.sum + a.error : a.sum;
}  // inf - inf is no error

template <class V>
struct CompensatedAcc {
  TwoFold<Real<V>> part[complex_valued<V> ? 2 : 1];
};
template <class V>
struct CompensatedSum {
  using Value = V;
  using Acc = CompensatedAcc<V>;
  using Out = V;
  static constexpr int vectors = 1;
  __device__ static Acc identity() { return {}; }
  __device__ static Acc element(V x, V, std::int64_t) {
    Acc acc{};
    if constexpr (complex_valued<V>)
      acc.part[0].sum = x.re, acc.part[1].sum = x.im;
    else
      acc.part[0].sum = x;
    return acc;
  }
  __device__ static Acc merge(Acc a, Acc b) {
    a.part[0] = merge_folds(a.part[0], b.part[0]);
    if constexpr (complex_valued<V>) a.part[1] = merge_folds(a.part[1], b.part[1]);
    return a;
  }
  __device__ static Out result(Acc a) {
    if constexpr (complex_valued<V>)
      return {value_of(a.part[0]), value_of(a.part[1])};
    else
      return value_of(a.part[0]);
  }
};
template <class V>
struct CompensatedAbsSum : CompensatedSum<Real<V>> {
  using Value = V;
  using Acc = CompensatedAcc<Real<V>>;
  __device__ static Acc element(V x, V, std::int64_t) {
    if constexpr (complex_valued<V>)
      return {{two_sum(fabs(x.re), fabs(x.im))}};
    else
      return {{{fabs(x), 0}}};
  }
};
template <class V, bool conjugate>
struct CompensatedDot : CompensatedSum<V> {
  using Acc = CompensatedAcc<V>;
  static constexpr int vectors = 2;
  __device__ static Acc element(V x, V y, std::int64_t) {
    Acc acc{};
    if constexpr (complex_valued<V>) {
      const V a = conjugate ? conjugated(x) : x;
      acc.part[0] = merge_folds(two_product(a.re, y.re), two_product(-a.im, y.im));
      acc.part[1] = merge_folds(two_product(a.re, y.im), two_product(a.im, y.re));
    } else {
      acc.part[0] = two_product(x, y);
    }
    return acc;
  }
};

// ---- a value of any accumulator type through shuffles, word by word
template <class A>
__device__ A shuffle_down(A value, int distance) {
  static_assert(sizeof(A) % 4 == 0);
  union {
    A value;
    std::uint32_t word[sizeof(A) / 4];
  } box{value};
#pragma unroll
  for (unsigned i = 0; i < sizeof(A) / 4; ++i) box.word[i] = __shfl_down_sync(0xffffffffu, box.word[i], distance);
  return box.value;
}

template <class Op>
__device__ typename Op::Acc merge_warp(typename Op::Acc acc) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) acc = Op::merge(acc, shuffle_down(acc, distance));
  return acc;
}

// The block's sum, in thread 0. shared: one accumulator a warp. Every thread of the block calls it.
template <class Op>
__device__ typename Op::Acc merge_block(typename Op::Acc acc, typename Op::Acc *shared) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = (blockDim.x + 31) / 32;
  acc = merge_warp<Op>(acc);
  if (lane == 0) shared[warp] = acc;
  __syncthreads();
  if (warp == 0) acc = merge_warp<Op>(lane < warps ? shared[lane] : Op::identity());
  return acc;
}

}  // namespace sextant::plugin::cuda
