// SPDX-License-Identifier: BSD-3-Clause
// Quantities for people.
#pragma once

#include <string>

namespace sextant {

std::string seconds_text(double seconds);  // "12.3 us"
std::string bytes_text(double bytes);      // "4.2 MiB"

}  // namespace sextant
