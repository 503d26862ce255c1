// SPDX-License-Identifier: BSD-3-Clause
// The (vector, matrix) value types that kernels compiled once an instruction set offer, numbered as their tables are.
#pragma once

#include "sextant/sdk/kernel.hpp"

namespace sextant::plugin {

// f64, f32, f32 under f64, c128, c64, c64 under c128.
inline constexpr int type_pairs = 6;

// The place of a pair in a table; -1: not offered.
inline int type_pair(sxt_value_type vectors, sxt_value_type matrix) {
  if (vectors == SXT_F64) return matrix == SXT_F64 ? 0 : matrix == SXT_F32 ? 2 : -1;
  if (vectors == SXT_C128) return matrix == SXT_C128 ? 3 : matrix == SXT_C64 ? 5 : -1;
  if (vectors != matrix) return -1;
  return vectors == SXT_F32 ? 1 : vectors == SXT_C64 ? 4 : -1;
}

// A scalar of host memory as (real, imaginary) doubles, which every value type fits; absent means `otherwise`.
inline void scalar_parts(const sxt_scalar &s, sxt_value_type type, double otherwise, double (&parts)[2]) {
  with_value_type(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const std::complex<double> value(scalar(s, T(static_cast<real_of<T>>(otherwise))));
    parts[0] = value.real();
    parts[1] = value.imag();
    return SXT_OK;
  });
}

}  // namespace sextant::plugin
