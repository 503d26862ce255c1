// SPDX-License-Identifier: BSD-3-Clause
// Atomic output files, and the two formats written to them.
#include "write_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <map>

namespace tool {
namespace {

[[noreturn]] void fail_to_write(const std::string &path, int error) {
  fail(kBadInput, "{}: could not be written: {}", path, std::strerror(error));
}

// Follows symbolic links, also to what is not there yet, so that a rename replaces the file and not the link.
std::string resolved(const std::string &path) {
  struct stat status {};
  if (stat(path.c_str(), &status) == 0) {
    char *real = realpath(path.c_str(), nullptr);
    if (real == nullptr) return path;  // /dev/stdout, where that is a pipe
    const std::string target = real;
    std::free(real);
    return target;
  }
  constexpr int most_links = 40;  // as many as Linux follows
  std::filesystem::path target = path;
  std::error_code error;
  for (int links = 0; std::filesystem::is_symlink(target, error); ++links) {
    if (links == most_links) fail_to_write(path, ELOOP);
    const std::filesystem::path next = std::filesystem::read_symlink(target, error);
    if (error) fail_to_write(path, error.value());
    target = target.parent_path() / next;
  }
  return target.string();
}

// Equal for two names of one file.
std::string identity(const std::string &path) {
  std::error_code error;
  const std::string target = resolved(path), canonical = std::filesystem::weakly_canonical(target, error).string();
  return error ? target : std::filesystem::absolute(canonical, error).string();
}

// True for what exists and must not be replaced by a regular file.
bool is_special(const std::string &path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
}

}  // namespace

OutputFile::OutputFile(const std::string &path) : path_(resolved(path)) {
  if (is_special(path_)) {
    fd_ = open(path_.c_str(), O_WRONLY | O_CLOEXEC);
  } else {
    temporary_ = fmt::format("{}.{}.tmp", path_, getpid());
    fd_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  }
  if (fd_ < 0) {
    const int error = errno;
    temporary_.clear();
    fail_to_write(path_, error);
  }
  // An existing file keeps its permissions. Not being allowed to is no reason to fail.
  struct stat status {};
  if (!temporary_.empty() && stat(path_.c_str(), &status) == 0) static_cast<void>(fchmod(fd_, status.st_mode & 07777));
}

OutputFile::~OutputFile() {
  if (fd_ >= 0) close(fd_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

void OutputFile::write(std::string_view text) {
  buffer_ += text;
  if (buffer_.size() >= (1u << 20)) flush();
}

void OutputFile::flush() {
  std::size_t done = 0;
  while (done < buffer_.size()) {
    const ssize_t wrote = ::write(fd_, buffer_.data() + done, buffer_.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) fail_to_write(path_, errno);
    done += static_cast<std::size_t>(wrote);
  }
  buffer_.clear();
}

void OutputFile::commit() {
  flush();
  // Some file systems report a full disk only here. Devices need not support it.
  if (!temporary_.empty() && fsync(fd_) != 0 && errno != EINVAL) fail_to_write(path_, errno);
  const int fd = std::exchange(fd_, -1);
  if (close(fd) != 0) fail_to_write(path_, errno);
  if (temporary_.empty()) return;
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) fail_to_write(path_, errno);
  temporary_.clear();
}

void check_writable(const std::string &path) {
  const std::string target = resolved(path);
  if (is_special(target)) {
    if (access(target.c_str(), W_OK) != 0) fail_to_write(target, errno);
    if (std::filesystem::is_directory(target)) fail_to_write(target, EISDIR);
    return;
  }
  std::string folder = std::filesystem::path(target).parent_path().string();
  if (folder.empty()) folder = ".";
  if (access(folder.c_str(), W_OK | X_OK) != 0) fail_to_write(target, errno);
}

void check_outputs(const std::vector<Output> &outputs) {
  std::map<std::string, std::string> options;
  for (const auto &[option, path] : outputs) {
    if (path.empty()) continue;
    check_writable(path);
    if (is_special(path)) continue;
    const auto [place, added] = options.emplace(identity(path), option);
    if (!added) fail(kUsage, "{} and {} name the same file: {}", place->second, option, path);
  }
}

void write_vector(const std::string &path, const HostVector &vector) {
  const bool complex = vector.type == SXT_C128;
  OutputFile file(path);
  file.write(fmt::format("%%MatrixMarket matrix array {} general\n", complex ? "complex" : "real"));
  file.write(fmt::format("{} 1\n", vector.length()));
  fmt::memory_buffer line;
  for (std::size_t i = 0; i < vector.values.size(); i += complex ? 2 : 1) {
    line.clear();
    fmt::format_to(std::back_inserter(line), "{}", vector.values[i]);
    if (complex) fmt::format_to(std::back_inserter(line), " {}", vector.values[i + 1]);
    line.push_back('\n');
    file.write({line.data(), line.size()});
  }
  file.commit();
}

void write_history(const std::string &path, const double *residuals, std::int64_t count) {
  OutputFile file(path);
  file.write("iteration,residual\n");
  for (std::int64_t i = 0; i < count; ++i) file.write(fmt::format("{},{}\n", i, residuals[i]));
  file.commit();
}

}  // namespace tool
