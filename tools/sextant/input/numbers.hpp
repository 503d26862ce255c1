// SPDX-License-Identifier: BSD-3-Clause
// Checks of numbers on the command line. The parser's own let NaN through, and whole numbers that do not fit, and say
// their bounds in hundreds of digits.
#pragma once

#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "report/output.hpp"

namespace tool {

// Whether all of the text is a number that T holds.
template <class T>
bool reads(const std::string &text, T &value) {
  const char *begin = text.data(), *end = begin + text.size();
  if (text.size() > 1 && *begin == '+' && begin[1] != '-') ++begin;
  const auto [stop, error] = std::from_chars(begin, end, value);
  return error == std::errc() && stop == end;
}

// A finite number that passes `good`, told as "a positive number".
template <class Good>
CLI::Validator number_check(const std::string &what, const std::string &shown, Good good) {
  return CLI::Validator(
      [what, good](std::string &text) {
        double value = 0;
        return reads(text, value) && std::isfinite(value) && good(value) ? std::string()
                                                                         : fmt::format("{} is not {}", text, what);
      },
      shown);
}

inline CLI::Validator positive_number() {
  return number_check("a positive number", "POSITIVE", [](double value) { return value > 0; });
}
inline CLI::Validator number_from_zero() {
  return number_check("a number that is 0 or more", "NONNEGATIVE", [](double value) { return value >= 0; });
}
inline CLI::Validator number_within(double least, double most) {
  return number_check(fmt::format("a number in [{:g}, {:g}]", least, most),
                      fmt::format("in [{:g} - {:g}]", least, most),
                      [least, most](double value) { return value >= least && value <= most; });
}
// A whole number from `least` on that the option's type T holds.
template <class T = std::int64_t>
CLI::Validator whole_number_from(T least) {
  return CLI::Validator(
      [least](std::string &text) {
        T value = 0;
        if (reads(text, value) && value >= least) return std::string();
        return fmt::format("{} is not a whole number from {} to {}", text, least, std::numeric_limits<T>::max());
      },
      fmt::format(">= {}", least));
}

}  // namespace tool
