// SPDX-License-Identifier: BSD-3-Clause
#include "core/base/error.hpp"

namespace sextant {

const char *status_name(sxt_status status) noexcept {
  switch (status) {
#define SXT_X(name, value, sentence) \
  case value: return #name;
    SXT_STATUS_TABLE(SXT_X)
#undef SXT_X
    default: return "SXT_UNKNOWN";
  }
}

const char *status_sentence(sxt_status status) noexcept {
  switch (status) {
#define SXT_X(name, value, sentence) \
  case value: return sentence;
    SXT_STATUS_TABLE(SXT_X)
#undef SXT_X
    default: return "a status this library does not define";
  }
}

bool is_defined(sxt_status status) noexcept {
  switch (status) {
#define SXT_X(name, value, sentence) case value:
    SXT_STATUS_TABLE(SXT_X)
#undef SXT_X
    return true;
    default: return false;
  }
}

bool is_defined_reason(sxt_reason reason) noexcept {
  switch (reason) {
#define SXT_X(name, value, sentence, text) case value:
    SXT_REASON_TABLE(SXT_X)
#undef SXT_X
    return true;
    default: return false;
  }
}

const char *reason_name(sxt_reason reason) noexcept {
  switch (reason) {
#define SXT_X(name, value, sentence, text) \
  case value: return text;
    SXT_REASON_TABLE(SXT_X)
#undef SXT_X
    default: return "unknown";
  }
}

const char *reason_sentence(sxt_reason reason) noexcept {
  switch (reason) {
#define SXT_X(name, value, sentence, text) \
  case value: return sentence;
    SXT_REASON_TABLE(SXT_X)
#undef SXT_X
    default: return "a reason this library does not define";
  }
}

}  // namespace sextant
