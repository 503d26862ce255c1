// SPDX-License-Identifier: BSD-3-Clause
// Text files that were built into the command: templates of programs, and the parts of the workbench's page.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tool {

struct EmbeddedFile {
  std::string_view name, text;
};

const std::vector<EmbeddedFile> &embedded_files();  // written by the build: embed.cmake
// The text of one; a name that was not built in is an internal error.
std::string_view embedded(std::string_view name);
// The text with each @NAME@ of `values` replaced; any other @NAME@ in it is an internal error.
std::string filled_in(std::string_view text, const std::map<std::string, std::string> &values);

}  // namespace tool
