// SPDX-License-Identifier: BSD-3-Clause
// The whole log of the library in a file, whatever --log shows.
#pragma once

#include <string>

namespace tool {

// Contexts that are opened later write every line of their log to the end of this file, each at once.
void keep_log(const std::string &path);

}  // namespace tool
