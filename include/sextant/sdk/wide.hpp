// SPDX-License-Identifier: BSD-3-Clause
// Sums in extended precision, rounded once, as reference kernels give them. Header-only, no part of the ABI.
#pragma once

#include <complex>
#include <cstdint>

#include "sextant/sdk/kernel.hpp"

namespace sextant::plugin {

using Long = std::complex<long double>;

// A wider number as a T; a real T takes the real part.
template <class T, class R>
T narrow(std::complex<R> value) {
  if constexpr (is_complex<T>)
    return T(static_cast<real_of<T>>(value.real()), static_cast<real_of<T>>(value.imag()));
  else
    return static_cast<T>(value.real());
}

// u' v
template <class T>
T wide_dot(const T *u, const T *v, std::int64_t n) {
  Long total = 0;
  for (std::int64_t i = 0; i < n; ++i) total += product(std::conj(Long(u[i])), Long(v[i]));
  return narrow<T>(total);
}

}  // namespace sextant::plugin
