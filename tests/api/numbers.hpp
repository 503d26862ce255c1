// SPDX-License-Identifier: BSD-3-Clause
// Numbers of the library's types for tests that are templates of them.
#pragma once

#include <cmath>
#include <complex>
#include <type_traits>

#include "sextant/types.h"

namespace api_test {

using LongComplex = std::complex<long double>;

template <class T>
constexpr bool complex_v = !std::is_floating_point_v<T>;
template <class T>
using Real = decltype(std::abs(T{}));
template <class T>
constexpr sxt_value_type code() {
  return std::is_same_v<Real<T>, float> ? (complex_v<T> ? SXT_C64 : SXT_F32) : (complex_v<T> ? SXT_C128 : SXT_F64);
}

}  // namespace api_test
