// SPDX-License-Identifier: BSD-3-Clause
// Gzip: text that is inflated as it is asked for, and text made small. gzip.cpp is the only file that knows zlib.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/files.hpp"
#include "core/base/memory.hpp"

namespace sextant {

// By the file's first two bytes, not by its name.
bool is_gzip(const RegularFile &file);

// Several members in one file (as pigz and bgzip write them) follow each other.
class GzipReader {
 public:
  // damage: the status of a file whose compressed data is damaged or ends early.
  GzipReader(std::unique_ptr<RegularFile> file, const std::string &path, const Allocator &allocator,
             sxt_status damage = SXT_E_FILE_READ);
  GzipReader(GzipReader &&) noexcept;
  ~GzipReader();
  // Writes `room` characters; fewer only at the end of the text. Of damage it says the path and how much text came
  // before.
  std::size_t fill(char *to, std::size_t room);
  // No text is longer than this.
  std::uint64_t text_limit() const;
  std::uint64_t file_bytes() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

// One member, as small as zlib makes it; the same bytes for the same text.
std::string gzip_of(std::string_view text);

}  // namespace sextant
