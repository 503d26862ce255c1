// SPDX-License-Identifier: BSD-3-Clause
// A lock that other processes respect, for a file that is read, changed and replaced.
#pragma once

#include <string>

namespace sextant::files {

// Held while it lives; others that lock the same path wait. The file stays: removing it would let two processes lock
// two different files of one name.
class FileLock {
 public:
  explicit FileLock(const std::string &path);  // of the lock itself: "FILE.lock". Throws WriteError.
  ~FileLock();
  FileLock(const FileLock &) = delete;
  FileLock &operator=(const FileLock &) = delete;

 private:
  int fd_;
};

}  // namespace sextant::files
