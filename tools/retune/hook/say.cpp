// SPDX-License-Identifier: BSD-3-Clause
#include "hook/say.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <ctime>

namespace sextant::retune {
namespace {

struct Identity {
  bool open = false;
  dev_t device = 0;
  ino_t node = 0;
} at_start;

Identity identity() {
  struct stat status {};
  if (fstat(STDERR_FILENO, &status) != 0) return {};
  return {true, status.st_dev, status.st_ino};
}

}  // namespace

void remember_stderr() {
  const int kept = errno;
  at_start = identity();
  errno = kept;
}

void say(const std::string &sentence) {
  const int kept = errno;
  const Identity now = identity();
  // The number may have become a file or a socket of the program.
  if (at_start.open && now.open && now.device == at_start.device && now.node == at_start.node) {
    // A reader that is gone must not end the program.
    sigset_t pipe, before, pending;
    sigemptyset(&pipe), sigaddset(&pipe, SIGPIPE);
    sigpending(&pending);
    pthread_sigmask(SIG_BLOCK, &pipe, &before);
    std::string line = "sextant retune: " + sentence + "\n";
    for (char &c : line)  // paths and names may hold what a terminal obeys
      if ((static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') || c == 0x7f) c = '?';
    if (write(STDERR_FILENO, line.data(), line.size()) < 0 && errno == EPIPE && sigismember(&pending, SIGPIPE) != 1) {
      const timespec at_once{};
      sigtimedwait(&pipe, nullptr, &at_once);
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  errno = kept;
}

}  // namespace sextant::retune
