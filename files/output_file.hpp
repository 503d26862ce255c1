// SPDX-License-Identifier: BSD-3-Clause
// The one writer of all files. A regular file is there whole or not at all: it is written beside its place and renamed.
// A path that is not a regular file (a device, a FIFO, a socket's end) is written directly and keeps its type. Symbolic
// links are followed and stay. A file that is replaced keeps its mode, and its owner where that is allowed.
#pragma once

#include <exception>
#include <string>
#include <string_view>

namespace sextant::files {

// The path that could not be written, and the system's errno.
class WriteError : public std::exception {
 public:
  WriteError(std::string path, int reason);
  const char *what() const noexcept override { return sentence_.c_str(); }  // "path: could not be written: reason"
  int reason() const noexcept { return reason_; }

 private:
  std::string sentence_;
  int reason_;
};

// Everything below throws WriteError with the path as the caller gave it.
class OutputFile {
 public:
  // Waits for a reader where the path is a FIFO.
  explicit OutputFile(const std::string &path);
  ~OutputFile();  // without commit: the new file is removed, and the old one stays
  OutputFile(const OutputFile &) = delete;
  OutputFile &operator=(const OutputFile &) = delete;

  void write(std::string_view text);
  // When it returns, the whole file is on the disk under its name.
  void commit();

 private:
  void flush();
  [[noreturn]] void fail(int reason) const;

  std::string given_, target_;  // target_: behind all symbolic links
  std::string temporary_;       // beside it; "" where it is written directly
  std::string buffer_;
  int fd_ = -1;
};

void write_file(const std::string &path, std::string_view content);

// The file behind symbolic links, whether or not it is there.
std::string behind_links(const std::string &path);

// It exists and is not a regular file.
bool is_special(const std::string &path);

// Checks, before long work, that a file can be made or overwritten there.
void check_writable(const std::string &path);

}  // namespace sextant::files
