// SPDX-License-Identifier: BSD-3-Clause
// Failures as exceptions: a status of the C interface that is not SXT_OK becomes a sextant::error with the library's
// own sentence. Part of sextant/sextant.hpp.
#ifndef SEXTANT_CPP_ERRORS_HPP
#define SEXTANT_CPP_ERRORS_HPP

#include <locale>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

#include "sextant/sextant.h"

namespace sextant {
// The inline namespace keeps these names apart from the library's own where both are linked into one program.
inline namespace cpp {

/// A call failed. what() says what, where and what to do; status() is one of SXT_STATUS_TABLE. Sizes and types that
/// this interface checks by itself fail alike, with SXT_E_DIMENSION, SXT_E_TYPE and SXT_E_ARGUMENT.
class error : public std::runtime_error {
 public:
  /// An error of this status with a sentence for the user.
  error(sxt_status status, const std::string &sentence) : std::runtime_error(sentence), status_(status) {}
  /// The status that the C interface returned.
  sxt_status status() const noexcept { return status_; }
  /// The status by its name: "SXT_E_INDEX".
  std::string_view name() const noexcept { return sxt_status_name(status_); }

 private:
  sxt_status status_;
};

/// "SXT_E_INDEX"; static.
inline std::string_view status_name(sxt_status status) noexcept { return sxt_status_name(status); }
/// The status in words; static.
inline std::string_view status_sentence(sxt_status status) noexcept { return sxt_status_sentence(status); }
/// "stagnated"; static.
inline std::string_view reason_name(sxt_reason reason) noexcept { return sxt_reason_name(reason); }
/// The reason in words; static.
inline std::string_view reason_sentence(sxt_reason reason) noexcept { return sxt_reason_sentence(reason); }

/// The sentence of the calling thread's last failed call of the library; empty when none failed. The exception of that
/// call says the same.
inline std::string last_error() { return sxt_last_error(nullptr); }

namespace detail {

// The text that a getter of the C interface fills in.
template <class Fill>
std::string text_of(Fill fill) {
  std::string text(512, '\0');
  std::int64_t length = 0;
  for (;;) {
    fill(text.data(), static_cast<std::int64_t>(text.size()), &length);
    const bool whole = length < static_cast<std::int64_t>(text.size());
    text.resize(static_cast<std::size_t>(whole ? length : length + 1));
    if (whole) return text;
  }
}

// To be called right behind the call that it is about, in the same thread.
inline void check(sxt_status status) {
  if (status == SXT_OK) return;
  throw error(status, text_of([](char *buffer, std::int64_t capacity, std::int64_t *length) {
                sxt_last_error_copy(nullptr, buffer, capacity, length);
              }));
}

// Words and numbers as a sentence, alike under every global locale.
template <class... Parts>
std::string sentence_of(const Parts &...parts) {
  std::ostringstream sentence;
  sentence.imbue(std::locale::classic());
  (sentence << ... << parts);
  return sentence.str();
}

template <class... Parts>
void require(bool holds, sxt_status status, const Parts &...parts) {
  if (!holds) throw error(status, sentence_of(parts...));
}

// A text that may fail: explanations and descriptions.
template <class Fill>
std::string checked_text(Fill fill) {
  return text_of(
      [&](char *buffer, std::int64_t capacity, std::int64_t *length) { check(fill(buffer, capacity, length)); });
}

}  // namespace detail
}  // namespace cpp
}  // namespace sextant
#endif
