// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

namespace sextant {

// A string that lives as long as the process, one copy for each text.
const char *intern(std::string_view text);

}  // namespace sextant
