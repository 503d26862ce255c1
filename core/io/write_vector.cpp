// SPDX-License-Identifier: BSD-3-Clause
// Writes a vector as a Matrix Market array. A regular file appears under its name only once it is complete.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <system_error>
#include <vector>

#include "core/io/matrix_market.hpp"

namespace sextant::io {

namespace {

// A file that is being written; closed and, unless kept, removed when it goes out of scope.
class Output {
 public:
  Output(std::string shown, std::string path, int flags, mode_t mode)
      : shown_(std::move(shown)), path_(std::move(path)), temporary_((flags & O_EXCL) != 0) {
    fd_ = open(path_.c_str(), flags, mode);
    if (fd_ < 0) fail_write("cannot create", errno);
  }
  Output(const Output &) = delete;
  Output &operator=(const Output &) = delete;
  ~Output() {
    if (fd_ >= 0) close(fd_);
    if (temporary_) unlink(path_.c_str());
  }

  [[noreturn]] void fail_write(const char *what, int error) const {
    fail(SXT_E_FILE_WRITE, shown_, ": ", what, ": ", std::generic_category().message(error));
  }
  void write_all(const char *data, std::size_t bytes);
  void finish();
  void rename_to(const std::string &target);
  int fd() const { return fd_; }

 private:
  std::string shown_, path_;  // shown_: the name that the caller gave
  bool temporary_;
  int fd_ = -1;
};

void Output::write_all(const char *data, std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t done = write(fd_, data, bytes);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail_write("cannot write", errno);
    data += done;
    bytes -= static_cast<std::size_t>(done);
  }
}

void Output::finish() {
  // Some file systems notice that they are full only here. Pipes and devices cannot be synchronised.
  if (fsync(fd_) != 0 && errno != EINVAL && errno != ENOTSUP && errno != EROFS) fail_write("cannot write", errno);
  const int fd = std::exchange(fd_, -1);
  if (close(fd) != 0) fail_write("cannot write", errno);
}

void Output::rename_to(const std::string &target) {
  if (rename(path_.c_str(), target.c_str()) != 0) fail_write("cannot rename the finished file", errno);
  temporary_ = false;
}

// Text gathered into large writes.
class TextBuffer {
 public:
  explicit TextBuffer(Output &output) : output_(output), text_(std::size_t{1} << 16) {}
  template <class T>
  void number(T value) {
    // Without a precision, to_chars writes the fewest digits that read back as the same value.
    const auto [end, error] = std::to_chars(room(kLongestNumber), text_.data() + text_.size(), value);
    require(error == std::errc(), SXT_E_INTERNAL, "a number did not fit its text buffer");
    used_ = static_cast<std::size_t>(end - text_.data());
  }
  void words(const std::string &line) {
    std::copy(line.begin(), line.end(), room(line.size()));
    used_ += line.size();
  }
  void flush() {
    output_.write_all(text_.data(), used_);
    used_ = 0;
  }

 private:
  static constexpr std::size_t kLongestNumber = 64;
  char *room(std::size_t bytes) {
    if (text_.size() - used_ < bytes) flush();
    return text_.data() + used_;
  }
  Output &output_;
  std::vector<char> text_;
  std::size_t used_ = 0;
};

template <class V>
void write_text(Output &output, std::int64_t n, const V *values) {
  TextBuffer out(output);
  out.words(text("%%MatrixMarket matrix array ", is_complex<V> ? "complex" : "real", " general\n", n, " 1\n"));
  for (std::int64_t i = 0; i < n; ++i) {
    if constexpr (is_complex<V>) {
      out.number(values[i].real());
      out.words(" ");
      out.number(values[i].imag());
    } else {
      out.number(values[i]);
    }
    out.words("\n");
  }
  out.flush();
  output.finish();
}

// The file behind symbolic links, so that a link stays one; the name itself where nothing exists yet.
std::string resolved(const std::string &path) {
  char *real = realpath(path.c_str(), nullptr);
  if (!real) return path;
  std::string out(real);
  std::free(real);
  return out;
}

// A name beside the target that no other writer uses.
std::string temporary_name(const std::string &target) {
  static std::atomic<unsigned> counter{0};
  return text(target, ".tmp-", getpid(), "-", counter++);
}

}  // namespace

void write_vector(const std::string &path, std::int64_t n, sxt_value_type type, const void *values) {
  require(n >= 0, SXT_E_ARGUMENT, path, ": a vector of length ", n, " cannot be written");
  require(values != nullptr || n == 0, SXT_E_ARGUMENT, path, ": the array of ", n, " values is NULL");
  const auto write_to = [&](Output &output) {
    with_value_type(
        type, [&](auto tag) { write_text(output, n, static_cast<const typename decltype(tag)::type *>(values)); });
  };
  struct stat status;
  const bool exists = stat(path.c_str(), &status) == 0;
  if (exists && !S_ISREG(status.st_mode)) {
    // A pipe or a device: renaming over it would replace it by a file.
    Output output(path, path, O_WRONLY | O_CLOEXEC, 0666);
    return write_to(output);
  }
  const std::string target = resolved(path);
  Output output(path, temporary_name(target), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  // An existing file keeps its permissions; a failure to do so is no reason to lose the result.
  if (exists && fchmod(output.fd(), status.st_mode & 07777) != 0) errno = 0;
  write_to(output);
  output.rename_to(target);
}

}  // namespace sextant::io
