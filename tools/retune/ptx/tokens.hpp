// SPDX-License-Identifier: BSD-3-Clause
// PTX text as tokens: words (names, numbers and dotted opcodes are one word each) and single punctuation marks.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sextant::retune::ptx {

struct Token {
  std::string_view text;  // empty: the end
  std::size_t line = 0;   // counts from 1
};

// Reads tokens of a text that outlives it. Comments are skipped; a string is one token with its quotes.
class Tokens {
 public:
  explicit Tokens(std::string_view text, std::size_t first_line = 1) : text_(text), line_(first_line) {}
  Token next();
  // Where the next token begins, and the line there: enough to begin again.
  std::size_t at() const { return at_; }
  std::size_t line() const { return line_; }

 private:
  void skip_blanks();
  std::string_view text_;
  std::size_t at_ = 0, line_;
};

inline bool word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
         c == '%' || c == '.';
}

// A whole number as ptxas reads one (12, -3, 0x1F, 0b101, 1U), or a floating-point number; and nothing behind it.
bool is_integer(std::string_view text);
bool is_number(std::string_view text);

}  // namespace sextant::retune::ptx
