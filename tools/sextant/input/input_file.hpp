// SPDX-License-Identifier: BSD-3-Clause
// Files that are read whole or in pieces: regular ones alone, so that a FIFO is not waited for and a device that never
// ends is not read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace tool {

// Profiles, models, and what the page sends: a calibrated profile has some megabytes.
inline constexpr std::uint64_t most_text_bytes = std::uint64_t{64} << 20;

enum class Links { followed, refused };

// Throws a ToolError with the path and the reason.
class InputFile {
 public:
  // links: what becomes of a path that is a symbolic link itself.
  explicit InputFile(const std::string &path, Links links = Links::followed);
  ~InputFile();
  InputFile(const InputFile &) = delete;
  InputFile &operator=(const InputFile &) = delete;
  std::uint64_t size() const { return size_; }    // when it was opened
  std::size_t read(char *to, std::size_t bytes);  // 0 at the end
  int release();                                  // the descriptor, which the caller closes

 private:
  std::string path_;
  std::uint64_t size_ = 0;
  int fd_ = -1;
};

// The whole of a file of at most most_text_bytes.
std::string read_text(const std::string &path);

}  // namespace tool
