// SPDX-License-Identifier: BSD-3-Clause
// What one element of every operation is, for real and complex values alike, and how elements are loaded: as groups of
// 16 bytes where the arrays are aligned to them, one by one elsewhere.
#pragma once

#include <cstdint>

#include "sextant/kinds/vector.h"
#include "sextant/plugin_cuda.hpp"

namespace sextant::vector_cuda {

// A complex number as it lies in memory.
template <class R>
struct alignas(2 * sizeof(R)) Complex { R re, im; };

template <class T>
struct Form { using Real = T; };
template <class R>
struct Form<Complex<R>> { using Real = R; };
template <class T>
using Real = typename Form<T>::Real;

template <class T>
__host__ __device__ T number(double value) {
  if constexpr (sizeof(T) == sizeof(Real<T>)) return static_cast<T>(value);
  else return {static_cast<Real<T>>(value), 0};
}

__device__ inline float sum(float a, float b) { return a + b; }
__device__ inline double sum(double a, double b) { return a + b; }
template <class R>
__device__ Complex<R> sum(Complex<R> a, Complex<R> b) { return {a.re + b.re, a.im + b.im}; }

__device__ inline float product(float a, float b) { return a * b; }
__device__ inline double product(double a, double b) { return a * b; }
template <class R>
__device__ Complex<R> product(Complex<R> a, Complex<R> b) {
  return {fma(a.re, b.re, -(a.im * b.im)), fma(a.re, b.im, a.im * b.re)};
}
template <class R>
__device__ Complex<R> product(Complex<R> a, R b) { return {a.re * b, a.im * b}; }

__device__ inline float quotient(float a, float b) { return a / b; }
__device__ inline double quotient(double a, double b) { return a / b; }
template <class R>
__device__ Complex<R> quotient(Complex<R> a, R b) { return {a.re / b, a.im / b}; }

// The new value of an element. x of the two operations with a real one is `real`.
template <class T>
__device__ T result(std::int32_t operation, T alpha, T beta, T x, Real<T> real, T y) {
  switch (operation) {
    case SXT_VECTOR_COPY: return x;
    case SXT_VECTOR_FILL: return alpha;
    case SXT_VECTOR_SCALE: return product(alpha, y);
    case SXT_VECTOR_AXPY: return sum(product(alpha, x), y);
    case SXT_VECTOR_MULTIPLY: return product(x, y);
    case SXT_VECTOR_REAL_MULTIPLY: return product(y, real);
    case SXT_VECTOR_REAL_DIVIDE: return quotient(y, real);
    default: return sum(product(alpha, x), product(beta, y));  // axpby and waxpby
  }
}

// The arrays an operation reads, and where it writes.
struct Operands {
  const void *x, *y;  // NULL: not read
  const void *real;   // x of the operations that take a real one
  void *out;
};

// Elements side by side that move as one access; alignment says so to the compiler.
template <class T, int width>
struct alignas(width * sizeof(T) > 16 ? 16 : width * sizeof(T)) Group { T v[width]; };

}  // namespace sextant::vector_cuda
