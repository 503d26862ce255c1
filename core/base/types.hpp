// SPDX-License-Identifier: BSD-3-Clause
// From run-time type codes to C++ types and back.
#pragma once

#include <complex>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "core/base/error.hpp"

namespace sextant {

// Sizes above this would overflow byte counts long before memory ran out.
inline constexpr std::int64_t kLargestSize = std::int64_t{1} << 58;

using c64 = std::complex<float>;
using c128 = std::complex<double>;

template <class T>
inline constexpr sxt_value_type value_type_of = std::is_same_v<T, float>    ? SXT_F32
                                                : std::is_same_v<T, double> ? SXT_F64
                                                : std::is_same_v<T, c64>    ? SXT_C64
                                                                            : SXT_C128;
template <class I>
inline constexpr sxt_index_type index_type_of = std::is_same_v<I, std::int32_t> ? SXT_I32 : SXT_I64;

template <class T>
inline constexpr bool is_complex = std::is_same_v<T, c64> || std::is_same_v<T, c128>;

inline std::int64_t value_bytes(sxt_value_type type) noexcept {
  return type == SXT_F32 ? 4 : type == SXT_C128 ? 16 : 8;
}
inline std::int64_t index_bytes(sxt_index_type type) noexcept { return type == SXT_I32 ? 4 : 8; }

// f32 and c64, whose numbers have single precision.
constexpr bool is_single(sxt_value_type type) noexcept { return type == SXT_F32 || type == SXT_C64; }
// Of the real type: the distance of 1 to the next number.
constexpr double epsilon(sxt_value_type type) noexcept {
  return is_single(type) ? double{std::numeric_limits<float>::epsilon()} : std::numeric_limits<double>::epsilon();
}

inline const char *value_name(sxt_value_type type) noexcept {
  switch (type) {
#define SXT_X(name, value, text, bytes) \
  case value: return text;
    SXT_VALUE_TABLE(SXT_X)
#undef SXT_X
    default: return "unknown";
  }
}
inline const char *index_name(sxt_index_type type) noexcept { return type == SXT_I32 ? "i32" : "i64"; }

template <class T>
struct Tag {
  using type = T;
};

// Calls f(Tag<T>{}) with the C++ type of a value code.
template <class F>
decltype(auto) with_value_type(sxt_value_type type, F &&f) {
  switch (type) {
    case SXT_F32: return f(Tag<float>{});
    case SXT_F64: return f(Tag<double>{});
    case SXT_C64: return f(Tag<c64>{});
    case SXT_C128: return f(Tag<c128>{});
    default: fail(SXT_E_TYPE, "value type ", type, " is not one of f32 (1), f64 (2), c64 (3), c128 (4)");
  }
}

template <class F>
decltype(auto) with_index_type(sxt_index_type type, F &&f) {
  switch (type) {
    case SXT_I32: return f(Tag<std::int32_t>{});
    case SXT_I64: return f(Tag<std::int64_t>{});
    default: fail(SXT_E_TYPE, "index type ", type, " is not one of i32 (1), i64 (2)");
  }
}

}  // namespace sextant
