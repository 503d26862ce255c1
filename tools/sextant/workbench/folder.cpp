// SPDX-License-Identifier: BSD-3-Clause
#include "workbench/folder.hpp"

#include <cstdlib>
#include <filesystem>

#include "report/error.hpp"

namespace tool {

namespace fs = std::filesystem;

Folder::Folder(const std::string &named) : path_(named), temporary_(named.empty()) {
  std::error_code error;
  if (temporary_) {
    std::string pattern = (fs::temp_directory_path() / "sextant-XXXXXX").string();
    if (!mkdtemp(pattern.data())) fail(exit_bad_input, "{}: no temporary folder could be made", pattern);
    path_ = pattern;
  } else if (fs::create_directories(path_, error); error) {
    fail(exit_bad_input, "{}: {}", path_, error.message());
  }
}

Folder::~Folder() {
  std::error_code ignored;
  if (temporary_) fs::remove_all(path_, ignored);
}

}  // namespace tool
