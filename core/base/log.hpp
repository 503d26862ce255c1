// SPDX-License-Identifier: BSD-3-Clause
// Where messages go: the caller's callback, or nowhere.
#pragma once

#include <string>

#include "sextant/types.h"

namespace sextant {

struct LogSink {
  void (*callback)(void *user, sxt_log_level level, const char *message) = nullptr;
  void *user = nullptr;
  sxt_log_level level = SXT_LOG_WARNING;

  bool wants(sxt_log_level at) const noexcept { return callback != nullptr && at <= level; }
  void operator()(sxt_log_level at, const std::string &message) const {
    if (wants(at)) callback(user, at, message.c_str());
  }
};

}  // namespace sextant
