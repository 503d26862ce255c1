// SPDX-License-Identifier: BSD-3-Clause
#include "report/embedded.hpp"

#include <algorithm>

#include "report/error.hpp"

namespace tool {
namespace {

// The end of NAME where text[at] begins @NAME@, else npos.
std::size_t end_of_name(std::string_view text, std::size_t at) {
  std::size_t end = at + 1;
  while (end < text.size() && ((text[end] >= 'A' && text[end] <= 'Z') || text[end] == '_')) ++end;
  return end > at + 1 && end < text.size() && text[end] == '@' ? end : std::string_view::npos;
}

}  // namespace

std::string_view embedded(std::string_view name) {
  const auto &files = embedded_files();
  const auto found = std::find_if(files.begin(), files.end(), [&](const EmbeddedFile &f) { return f.name == name; });
  if (found == files.end()) fail(exit_internal, "internal error: {} was not built into the command", name);
  return found->text;
}

std::string filled_in(std::string_view text, const std::map<std::string, std::string> &values) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::size_t end = text[at] == '@' ? end_of_name(text, at) : std::string_view::npos;
    if (end == std::string_view::npos) {
      out += text[at];
      continue;
    }
    const auto value = values.find(std::string(text.substr(at + 1, end - at - 1)));
    if (value == values.end())
      fail(exit_internal, "internal error: a template has no value for {}", text.substr(at, end + 1 - at));
    out += value->second;
    at = end;
  }
  return out;
}

}  // namespace tool
