// SPDX-License-Identifier: BSD-3-Clause
// What the kernels of the corpus compute at one index.
#pragma once
#include <cmath>

#define UNARY(name, expression)                                                     \
  struct name {                                                                     \
    template <typename T>                                                           \
    static __device__ T at(T a, T b) {                                              \
      return static_cast<T>(expression);                                            \
    }                                                                               \
  };
UNARY(Add, a + b)
UNARY(Sub, a - b)
UNARY(Mul, a *b)
UNARY(Div, a / (b * b + T(1)))
UNARY(Fma, a *b + a)
UNARY(Min, a < b ? a : b)
UNARY(Max, a > b ? a : b)
UNARY(Abs, a < T(0) ? -a : a)
UNARY(Square, a *a)
UNARY(Cube, a *a *a)
UNARY(Clamp, a < T(2) ? T(2) : (a > T(9) ? T(9) : a))
UNARY(Select, b > T(3) ? a : -a)
UNARY(Poly, ((T(3) * a + T(2)) * a + T(1)) * a + b)
UNARY(Relu, a > T(0) ? a : T(0))
// Floating-point numbers.
UNARY(Sqrt, sqrt(fabs(a)))
UNARY(Rsqrt, T(1) / sqrt(fabs(a) + T(1)))
UNARY(Exp, exp(-fabs(a)))
UNARY(Log, log(fabs(a) + T(1)))
UNARY(Sin, sin(a))
UNARY(Tanh, tanh(a))
UNARY(Erf, erf(a))
UNARY(Pow, pow(fabs(a) + T(0.5), b *T(0.25)))
UNARY(Hypot, hypot(a, b))
UNARY(Atan2, atan2(a, b + T(1)))
UNARY(Floor, floor(a *T(1.5)))
UNARY(Sigmoid, T(1) / (T(1) + exp(-a)))
UNARY(Gelu, T(0.5) * a *(T(1) + erf(a *T(0.7071067811865476))))
UNARY(Fmod, fmod(a, fabs(b) + T(1)))
UNARY(Cbrt, cbrt(a))
UNARY(Log1p, log1p(fabs(a)))
// Integers.
UNARY(And, a &b)
UNARY(Or, a | b)
UNARY(Xor, a ^ b)
UNARY(ShiftLeft, a << (b & T(7)))
UNARY(ShiftRight, a >> (b & T(7)))
UNARY(Quotient, a / ((b & T(15)) + T(1)))
UNARY(Remainder, a % ((b & T(15)) + T(1)))
UNARY(Bits, __popcll(static_cast<unsigned long long>(a)))
UNARY(Zeros, __clzll(static_cast<long long>(a)))
UNARY(Reverse, __brev(static_cast<unsigned>(a)))
#undef UNARY

// Reads of neighbours: never written by the launch.
struct Stencil3 {
  template <typename T, typename I>
  static __device__ T at(const T *x, const int *, I i, I n) {
    return i > 0 && i + 1 < n ? x[i - 1] - T(2) * x[i] + x[i + 1] : x[i];
  }
};
struct Stencil5 {
  template <typename T, typename I>
  static __device__ T at(const T *x, const int *, I i, I n) {
    if (i < 2 || i + 2 >= n) return T(0);
    return T(4) * x[i] - x[i - 2] - x[i - 1] - x[i + 1] - x[i + 2];
  }
};
struct Window9 {
  template <typename T, typename I>
  static __device__ T at(const T *x, const int *, I i, I n) {
    T total = T(0);
    for (int k = -4; k <= 4; ++k) {
      const I j = i + k;
      if (j >= 0 && j < n) total += x[j];
    }
    return total;
  }
};
template <int width>
struct Plane5 {  // a plane of `width` columns in the linear index
  template <typename T, typename I>
  static __device__ T at(const T *x, const int *, I i, I n) {
    const I row = i / width, column = i % width, rows = n / width;
    T total = T(4) * x[i];
    if (row > 0) total -= x[i - width];
    if (row + 1 < rows) total -= x[i + width];
    if (column > 0) total -= x[i - 1];
    if (column + 1 < width && i + 1 < n) total -= x[i + 1];
    return total;
  }
};
template <int side>
struct Space7 {  // planes of side x side
  template <typename T, typename I>
  static __device__ T at(const T *x, const int *, I i, I n) {
    const I plane = side * side, z = i / plane, y = (i / side) % side, c = i % side;
    T total = T(6) * x[i];
    if (c > 0) total -= x[i - 1];
    if (c + 1 < side && i + 1 < n) total -= x[i + 1];
    if (y > 0) total -= x[i - side];
    if (y + 1 < side && i + side < n) total -= x[i + side];
    if (z > 0) total -= x[i - plane];
    if (i + plane < n) total -= x[i + plane];
    return total;
  }
};

// Reads at places that memory names.
struct Gather {
  template <typename T, typename I>
  static __device__ T at(const T *x, const int *p, I i, I) {
    return x[p[i]];
  }
};
struct GatherTwice {
  template <typename T, typename I>
  static __device__ T at(const T *x, const int *p, I i, I) {
    return x[p[p[i]]] + x[i];
  }
};
struct GatherDifference {
  template <typename T, typename I>
  static __device__ T at(const T *x, const int *p, I i, I) {
    return x[i] - x[p[i]];
  }
};
struct Search {  // binary search in the sorted part of x that p[0..n) is
  template <typename T, typename I>
  static __device__ T at(const T *x, const int *p, I i, I n) {
    I low = 0, high = n;
    while (low < high) {
      const I middle = (low + high) / 2;
      if (middle * 2 < static_cast<I>(p[i]))
        low = middle + 1;
      else
        high = middle;
    }
    return x[low < n ? low : n - 1];
  }
};
struct Chase {  // a chain of eight
  template <typename T, typename I>
  static __device__ T at(const T *x, const int *p, I i, I) {
    int at = static_cast<int>(i);
    for (int k = 0; k < 8; ++k) at = p[at];
    return x[at];
  }
};
struct Row {  // a row of a sparse matrix with as many entries as its index says
  template <typename T, typename I>
  static __device__ T at(const T *x, const int *p, I i, I n) {
    T total = T(0);
    for (I k = 0; k < 1 + i % 7; ++k) total += x[p[(i + k) % n]] * T(2);
    return total;
  }
};
struct Table {  // local memory at run-time places
  template <typename T, typename I>
  static __device__ T at(const T *x, const int *p, I i, I) {
    T kept[8];
    for (int k = 0; k < 8; ++k) kept[k] = x[i] + T(k);
    return kept[p[i] & 7];
  }
};
