// SPDX-License-Identifier: BSD-3-Clause
// Numbers of a data line. The short ways are inline; signs, Fortran exponents, overflow and errors take the long way.
// Every line ends in '\n' or '\r', so that no loop over a token needs to look for the end of the block.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>

#include "core/io/mm_header.hpp"

namespace sextant::io::detail {

// Where a line stands, for messages.
struct LinePlace {
  const Block &block;
  const char *line;
};

[[noreturn, gnu::cold]] void fault_at(const LinePlace &place, sxt_status status, std::string message);

inline std::string_view token_at(const char *at) {
  const char *end = at;
  while (!is_blank(*end) && !is_line_end(*end)) ++end;
  return {at, static_cast<std::size_t>(end - at)};
}

inline const char *skip_blanks(const char *at) {
  while (is_blank(*at)) ++at;
  return at;
}

// `what` is "row" or "column"; limit the number of them. Returns the character after the number.
[[gnu::cold]] const char *read_index_slowly(const LinePlace &place, const char *at, const char *what,
                                            std::int64_t limit, std::int64_t &index);

inline const char *read_index(const LinePlace &place, const char *at, const char *what, std::int64_t limit,
                              std::int64_t &index) {
  std::uint64_t value = 0;
  const char *end = at;
  for (unsigned digit; (digit = static_cast<unsigned char>(*end) - unsigned{'0'}) <= 9; ++end)
    value = value * 10 + digit;
  const bool plain = end > at && end - at <= 18 && (is_blank(*end) || is_line_end(*end));
  if (!plain || value - 1 >= static_cast<std::uint64_t>(limit)) [[unlikely]]
    return read_index_slowly(place, at, what, limit, index);
  index = static_cast<std::int64_t>(value);
  return end;
}

template <class R>
[[gnu::cold]] const char *read_real_slowly(const LinePlace &place, const char *at, bool check_finite, R &value);

// Short decimals (-12, 0.25): seven digits and their power of ten are exact even in 32 bits, so that one division
// rounds right (W. D. Clinger, "How to read floating point numbers accurately", 1990). Gives up early, with nullptr,
// because long numbers are read again from their start.
template <class R>
const char *read_short_decimal(const char *at, R &value) {
  constexpr std::ptrdiff_t kCharacters = 8;
  static constexpr R kPowers[] = {R(1e0), R(1e1), R(1e2), R(1e3), R(1e4), R(1e5), R(1e6), R(1e7)};
  const bool negative = *at == '-';
  const char *begin = at + negative, *end = begin, *point = nullptr;
  std::int32_t digits = 0;
  for (; end - begin < kCharacters; ++end) {
    const unsigned digit = static_cast<unsigned char>(*end) - unsigned{'0'};
    if (digit <= 9)
      digits = digits * 10 + static_cast<std::int32_t>(digit);
    else if (*end == '.' && !point && end != begin)
      point = end;
    else
      break;
  }
  const std::ptrdiff_t used = end - begin, fraction = point ? end - point - 1 : 0;
  if (used == 0 || used - (point != nullptr) > 7 || !(is_blank(*end) || is_line_end(*end))) return nullptr;
  const R size = static_cast<R>(digits) / kPowers[fraction];
  value = negative ? -size : size;
  return end;
}

template <class R>
const char *read_real(const LinePlace &place, const char *at, bool check_finite, R &value) {
  if (const char *end = read_short_decimal(at, value)) return end;
  const auto [end, error] = std::from_chars(at, place.block.end, value);
  const bool plain = error == std::errc() && (is_blank(*end) || is_line_end(*end)) && std::isfinite(value);
  if (!plain) [[unlikely]]
    return read_real_slowly(place, at, check_finite, value);
  return end;
}

// Values of integer files may be written as 3, 3.0 or 3e0, but not as 3.5.
[[gnu::cold]] void fault_not_integer(const LinePlace &place, std::string_view token, bool nonnegative);

template <class R>
void check_integer(const LinePlace &place, const char *at, bool nonnegative, R value) {
  // Small values, the usual ones, need no call of trunc.
  const bool small = std::abs(value) < R(1 << 23);
  const bool whole = small ? value == static_cast<R>(static_cast<std::int32_t>(value)) : value == std::trunc(value);
  if (!whole || (nonnegative && value < 0)) [[unlikely]]
    fault_not_integer(place, token_at(at), nonnegative);
}

}  // namespace sextant::io::detail
