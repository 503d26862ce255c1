// SPDX-License-Identifier: BSD-3-Clause
// Small files read and written whole.
#pragma once

#include <string>
#include <string_view>

namespace sextant {

std::string read_file(const std::string &path);  // SXT_E_FILE_READ with the system's reason
// Writes beside the target, flushes, renames: readers see the old file or the new one. SXT_E_FILE_WRITE names path and
// reason.
void write_file_atomically(const std::string &path, std::string_view content);

}  // namespace sextant
