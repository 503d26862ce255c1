// SPDX-License-Identifier: BSD-3-Clause
// Restates the places of a sentence. No regular expressions: when memory is short they throw exceptions that are not an
// Error.
#include "abi/places.hpp"

#include <array>
#include <cstddef>
#include <string_view>

namespace sextant::abi {

namespace {

constexpr std::string_view from_zero = "(counting from 0)";
constexpr std::array<std::string_view, 6> words = {"row ", "column ", "value ", "vector ", "place ", "["};

bool digit(char c) { return c >= '0' && c <= '9'; }

// Where the number that begins at `at` ends; `at` itself when there is none.
std::size_t number_end(std::string_view text, std::size_t at) {
  while (at < text.size() && digit(text[at])) ++at;
  return at;
}

// Whether a place is announced where a number begins: by "row " in "row 17".
bool announced(std::string_view before) {
  for (const std::string_view word : words)
    if (before.size() >= word.size() && before.substr(before.size() - word.size()) == word) return true;
  return false;
}

std::string moved(std::string_view number, int base) { return std::to_string(std::stoll(std::string(number)) + base); }

// "(3, 4)" at `at`: where it ends, and its two numbers; 0 when there is no such pair.
std::size_t pair_end(std::string_view text, std::size_t at, std::string_view &first, std::string_view &second) {
  const std::size_t begin = at + 1, middle = number_end(text, begin);
  if (text[at] != '(' || middle == begin || text.substr(middle, 2) != ", ") return 0;
  const std::size_t end = number_end(text, middle + 2);
  if (end == middle + 2 || end >= text.size() || text[end] != ')') return 0;
  first = text.substr(begin, middle - begin);
  second = text.substr(middle + 2, end - middle - 2);
  return end + 1;
}

}  // namespace

std::string restated(const std::string &sentence, int base) {
  const std::string_view text = sentence;
  if (base == 0 || text.find(from_zero) == std::string_view::npos) return sentence;
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    std::string_view first, second;
    if (text.substr(at, from_zero.size()) == from_zero) {
      out += "(counting from " + std::to_string(base) + ")";
      at += from_zero.size();
    } else if (const std::size_t end = pair_end(text, at, first, second)) {
      out += "(" + moved(first, base) + ", " + moved(second, base) + ")";
      at = end;
    } else if (digit(text[at]) && announced(text.substr(0, at))) {
      const std::size_t stop = number_end(text, at);
      const std::string_view number = text.substr(at, stop - at);
      const bool whole = stop == text.size() || (text[stop] != '.' && text[stop] != 'e');  // "value 0.5" is no place
      out += whole ? moved(number, base) : std::string(number);
      at = stop;
    } else {
      out += text[at++];
    }
  }
  return out;
}

}  // namespace sextant::abi
