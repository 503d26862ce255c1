// SPDX-License-Identifier: BSD-3-Clause
// The long ways of reading a number, and what to say when it is none.
#include "core/io/mm_number.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace sextant::io::detail {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// As from_chars wants it: no plus sign, Fortran's D exponent as e, Fortran's bare three-digit exponent (1.5-100) with
// its e put back.
std::string plain_spelling(std::string_view token) {
  std::string out(token.substr(token.size() > 1 && token[0] == '+' && token[1] != '-' && token[1] != '+' ? 1 : 0));
  const std::size_t letter = out.find_first_of("dD");
  if (letter != std::string::npos && letter > 0) out[letter] = 'e';
  const std::size_t point = out.find('.'), sign = out.find_last_of("+-");
  if (point != std::string::npos && sign != std::string::npos && sign > point &&
      (is_digit(out[sign - 1]) || out[sign - 1] == '.'))
    out.insert(sign, 1, 'e');
  return out;
}

// A number that from_chars found out of range: too large, or so small that it is zero? Its decimal exponent tells.
bool is_too_large(const std::string &number) {
  const std::size_t letter = std::min(number.find_first_of("eE"), number.size());
  const std::size_t first = number.find_first_of("123456789");
  if (first >= letter) return false;
  const std::size_t point = std::min(number.find('.'), letter);
  // Clamped: no file is long enough to bring an exponent of a billion back.
  long long exponent = 0;
  if (letter < number.size()) {
    const char *begin = number.data() + letter + 1;
    const bool negative = *begin == '-';
    const auto result = std::from_chars(begin + (*begin == '+'), number.data() + number.size(), exponent);
    if (result.ec == std::errc::result_out_of_range) exponent = negative ? -1000000000 : 1000000000;
  }
  return exponent + static_cast<long long>(point) - static_cast<long long>(first) > 0;
}

template <class R>
const char *type_text() {
  return std::numeric_limits<R>::digits > 24 ? "64-bit" : "32-bit";
}

}  // namespace

void fault_at(const LinePlace &place, sxt_status status, std::string message) {
  throw Fault{status, place.block.offset + static_cast<std::uint64_t>(place.line - place.block.begin),
              std::move(message)};
}

const char *read_index_slowly(const LinePlace &place, const char *at, const char *what, std::int64_t limit,
                              std::int64_t &index) {
  const std::string_view token = token_at(at);
  if (token.empty()) fault_at(place, SXT_E_FILE_FORMAT, text("the line ends before its ", what, " index"));
  const char *begin = at + (token[0] == '+' && token.size() > 1 && is_digit(token[1])), *end = at + token.size();
  const auto [stop, error] = std::from_chars(begin, end, index);
  if (error == std::errc::result_out_of_range)
    fault_at(place, SXT_E_INDEX, text("the ", what, " index ", quoted(token), " does not fit 64 bits"));
  if (error != std::errc() || stop != end)
    fault_at(place, SXT_E_FILE_FORMAT, text("the ", what, " index ", quoted(token), " is not an integer"));
  if (index < 1 || index > limit)
    fault_at(place, SXT_E_INDEX,
             text("the ", what, " index ", index, " is outside 1..", limit,
                  index == 0 ? "; indices in Matrix Market files start at 1" : ""));
  return end;
}

template <class R>
const char *read_real_slowly(const LinePlace &place, const char *at, bool check_finite, R &value) {
  const std::string_view token = token_at(at);
  if (token.empty()) fault_at(place, SXT_E_FILE_FORMAT, "the line ends before its value");
  const std::string number = plain_spelling(token);
  const char *end = number.data() + number.size();
  const auto [stop, error] = std::from_chars(number.data(), end, value);
  if (stop != end || error == std::errc::invalid_argument)
    fault_at(place, SXT_E_FILE_FORMAT, text("the value ", quoted(token), " is not a number"));
  if (error == std::errc::result_out_of_range) {
    const R size = is_too_large(number) ? std::numeric_limits<R>::infinity() : R(0);
    value = number[0] == '-' ? -size : size;
    if (check_finite && !std::isfinite(value))
      fault_at(place, SXT_E_NOT_FINITE,
               text("the value ", quoted(token), " is too large for a ", type_text<R>(), " number"));
  }
  if (check_finite && !std::isfinite(value))
    fault_at(place, SXT_E_NOT_FINITE, text("the value ", quoted(token), " is not finite"));
  return at + token.size();
}

template const char *read_real_slowly(const LinePlace &, const char *, bool, float &);
template const char *read_real_slowly(const LinePlace &, const char *, bool, double &);

void fault_not_integer(const LinePlace &place, std::string_view token, bool nonnegative) {
  fault_at(place, SXT_E_FILE_FORMAT,
           text("the value ", quoted(token), " is not ", nonnegative ? "a nonnegative" : "an",
                " integer, which the banner promises"));
}

}  // namespace sextant::io::detail
