// SPDX-License-Identifier: BSD-3-Clause
// Value types for files compiled once an instruction set (sdk/cpu/simd.hpp): complex numbers with the memory layout of
// std::complex and the few operations that kernels need. Everything lies in the namespace of the instruction set, so
// that the linker never takes one set's code for another's. Includes no C++ standard header.
#pragma once

#ifndef SXT_ISA
#error "sdk/cpu/isa_values.hpp is for ISA_SOURCES"
#endif
#include <stdint.h>

#define SXT_ALWAYS_INLINE static inline __attribute__((always_inline))

namespace sextant::plugin::SXT_ISA {

template <class R>
struct Complex {
  R re, im;
};

template <class T>
inline constexpr bool is_pair = false;
template <class R>
inline constexpr bool is_pair<Complex<R>> = true;

// Two (real and imaginary) doubles, as args carry scalars to ISA code, as a number of type V.
template <class V>
SXT_ALWAYS_INLINE V from_parts(const double *parts) {
  if constexpr (is_pair<V>)
    return {static_cast<decltype(V::re)>(parts[0]), static_cast<decltype(V::re)>(parts[1])};
  else
    return static_cast<V>(parts[0]);
}
template <class V>
SXT_ALWAYS_INLINE bool is_zero(V a) {
  if constexpr (is_pair<V>)
    return a.re == 0 && a.im == 0;
  else
    return a == 0;
}

// sum + a x; a may be of half the precision and is conjugated on demand.
template <bool conjugated, class V, class M>
SXT_ALWAYS_INLINE V multiply_add(V sum, M a, V x) {
  if constexpr (is_pair<V>) {
    using R = decltype(V::re);
    const R re = a.re, im = conjugated ? -static_cast<R>(a.im) : static_cast<R>(a.im);
    return {sum.re + re * x.re - im * x.im, sum.im + re * x.im + im * x.re};
  } else {
    return sum + static_cast<V>(a) * x;
  }
}
template <class V>
SXT_ALWAYS_INLINE V times(V a, V b) {
  return multiply_add<false>(V{}, a, b);
}

// The table's types in this order: f64, f32, f32 under f64, c128, c64, c64 under c128. See plugins/formats/dia.hpp of the sources.
#define SXT_FOR_TYPE_PAIRS(X)                                                                            \
  X(double, double)                                                                                      \
  X(float, float) X(double, float) X(Complex<double>, Complex<double>) X(Complex<float>, Complex<float>) \
      X(Complex<double>, Complex<float>)

}  // namespace sextant::plugin::SXT_ISA
