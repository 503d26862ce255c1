// SPDX-License-Identifier: BSD-3-Clause
#include "input/standard_input.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <vector>

#include "report/error.hpp"

namespace tool {
namespace {

std::string kept_path;  // "" until standard input was read

[[noreturn]] void fail_read(int reason) {
  fail(exit_bad_input, "standard input: could not be read: {}", std::strerror(reason));
}

void write_all(int fd, const char *data, std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t wrote = write(fd, data, bytes);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) fail_read(errno);
    data += wrote;
    bytes -= static_cast<std::size_t>(wrote);
  }
}

// Anonymous memory: nothing is left behind, however the process ends.
std::string copied() {
  const int fd = memfd_create("standard-input", MFD_CLOEXEC);
  if (fd < 0) fail_read(errno);
  std::vector<char> piece(std::size_t{1} << 20);
  while (true) {
    const ssize_t got = read(STDIN_FILENO, piece.data(), piece.size());
    if (got == 0) return fmt::format("/proc/self/fd/{}", fd);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_read(errno);
    write_all(fd, piece.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace

bool is_standard_input(const std::string &path) { return path == standard_input; }

std::string readable_path(const std::string &path) {
  if (!is_standard_input(path)) return path;
  if (kept_path.empty()) kept_path = copied();
  return kept_path;
}

std::string naming_standard_input(std::string sentence) {
  for (std::size_t at = 0; !kept_path.empty() && (at = sentence.find(kept_path, at)) != std::string::npos;)
    sentence.replace(at, kept_path.size(), "standard input");
  return sentence;
}

}  // namespace tool
