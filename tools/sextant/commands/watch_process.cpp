// SPDX-License-Identifier: BSD-3-Clause
// Lets the library observe the child of `sextant plugin check`: the output of plugins, since its stdout and stderr are
// one file in memory, and the locale of the process.
#include <sys/stat.h>
#include <unistd.h>

#include <clocale>
#include <cstdint>
#include <cstdio>

#include "report/output.hpp"

// Looked up by name (core/conformance/run_watch.cpp).
extern "C" __attribute__((visibility("default"))) std::uint64_t sxt_count_output() {
  struct stat file {};
  std::fflush(stdout);
  if (fstat(STDOUT_FILENO, &file) != 0 || !S_ISREG(file.st_mode)) return 0;
  return static_cast<std::uint64_t>(file.st_size) - tool::message_bytes();
}

extern "C" __attribute__((visibility("default"))) const char *sxt_process_locale(const char *other) {
  return std::setlocale(LC_ALL, other);
}
