// SPDX-License-Identifier: BSD-3-Clause
#include "files/file_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>

#include "files/output_file.hpp"

namespace sextant::files {

FileLock::FileLock(const std::string &path) : fd_(::open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0666)) {
  if (fd_ < 0) throw WriteError(path, errno);
  while (::flock(fd_, LOCK_EX) != 0) {
    if (errno == EINTR) continue;
    const int reason = errno;
    ::close(fd_);
    throw WriteError(path, reason);
  }
}

FileLock::~FileLock() { ::close(fd_); }

}  // namespace sextant::files
