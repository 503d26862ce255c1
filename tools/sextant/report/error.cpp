// SPDX-License-Identifier: BSD-3-Clause
// Maps the library's statuses to exit codes and sentences.
#include "report/error.hpp"

#include <array>
#include <string_view>

namespace tool {

int exit_code_of(sxt_status status) {
  switch (status) {
    case SXT_OK: return exit_done;
    // A name or number that the user typed on the command line.
    case SXT_E_ARGUMENT:
    case SXT_E_UNKNOWN_NAME: return exit_usage;
    case SXT_E_FILE_READ:
    case SXT_E_FILE_FORMAT:
    case SXT_E_FILE_WRITE:
    case SXT_E_INDEX:
    case SXT_E_DUPLICATE:
    case SXT_E_NOT_FINITE:
    case SXT_E_OVERFLOW:
    case SXT_E_DIMENSION:
    case SXT_E_TYPE:
    case SXT_E_PLAN: return exit_bad_input;
    // The input is well formed, but this problem has no answer here.
    case SXT_NOT_CONVERGED:
    case SXT_NOT_APPLICABLE:
    case SXT_E_NOT_SQUARE:
    case SXT_E_NOT_SYMMETRIC:
    case SXT_E_DIAGONAL:
    case SXT_E_NOT_POSITIVE_DEFINITE:
    case SXT_E_NO_KERNEL:
    case SXT_E_NOT_SUPPORTED: return exit_not_solved;
    case SXT_E_DEVICE:
    case SXT_E_MEMORY: return exit_device;
    case SXT_E_PLUGIN: return exit_refused;
    default: return exit_internal;
  }
}

std::string in_options(std::string sentence) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 10> words = {{
      {"options->null_space and null_space_size", "--null-space constant"},
      {"options->most_rows_per_byte", "--rows-per-byte"},
      {"most_rows_per_byte", "--rows-per-byte"},
      {"options->preconditioner", "--precond"},
      {"options->recurrence", "--recurrence"},
      {"options->engine", "--engine"},
      {"options->format", "--format"},
      {"options->device", "--device"},
      {"symmetry_tolerance", "--symmetry-tolerance"},
      {"; NULL leaves it to the library", "; without the option the library chooses"},
  }};
  for (const auto &[theirs, ours] : words)
    if (const std::size_t at = sentence.find(theirs); at != std::string::npos)
      sentence.replace(at, theirs.size(), ours);
  return sentence;
}

void check(sxt_status status, const sxt_context *context) {
  if (status == SXT_OK) return;
  std::string sentence = sxt_last_error(context);
  if (sentence.empty()) sentence = sxt_status_sentence(status);
  throw ToolError(exit_code_of(status), in_options(sentence), status);
}

}  // namespace tool
