// SPDX-License-Identifier: BSD-3-Clause
// The list of the corpus: CORPUS(kernel, Op, T, I, pair) for each, where pair says that the third argument is a second array
// of T and not the permutation.
#pragma once
#include "kernels.cuh"

using wide = long long;
using word = unsigned;
using wide_word = unsigned long long;

#define ALWAYS(D, k, T, I, pair) \
  D(k, Add, T, I, pair) D(k, Sub, T, I, pair) D(k, Mul, T, I, pair) D(k, Min, T, I, pair) D(k, Max, T, I, pair) \
  D(k, Abs, T, I, pair) D(k, Square, T, I, pair) D(k, Cube, T, I, pair) D(k, Clamp, T, I, pair) D(k, Select, T, I, pair) \
  D(k, Poly, T, I, pair) D(k, Relu, T, I, pair)
#define FLOATING(D, k, T, I, pair) \
  D(k, Div, T, I, pair) D(k, Fma, T, I, pair) D(k, Sqrt, T, I, pair) D(k, Rsqrt, T, I, pair) D(k, Exp, T, I, pair) \
  D(k, Log, T, I, pair) D(k, Sin, T, I, pair) D(k, Tanh, T, I, pair) D(k, Erf, T, I, pair) D(k, Pow, T, I, pair) \
  D(k, Hypot, T, I, pair) D(k, Atan2, T, I, pair) D(k, Floor, T, I, pair) D(k, Sigmoid, T, I, pair) D(k, Gelu, T, I, pair) \
  D(k, Fmod, T, I, pair) D(k, Cbrt, T, I, pair) D(k, Log1p, T, I, pair)
#define INTEGER(D, k, T, I, pair) \
  D(k, And, T, I, pair) D(k, Or, T, I, pair) D(k, Xor, T, I, pair) D(k, ShiftLeft, T, I, pair) D(k, ShiftRight, T, I, pair) \
  D(k, Quotient, T, I, pair) D(k, Remainder, T, I, pair) D(k, Bits, T, I, pair) D(k, Zeros, T, I, pair) D(k, Reverse, T, I, pair)
#define PLACES(D, k, T, I) \
  D(k, Stencil3, T, I, 0) D(k, Stencil5, T, I, 0) D(k, Window9, T, I, 0) D(k, Plane5<64>, T, I, 0) D(k, Plane5<77>, T, I, 0) \
  D(k, Space7<16>, T, I, 0) D(k, Gather, T, I, 0) D(k, GatherTwice, T, I, 0) D(k, GatherDifference, T, I, 0) \
  D(k, Search, T, I, 0) D(k, Chase, T, I, 0) D(k, Row, T, I, 0) D(k, Table, T, I, 0)
#define ATOMICS(D, k, T, I) \
  D(k, AtomicAdd, T, I, 0) D(k, AtomicMin, T, I, 0) D(k, AtomicMax, T, I, 0) D(k, AtomicAnd, T, I, 0) D(k, AtomicOr, T, I, 0) \
  D(k, AtomicXor, T, I, 0)

#define CORPUS(D) \
  ALWAYS(D, elementwise, float, int, 1) FLOATING(D, elementwise, float, int, 1) \
  ALWAYS(D, elementwise, double, int, 1) FLOATING(D, elementwise, double, int, 1) \
  ALWAYS(D, elementwise, float, word, 1) ALWAYS(D, elementwise, float, wide, 1) ALWAYS(D, elementwise, double, wide_word, 1) \
  ALWAYS(D, elementwise, int, int, 1) INTEGER(D, elementwise, int, int, 1) INTEGER(D, elementwise, wide, wide, 1) \
  ALWAYS(D, gridstride, float, int, 1) FLOATING(D, gridstride, float, int, 1) \
  ALWAYS(D, gridstride, double, wide, 1) FLOATING(D, gridstride, double, wide, 1) \
  ALWAYS(D, gridstride, float, word, 1) ALWAYS(D, gridstride, double, wide_word, 1) \
  ALWAYS(D, gridstride, wide, int, 1) INTEGER(D, gridstride, int, int, 1) \
  PLACES(D, neighbours, float, int) PLACES(D, neighbours, double, wide) \
  PLACES(D, neighbours_gridstride, float, int) PLACES(D, neighbours_gridstride, double, wide) \
  ALWAYS(D, scatter, float, int, 0) \
  ATOMICS(D, atomic, int, int) ATOMICS(D, atomic, wide_word, wide) ATOMICS(D, atomic_gridstride, int, int) \
  ATOMICS(D, atomic_gridstride, word, wide) \
  D(atomic, AtomicAdd, float, int, 0) D(atomic, AtomicAdd, double, int, 0) D(atomic_gridstride, AtomicAdd, float, int, 0)
