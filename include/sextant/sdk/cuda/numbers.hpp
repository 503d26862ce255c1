// SPDX-License-Identifier: BSD-3-Clause
// Real and complex numbers in device code: the device's form of the value types, and arithmetic with the same notation
// for all of them. Sums and products round as written here in every kernel.
#pragma once

#ifdef __CUDACC__
#include <cuda_runtime.h>
#endif

#include <complex>
#include <type_traits>

#include "sextant/sdk/kernel.hpp"

namespace sextant::plugin::cuda {

// A complex number as it lies in memory; the alignment lets it move as one access.
template <class R>
struct alignas(2 * sizeof(R)) Complex {
  R re, im;
};

// The type of the parts, and the type of double precision that holds as many.
template <class T>
struct Parts {
  using Real = T;
  using Wide = double;
};
template <class R>
struct Parts<Complex<R>> {
  using Real = R;
  using Wide = Complex<double>;
};
template <class T>
using Real = typename Parts<T>::Real;
template <class T>
using Wide = typename Parts<T>::Wide;
template <class T>
inline constexpr bool complex_valued = sizeof(T) != sizeof(Real<T>);

// The device's form of a value type of the host.
template <class T>
struct DeviceForm {
  using type = T;
};
template <class R>
struct DeviceForm<std::complex<R>> {
  using type = Complex<R>;
};
template <class T>
using device_form = typename DeviceForm<T>::type;

// Calls f(Tag<T>{}) with the device's form of a value type.
template <class F>
sxt_status with_number(sxt_value_type type, F &&f) {
  switch (type) {
    case SXT_F32: return f(Tag<float>{});
    case SXT_F64: return f(Tag<double>{});
    case SXT_C64: return f(Tag<Complex<float>>{});
    case SXT_C128: return f(Tag<Complex<double>>{});
    default: return SXT_E_TYPE;
  }
}

#ifdef __CUDACC__

template <class T>
__host__ __device__ T number(double value) {
  if constexpr (complex_valued<T>)
    return {static_cast<Real<T>>(value), 0};
  else
    return static_cast<T>(value);
}

__device__ inline float plus(float a, float b) { return a + b; }
__device__ inline double plus(double a, double b) { return a + b; }
template <class R>
__device__ Complex<R> plus(Complex<R> a, Complex<R> b) {
  return {a.re + b.re, a.im + b.im};
}

__device__ inline float minus(float a, float b) { return a - b; }
__device__ inline double minus(double a, double b) { return a - b; }
template <class R>
__device__ Complex<R> minus(Complex<R> a, Complex<R> b) {
  return {a.re - b.re, a.im - b.im};
}

__device__ inline float times(float a, float b) { return a * b; }
__device__ inline double times(double a, double b) { return a * b; }
template <class R>
__device__ Complex<R> times(Complex<R> a, Complex<R> b) {
  return {fma(a.re, b.re, -(a.im * b.im)), fma(a.re, b.im, a.im * b.re)};
}
template <class R>
__device__ Complex<R> times(Complex<R> a, R b) {
  return {a.re * b, a.im * b};
}

__device__ inline float quotient(float a, float b) { return a / b; }
__device__ inline double quotient(double a, double b) { return a / b; }
template <class R>
__device__ Complex<R> quotient(Complex<R> a, R b) {
  return {a.re / b, a.im / b};
}

__device__ inline float conjugated(float a) { return a; }
__device__ inline double conjugated(double a) { return a; }
template <class R>
__device__ Complex<R> conjugated(Complex<R> a) {
  return {a.re, -a.im};
}

template <class To>
__device__ To convert(float a) {
  return static_cast<To>(a);
}
template <class To>
__device__ To convert(double a) {
  return static_cast<To>(a);
}
template <class To, class R>
__device__ To convert(Complex<R> a) {
  return {static_cast<Real<To>>(a.re), static_cast<Real<To>>(a.im)};
}

__device__ inline float magnitude(float a) { return fabsf(a); }  // |re| + |im|, as BLAS compares
__device__ inline double magnitude(double a) { return fabs(a); }
template <class R>
__device__ R magnitude(Complex<R> a) {
  return fabs(a.re) + fabs(a.im);
}

// Through the read-only path: for arrays that no kernel which may still run writes.
template <class T>
__device__ __forceinline__ T read_only(const T *from) {
  return __ldg(from);
}
template <class R>
__device__ __forceinline__ Complex<R> read_only(const Complex<R> *from) {
  using Pair = std::conditional_t<sizeof(R) == sizeof(float), float2, double2>;
  const Pair pair = __ldg(reinterpret_cast<const Pair *>(from));
  return {pair.x, pair.y};
}

#endif  // __CUDACC__

}  // namespace sextant::plugin::cuda
