// SPDX-License-Identifier: BSD-3-Clause
// Words for a shell.
#pragma once

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>

namespace tool {

// One word of a command line, whatever is in it: in quotes.
inline std::string quoted(const std::string &text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

// The same in quotes where it needs them alone.
inline std::string shell_word(const std::string &text) {
  const bool plain = !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) || std::string_view("._,/:+-=@%").find(static_cast<char>(c)) != std::string_view::npos;
  });
  return plain ? text : quoted(text);
}

}  // namespace tool
