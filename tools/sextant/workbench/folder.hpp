// SPDX-License-Identifier: BSD-3-Clause
// A folder for files that commands make: one that was named and stays, or a temporary one.
#pragma once

#include <string>

namespace tool {

class Folder {
 public:
  // named: made where it is not there; "": a temporary one. Throws where it cannot be made.
  explicit Folder(const std::string &named);
  ~Folder();  // removes a temporary one with all that is in it
  Folder(const Folder &) = delete;
  Folder &operator=(const Folder &) = delete;
  const std::string &path() const { return path_; }

 private:
  std::string path_;
  bool temporary_;
};

// Keeps other workbenches out of a folder while it lives, by a lock on its file workbench.lock, which stays. Throws
// where another one has it.
class FolderLock {
 public:
  explicit FolderLock(const std::string &folder);
  ~FolderLock();
  FolderLock(const FolderLock &) = delete;
  FolderLock &operator=(const FolderLock &) = delete;

 private:
  int file_;
};

}  // namespace tool
