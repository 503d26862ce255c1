// SPDX-License-Identifier: BSD-3-Clause
// Numbers of every type as the steps of kind sxt.hermitian_step/1 compute with them: by their parts, in double
// precision. Compiles as C++ and as CUDA.
#pragma once

#include <cmath>
#include <complex>

#include "sextant/sdk/kernel.hpp"

#ifdef __CUDACC__
#define SXT_LANES __host__ __device__
#else
#define SXT_LANES
#endif
#ifdef __CUDA_ARCH__
#define SXT_PRAGMA(text) _Pragma(#text)
#define SXT_UNROLLED_BY(times) SXT_PRAGMA(unroll times)
#else
#define SXT_UNROLLED_BY(times)
#endif

namespace sextant::plugin::hermitian_steps {

// Parts of numbers, written out because device code has no library of complex functions.
template <class T>
SXT_LANES double re(T v) {
  if constexpr (is_complex<T>)
    return static_cast<double>(v.real());
  else
    return static_cast<double>(v);
}
template <class T>
SXT_LANES double im(T v) {
  if constexpr (is_complex<T>)
    return static_cast<double>(v.imag());
  else
    return 0;
}
template <class T>
SXT_LANES T from(double real, double imaginary) {
  if constexpr (is_complex<T>)
    return T(static_cast<real_of<T>>(real), static_cast<real_of<T>>(imaginary));
  else
    return static_cast<T>(real);
}
// A type of half the precision, or the narrowest.
template <class T>
struct HalfOf {
  using type = float;
};
template <class R>
struct HalfOf<std::complex<R>> {
  using type = std::complex<float>;
};
template <class T>
using half_of = typename HalfOf<T>::type;

template <class T>
SXT_LANES double size(T v) {
  if constexpr (is_complex<T>)
    return hypot(re(v), im(v));
  else
    return fabs(re(v));
}

template <class T>
SXT_LANES bool is_finite(T v) {
  return re(v) - re(v) == 0 && im(v) - im(v) == 0;
}

}  // namespace sextant::plugin::hermitian_steps
