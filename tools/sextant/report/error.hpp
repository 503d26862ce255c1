// SPDX-License-Identifier: BSD-3-Clause
// Errors of the command and their exit codes. Statuses of the library become one exception type, which main turns into
// a sentence on stderr and an exit code.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

#include "sextant/sextant.h"

namespace tool {

enum Exit : int {
  exit_done = 0,
  exit_internal = 1,    // a defect of ours
  exit_usage = 2,       // wrong arguments, unknown names
  exit_bad_input = 3,   // files that cannot be read, understood or written
  exit_not_solved = 4,  // not converged, or not solvable
  exit_device = 5,      // the device failed, is not there, or has no memory left
  exit_refused = 6,     // a plugin was refused
};

class ToolError : public std::runtime_error {
 public:
  ToolError(int exit_code, const std::string &sentence, sxt_status status = SXT_OK)
      : std::runtime_error(sentence), exit_code_(exit_code), status_(status) {}
  int exit_code() const { return exit_code_; }
  // The library's status, SXT_OK when the error is the command's own.
  sxt_status status() const { return status_; }

 private:
  int exit_code_;
  sxt_status status_;
};

template <typename... Args>
[[noreturn]] void fail(int exit_code, fmt::format_string<Args...> format, Args &&...args) {
  throw ToolError(exit_code, fmt::format(format, std::forward<Args>(args)...));
}

// The exit code for a status of the library.
int exit_code_of(sxt_status status);

// A sentence of the library with the options of this command in the place of the library's own.
std::string in_options(std::string sentence);

// Throws a ToolError with the library's sentence when the status is a failure. context may be null: the sentence of the
// calling thread's last failure on any context.
void check(sxt_status status, const sxt_context *context);

}  // namespace tool
