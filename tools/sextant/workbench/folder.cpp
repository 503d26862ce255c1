// SPDX-License-Identifier: BSD-3-Clause
#include "workbench/folder.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
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

FolderLock::FolderLock(const std::string &folder) {
  const std::string path = (fs::path(folder) / "workbench.lock").string();
  file_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (file_ < 0) fail(exit_bad_input, "{}: {}", path, std::strerror(errno));
  if (flock(file_, LOCK_EX | LOCK_NB) == 0) return;
  const int reason = errno;
  close(file_);
  if (reason == EWOULDBLOCK)
    fail(exit_bad_input,
         "{}: another workbench writes its results there: --read-only shows them, --folder names another place",
         folder);
  fail(exit_bad_input, "{}: {}", path, std::strerror(reason));
}

FolderLock::~FolderLock() { close(file_); }

}  // namespace tool
