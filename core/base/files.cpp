// SPDX-License-Identifier: BSD-3-Clause
#include "core/base/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/gzip.hpp"
#include "core/base/toml.hpp"
#include "files/output_file.hpp"

namespace sextant {

RegularFile::RegularFile(const std::string &path, std::uint64_t most_bytes) : RegularFile(path, most_bytes, false) {}

RegularFile::RegularFile(const std::string &path)
    : RegularFile(path, std::numeric_limits<std::uint64_t>::max(), true) {}

RegularFile::RegularFile(const std::string &path, std::uint64_t most_bytes, bool as_it_is)
    : path_(path), most_bytes_(most_bytes), as_it_is_(as_it_is) {
  // Without O_NONBLOCK a FIFO that nothing writes to would be waited for.
  fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd_ < 0) fail_to_read(errno);
  struct stat status {};
  const bool known = ::fstat(fd_, &status) == 0;
  const int reason = errno;
  try {
    if (!known) fail_to_read(reason);
    require(S_ISREG(status.st_mode), SXT_E_FILE_READ, path, ": it is not a regular file");
    size_ = static_cast<std::uint64_t>(status.st_size);
    check_size(size_);
  } catch (...) {
    ::close(fd_);
    throw;
  }
}

RegularFile::~RegularFile() { ::close(fd_); }

void RegularFile::fail_to_read(int reason) const {
  fail(is_shortage(reason) ? SXT_E_MEMORY : SXT_E_FILE_READ, path_, ": ", std::strerror(reason));
}

void RegularFile::check_size(std::uint64_t bytes) const {
  require(bytes <= most_bytes_, SXT_E_FILE_READ, path_, ": it has ", bytes, " bytes or more; at most ", most_bytes_,
          " are read");
}

// Whether an end of the file that was met is its own. What the system makes up may end before the size it states.
void RegularFile::check_end() const {
  struct stat status {};
  if (done_ >= size_ || ::fstat(fd_, &status) != 0 || static_cast<std::uint64_t>(status.st_size) >= size_) return;
  fail(SXT_E_FILE_READ, path_, ": it became shorter while it was read, by another program: of ", size_, " bytes ",
       done_, " could be read");
}

std::size_t RegularFile::read(char *to, std::size_t bytes) {
  if (as_it_is_) bytes = std::min(bytes, static_cast<std::size_t>(size_ - done_));
  if (bytes == 0) return 0;
  ssize_t got = 0;
  do got = ::read(fd_, to, bytes);
  while (got < 0 && errno == EINTR);
  if (got < 0) fail_to_read(errno);
  if (got == 0) check_end();
  done_ += static_cast<std::uint64_t>(got);
  check_size(done_);  // it may have grown, and what the system makes up has no size
  return static_cast<std::size_t>(got);
}

std::size_t RegularFile::peek(char *to, std::size_t bytes) const {
  ssize_t got = 0;
  do got = ::pread(fd_, to, bytes, 0);
  while (got < 0 && errno == EINTR);
  if (got < 0) fail_to_read(errno);
  return static_cast<std::size_t>(got);
}

bool is_shortage(int reason) noexcept { return reason == ENOMEM || reason == EMFILE || reason == ENFILE; }

namespace {

// All that read(to, room) gives until it gives nothing. Room for what is expected is made at once: a text that is moved
// as it grows takes as long again.
template <class Read>
std::string gather(std::uint64_t expected, Read &&read) {
  std::string content;
  content.reserve(static_cast<std::size_t>(expected));
  char block[65536];
  for (std::size_t got; (got = read(block, sizeof block)) > 0;) content.append(block, got);
  return content;
}

}  // namespace

std::string read_file(const std::string &path, std::uint64_t most_bytes) {
  RegularFile file(path, most_bytes);
  return gather(file.size(), [&](char *to, std::size_t room) { return file.read(to, room); });
}

std::string read_text(const std::string &path, std::uint64_t most_bytes) {
  auto file = std::make_unique<RegularFile>(path, most_bytes);
  const auto plain = [&](char *to, std::size_t room) { return file->read(to, room); };
  if (!is_gzip(*file)) return gather(file->size(), plain);
  // Numbers in figures shrink to a fifth or sixth.
  constexpr std::uint64_t usual_ratio = 6;
  const std::uint64_t expected = std::min(file->size() * usual_ratio, most_bytes);
  GzipReader reader(std::move(file), path, {}, SXT_E_FILE_FORMAT);
  std::uint64_t done = 0;
  return gather(expected, [&](char *to, std::size_t room) {
    const std::size_t got = reader.fill(to, room);
    done += got;
    require(done <= most_bytes, SXT_E_FILE_READ, path, ": its text, decompressed, has more than the ", most_bytes,
            " bytes that are read");
    return got;
  });
}

void write_file_atomically(const std::string &path, std::string_view content) {
  try {
    files::write_file(path, content);
  } catch (const files::WriteError &problem) {
    fail(problem.reason() == ENOMEM ? SXT_E_MEMORY : SXT_E_FILE_WRITE, problem.what());
  }
}

toml::table read_toml(const std::string &path) { return parse_toml(read_text(path), path); }

toml::table parse_toml(const std::string &content, const std::string &path) {
  try {
    return toml::parse(content);  // given the path, it copies that in a function that is noexcept
  } catch (const toml::parse_error &problem) {
    fail(SXT_E_FILE_FORMAT, path, ":", problem.source().begin.line, ": ", problem.description());
  }
}

}  // namespace sextant
