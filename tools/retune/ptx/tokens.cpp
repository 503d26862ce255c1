// SPDX-License-Identifier: BSD-3-Clause
#include "ptx/tokens.hpp"

#include <algorithm>

namespace sextant::retune::ptx {

namespace {

bool begins_number(std::string_view text, std::size_t at) {
  return text[at] == '-' && at + 1 < text.size() && text[at + 1] >= '0' && text[at + 1] <= '9';
}

}  // namespace

void Tokens::skip_blanks() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '\n') {
      ++line_, ++at_;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
      ++at_;
    } else if (text_.compare(at_, 2, "//") == 0) {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (text_.compare(at_, 2, "/*") == 0) {
      const std::size_t end = std::min(text_.find("*/", at_ + 2), text_.size());
      line_ += static_cast<std::size_t>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                                                   text_.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
      at_ = std::min(end + 2, text_.size());
    } else {
      return;
    }
  }
}

Token Tokens::next() {
  skip_blanks();
  const std::size_t begin = at_;
  if (begin >= text_.size()) return {{}, line_};
  const std::size_t line = line_;
  if (text_[at_] == '"') {
    // It may take several lines, and knows no escapes, as ptxas reads it.
    const std::size_t end = text_.find('"', at_ + 1);
    at_ = end == std::string_view::npos ? text_.size() : end + 1;
    line_ += static_cast<std::size_t>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(begin),
                                                 text_.begin() + static_cast<std::ptrdiff_t>(at_), '\n'));
  } else if (word_character(text_[at_]) || begins_number(text_, at_)) {
    if (text_[at_] == '-') ++at_;
    // "::" belongs to words such as .shared::cta; a single colon ends a label, and % begins a word of its own.
    if (text_[at_] == '%') ++at_;
    while (at_ < text_.size() &&
           ((word_character(text_[at_]) && text_[at_] != '%') || text_.compare(at_, 2, "::") == 0))
      at_ += text_[at_] == ':' ? 2 : 1;
  } else {
    ++at_;
  }
  return {text_.substr(begin, at_ - begin), line};
}

namespace {

// Whether all are digits of the base, and there is one.
bool digits(std::string_view text, int base) {
  if (text.empty()) return false;
  return std::all_of(text.begin(), text.end(), [base](char c) {
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : 99;
    return digit < base;
  });
}

}  // namespace

bool is_integer(std::string_view text) {
  if (!text.empty() && text[0] == '-') text.remove_prefix(1);
  if (!text.empty() && text.back() == 'U') text.remove_suffix(1);
  if (text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) return digits(text.substr(2), 16);
  if (text.size() > 2 && text[0] == '0' && (text[1] == 'b' || text[1] == 'B')) return digits(text.substr(2), 2);
  return digits(text, 10);
}

bool is_number(std::string_view text) {
  if (is_integer(text)) return true;
  if (!text.empty() && text[0] == '-') text.remove_prefix(1);
  if (text.size() > 2 && text[0] == '0' && (text[1] == 'f' || text[1] == 'F' || text[1] == 'd' || text[1] == 'D'))
    return digits(text.substr(2), 16);
  const std::size_t dot = text.find('.');
  return dot != std::string_view::npos && digits(text.substr(0, dot), 10) && digits(text.substr(dot + 1), 10);
}

}  // namespace sextant::retune::ptx
