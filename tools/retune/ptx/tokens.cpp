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
    const std::size_t end = text_.find_first_of("\"\n", at_ + 1);
    at_ = end == std::string_view::npos ? text_.size() : end + 1;
    if (text_[at_ - 1] == '\n') ++line_;
  } else if (word_character(text_[at_]) || begins_number(text_, at_)) {
    if (text_[at_] == '-') ++at_;
    // "::" belongs to words such as .shared::cta; a single colon ends a label.
    while (at_ < text_.size() && (word_character(text_[at_]) || text_.compare(at_, 2, "::") == 0))
      at_ += text_[at_] == ':' ? 2 : 1;
  } else {
    ++at_;
  }
  return {text_.substr(begin, at_ - begin), line};
}

}  // namespace sextant::retune::ptx
