// SPDX-License-Identifier: BSD-3-Clause
// The simplest TOML, read in a fraction of the time that a whole parser takes: a list of tables with one key a line.
#pragma once

#include <optional>
#include <string_view>

#include "core/base/toml.hpp"

namespace sextant {

// Text that begins as any TOML and goes on with tables [[list]] alone, each key with its value on one line: a number, a
// plain string, an array of these, or an inline table of all that, as this library writes its profiles. Nothing for any
// other text, right or wrong: toml++ then reads it, and says what is wrong. Nodes do not know their lines.
std::optional<toml::table> toml_of_lines(std::string_view text, std::string_view list);

}  // namespace sextant
