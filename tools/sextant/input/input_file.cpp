// SPDX-License-Identifier: BSD-3-Clause
#include "input/input_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "report/error.hpp"

namespace tool {

InputFile::InputFile(const std::string &path, Links links)
    : path_(path),
      fd_(open(path.c_str(),
               O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (links == Links::refused ? O_NOFOLLOW : 0))) {
  struct stat facts {};
  if (fd_ < 0 || fstat(fd_, &facts) != 0) {
    const int reason = errno;
    if (fd_ >= 0) close(fd_);
    fail(exit_bad_input, "{}: could not be read: {}", path, std::strerror(reason));
  }
  if (!S_ISREG(facts.st_mode)) {
    close(fd_);
    fail(exit_bad_input, "{}: is not a regular file", path);
  }
  size_ = static_cast<std::uint64_t>(facts.st_size);
}

InputFile::~InputFile() {
  if (fd_ >= 0) close(fd_);
}

std::size_t InputFile::read(char *to, std::size_t bytes) {
  while (true) {
    const ssize_t got = ::read(fd_, to, bytes);
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EINTR) fail(exit_bad_input, "{}: could not be read: {}", path_, std::strerror(errno));
  }
}

int InputFile::release() { return std::exchange(fd_, -1); }

std::string read_text(const std::string &path) {
  InputFile file(path);
  std::string text;
  char piece[1 << 16];
  for (std::size_t got; (got = file.read(piece, sizeof piece)) > 0;) {
    if (text.size() + got > most_text_bytes)
      fail(exit_bad_input, "{}: larger than {} MiB", path, most_text_bytes >> 20);
    text.append(piece, got);
  }
  return text;
}

}  // namespace tool
