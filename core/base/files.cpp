// SPDX-License-Identifier: BSD-3-Clause
#include "core/base/files.hpp"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "core/base/error.hpp"
#include "core/base/toml.hpp"

namespace sextant {

namespace {

struct File {
  std::FILE *stream;
  ~File() {
    if (stream) std::fclose(stream);
  }
};

}  // namespace

std::string read_file(const std::string &path) {
  File file{std::fopen(path.c_str(), "rbe")};
  require(file.stream != nullptr, SXT_E_FILE_READ, path, ": ", std::strerror(errno));
  std::string content;
  char block[65536];
  for (std::size_t got; (got = std::fread(block, 1, sizeof block, file.stream)) > 0;) content.append(block, got);
  require(!std::ferror(file.stream), SXT_E_FILE_READ, path, ": ", std::strerror(errno));
  return content;
}

void write_file_atomically(const std::string &path, std::string_view content) {
  static std::atomic<unsigned> counter{0};
  const std::string beside = text(path, ".", ::getpid(), ".", counter++, ".tmp");
  File file{std::fopen(beside.c_str(), "wbxe")};
  require(file.stream != nullptr, SXT_E_FILE_WRITE, path, ": ", std::strerror(errno));
  int reason = 0;  // of the first step that failed
  const auto step = [&](bool done) {
    if (!done && reason == 0) reason = errno ? errno : EIO;
  };
  step(std::fwrite(content.data(), 1, content.size(), file.stream) == content.size());
  step(std::fflush(file.stream) == 0);
  step(::fsync(::fileno(file.stream)) == 0);
  step(std::fclose(std::exchange(file.stream, nullptr)) == 0);
  if (reason == 0) step(std::rename(beside.c_str(), path.c_str()) == 0);
  if (reason != 0) std::remove(beside.c_str());
  require(reason == 0, SXT_E_FILE_WRITE, path, ": ", std::strerror(reason));
}

toml::table read_toml(const std::string &path) {
  const std::string content = read_file(path);
  try {
    return toml::parse(content, path);
  } catch (const toml::parse_error &problem) {
    fail(SXT_E_FILE_FORMAT, path, ":", problem.source().begin.line, ": ", problem.description());
  }
}

}  // namespace sextant
