// SPDX-License-Identifier: BSD-3-Clause
// TOML files (toml++): reading with our errors, and writing files so that a full disk or a crash loses nothing.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <toml++/toml.h>

namespace sextant {

// Plain or compressed by gzip. SXT_E_FILE_READ, SXT_E_FILE_FORMAT with "path:line: what".
toml::table read_toml(const std::string &path);
// A text that was read from that path.
toml::table parse_toml(const std::string &content, const std::string &path);
// The same table, but without places in the text, several times as fast; nothing where the text has more of TOML than
// what the library writes, or an error.
std::optional<toml::table> parse_plain_toml(std::string_view content);

}  // namespace sextant
