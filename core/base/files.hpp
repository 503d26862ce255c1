// SPDX-License-Identifier: BSD-3-Clause
// Small files read and written whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sextant {

// The texts that are read whole: profiles, plans and stamps. A calibrated profile has some megabytes.
inline constexpr std::uint64_t most_text_bytes = std::uint64_t{64} << 20;
// No shared object is larger.
inline constexpr std::uint64_t most_plugin_bytes = std::uint64_t{4} << 30;

// A regular file of bounded size, open for reading: a FIFO is not waited for, and a device that never ends is not read.
// Throws SXT_E_FILE_READ with the path and the reason, also where the file becomes shorter meanwhile; SXT_E_MEMORY
// where the system is short of memory or of files. Files are read and never mapped: what another process does to them
// is then an error here, and no signal.
class RegularFile {
 public:
  RegularFile(const std::string &path, std::uint64_t most_bytes);
  // As far as it reaches now; what is added later is not read.
  explicit RegularFile(const std::string &path);
  ~RegularFile();
  RegularFile(const RegularFile &) = delete;
  RegularFile &operator=(const RegularFile &) = delete;
  std::uint64_t size() const noexcept { return size_; }  // when it was opened
  std::size_t read(char *to, std::size_t bytes);         // 0 at the end
  std::size_t peek(char *to, std::size_t bytes) const;   // the file's first bytes, whatever was read

 private:
  RegularFile(const std::string &path, std::uint64_t most_bytes, bool as_it_is);
  [[noreturn]] void fail_to_read(int reason) const;
  void check_size(std::uint64_t bytes) const;
  void check_end() const;

  std::string path_;
  std::uint64_t most_bytes_, size_ = 0, done_ = 0;
  bool as_it_is_;  // nothing beyond size_ is read
  int fd_ = -1;
};

std::string read_file(const std::string &path, std::uint64_t most_bytes = most_text_bytes);
// The same of a file that may be compressed by gzip, told apart by its first two bytes; most_bytes bounds the text.
// SXT_E_FILE_FORMAT where the compressed data is damaged.
std::string read_text(const std::string &path, std::uint64_t most_bytes = most_text_bytes);
// By files/output_file.hpp. SXT_E_FILE_WRITE names path and reason.
void write_file_atomically(const std::string &path, std::string_view content);

// An errno that tells of what may be there again in a moment: memory, or a descriptor.
bool is_shortage(int reason) noexcept;

}  // namespace sextant
