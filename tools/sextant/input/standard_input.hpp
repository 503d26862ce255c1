// SPDX-License-Identifier: BSD-3-Clause
// A matrix or vector on standard input, which the library reads from a file.
#pragma once

#include <string>

namespace tool {

// How the command line names it.
inline constexpr const char *standard_input = "-";
bool is_standard_input(const std::string &path);
// The path of a file with these bytes, in memory, as long as the process lives; any other path is returned as it is.
// Standard input is read once, and has the same bytes each time. Throws a ToolError.
std::string readable_path(const std::string &path);
// A sentence with "standard input" in the place of that file.
std::string naming_standard_input(std::string sentence);

}  // namespace tool
