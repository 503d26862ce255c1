// SPDX-License-Identifier: BSD-3-Clause
#include "policy/toml.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

namespace sextant::retune {

namespace {
constexpr off_t most_bytes = off_t{64} << 20;
}

toml::table read_toml(const std::string &path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) throw FileError(path + ": " + std::strerror(errno));
  if (!S_ISREG(status.st_mode) || status.st_size > most_bytes)
    throw FileError(path + ": it is no regular file of at most 64 MiB");
  std::ifstream file(path, std::ios::binary);
  const std::string content((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!file) throw FileError(path + ": it could not be read");
  try {
    return toml::parse(content);
  } catch (const toml::parse_error &error) {
    fail_at(path, error.source(), std::string(error.description()));
  }
}

}  // namespace sextant::retune
