// SPDX-License-Identifier: BSD-3-Clause
#include "files/output_file.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <memory>
#include <utility>

namespace sextant::files {

namespace {

// SIGPIPE would end the program when a reader has closed its end. While this object lives the calling thread gets EPIPE
// instead; the program's own handling of signals does not change.
class WithoutPipeSignal {
 public:
  WithoutPipeSignal() {
    sigset_t pending;
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    blocked_ = pthread_sigmask(SIG_BLOCK, &pipe_, &before_) == 0;
  }
  ~WithoutPipeSignal() {
    if (!blocked_) return;
    const int kept = errno;
    const timespec at_once{};
    if (!was_pending_)
      while (sigtimedwait(&pipe_, nullptr, &at_once) < 0 && errno == EINTR) {
      }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = kept;
  }
  WithoutPipeSignal(const WithoutPipeSignal &) = delete;
  WithoutPipeSignal &operator=(const WithoutPipeSignal &) = delete;

 private:
  sigset_t pipe_, before_;
  bool was_pending_ = false, blocked_ = false;
};

// Gives the new file the mode and owner of the one it replaces. A lack of permission is not an error.
void take_mode(int fd, const struct stat &old) {
  if (fchown(fd, old.st_uid, old.st_gid) != 0) errno = 0;
  if (fchmod(fd, old.st_mode & 07777) != 0) errno = 0;
}

// In /proc and the like the error for a file that cannot be made is "does not exist", which misleads where its folder
// exists.
bool folder_exists(const std::string &path) {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  return std::filesystem::is_directory(folder.empty() ? "." : folder, error);
}

// A full disk may report its error only here. Devices need not support it.
bool synchronised(int fd) { return fsync(fd) == 0 || errno == EINVAL || errno == ENOTSUP || errno == EROFS; }

}  // namespace

WriteError::WriteError(std::string path, int reason)
    : sentence_(std::move(path) + ": could not be written: " + std::strerror(reason)), reason_(reason) {}

std::string behind_links(const std::string &path) {
  struct stat status {};
  if (stat(path.c_str(), &status) == 0) {
    const std::unique_ptr<char, void (*)(void *)> real(realpath(path.c_str(), nullptr), std::free);
    if (!real && errno == ENOMEM) throw WriteError(path, ENOMEM);
    return real ? real.get() : path;  // /dev/stdout has no other name where it is a pipe
  }
  constexpr int most_links = 40;  // as many as Linux follows
  std::filesystem::path target = path;
  std::error_code error;
  for (int links = 0; std::filesystem::is_symlink(target, error); ++links) {
    if (links == most_links) throw WriteError(path, ELOOP);
    const std::filesystem::path next = std::filesystem::read_symlink(target, error);
    if (error) throw WriteError(path, error.value());
    target = target.parent_path() / next;
  }
  return target.string();
}

bool is_special(const std::string &path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
}

void check_writable(const std::string &path) {
  const std::string target = behind_links(path);
  if (is_special(target)) {
    if (access(target.c_str(), W_OK) != 0) throw WriteError(path, errno);
    if (std::filesystem::is_directory(target)) throw WriteError(path, EISDIR);
    return;
  }
  const OutputFile trial(path);  // some folders take no files even if their modes allow it
}

OutputFile::OutputFile(const std::string &path) : given_(path), target_(behind_links(path)) {
  struct stat old {};
  const bool exists = stat(target_.c_str(), &old) == 0;
  if (exists && !S_ISREG(old.st_mode)) {
    fd_ = open(target_.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (fd_ < 0) fail(errno);
    return;
  }
  static std::atomic<unsigned> counter{0};  // with the process's number: a name that no other writer uses
  temporary_ = target_ + "." + std::to_string(getpid()) + "." + std::to_string(counter++) + ".tmp";
  fd_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd_ < 0) {
    const int reason = errno;
    temporary_.clear();
    fail(reason == ENOENT && folder_exists(target_) ? EACCES : reason);
  }
  if (exists) take_mode(fd_, old);
}

OutputFile::~OutputFile() {
  if (fd_ >= 0) close(fd_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

void OutputFile::fail(int reason) const { throw WriteError(given_, reason ? reason : EIO); }

void OutputFile::write(std::string_view text) {
  constexpr std::size_t gathered = std::size_t{1} << 20;
  buffer_ += text;
  if (buffer_.size() >= gathered) flush();
}

void OutputFile::flush() {
  const WithoutPipeSignal quiet;
  std::size_t done = 0;
  while (done < buffer_.size()) {
    const ssize_t wrote = ::write(fd_, buffer_.data() + done, buffer_.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) fail(errno);
    done += static_cast<std::size_t>(wrote);
  }
  buffer_.clear();
}

void OutputFile::commit() {
  flush();
  if (!synchronised(fd_)) fail(errno);
  if (close(std::exchange(fd_, -1)) != 0) fail(errno);
  if (temporary_.empty()) return;
  if (rename(temporary_.c_str(), target_.c_str()) != 0) fail(errno);
  temporary_.clear();
}

void write_file(const std::string &path, std::string_view content) {
  OutputFile file(path);
  file.write(content);
  file.commit();
}

}  // namespace sextant::files
