// SPDX-License-Identifier: BSD-3-Clause
// Errors inside the library are exceptions that carry a pinned status and one sentence saying what, where and what
// to do. The abi/ layer turns them into statuses; none crosses the C edge.
#pragma once

#include <exception>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>

#include "sextant/types.h"

namespace sextant {

class Error : public std::exception {
 public:
  Error(sxt_status status, std::string message) : status_(status), message_(std::move(message)) {}
  sxt_status status() const noexcept { return status_; }
  const char *what() const noexcept override { return message_.c_str(); }

 private:
  sxt_status status_;
  std::string message_;
};

namespace detail {
// A stream that is given NULL for a string is broken from then on.
template <class T>
void put(std::ostream &out, const T &part) {
  if constexpr (std::is_same_v<T, const char *> || std::is_same_v<T, char *>)
    out << (part ? part : "(none)");
  else
    out << part;
}
}  // namespace detail

// Joins its arguments as a stream would: text(3, " rows") == "3 rows". Doubles print with 17 significant digits
// only where asked; six are enough for a sentence. Throws std::bad_alloc where a stream would cut the text short.
template <class... Parts>
std::string text(const Parts &...parts) {
  std::ostringstream out;
  out.exceptions(std::ios_base::badbit);
  out.imbue(std::locale::classic());
  (detail::put(out, parts), ...);
  return std::move(out).str();
}

template <class... Parts>
[[noreturn]] void fail(sxt_status status, const Parts &...parts) {
  throw Error(status, text(parts...));
}

template <class... Parts>
void require(bool condition, sxt_status status, const Parts &...parts) {
  if (!condition) fail(status, parts...);
}

const char *status_name(sxt_status status) noexcept;      // "SXT_E_INDEX"; "SXT_UNKNOWN" for a foreign value
const char *status_sentence(sxt_status status) noexcept;  // never NULL
bool is_defined(sxt_status status) noexcept;              // one of the table
bool is_defined_reason(sxt_reason reason) noexcept;
const char *reason_name(sxt_reason reason) noexcept;  // "converged"
const char *reason_sentence(sxt_reason reason) noexcept;

}  // namespace sextant
