// SPDX-License-Identifier: BSD-3-Clause
// Lines that are written while a lock of the whole process is held: a caller's log callback may call the library.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/base/log.hpp"

namespace sextant {

// Keeps what is told to sink() and tells it to the true one when it ends. Made before the lock is taken, so that it
// ends after it was given back. One thread at a time.
class LateLog {
 public:
  explicit LateLog(const LogSink &log) : log_(log), sink_{log.callback ? keep : nullptr, this, log.level} {}
  ~LateLog() {
    for (const auto &[level, line] : lines_) log_(level, line);
  }
  LateLog(const LateLog &) = delete;
  LateLog &operator=(const LateLog &) = delete;
  const LogSink &sink() const noexcept { return sink_; }

 private:
  static void keep(void *self, sxt_log_level level, const char *message) noexcept try {
    static_cast<LateLog *>(self)->lines_.emplace_back(level, message);
  } catch (...) {  // a line for which there is no memory is not worth a failure
  }

  const LogSink log_;
  const LogSink sink_;
  std::vector<std::pair<sxt_log_level, std::string>> lines_;
};

}  // namespace sextant
