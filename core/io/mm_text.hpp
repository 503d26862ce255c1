// SPDX-License-Identifier: BSD-3-Clause
// A text file as a sequence of blocks of whole lines, decompressed on the way where it must be, and a line-by-line view
// for the header and for errors. Never holds the whole text. Files are read, not mapped: to touch a mapping of a file
// that became shorter, or that the disk cannot deliver, ends the process.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/files.hpp"
#include "core/base/memory.hpp"

namespace sextant::io::detail {

inline constexpr std::size_t kBlockBytes = std::size_t{256} << 10;  // text handed to a thread at once
inline constexpr std::size_t kLongestLine = std::size_t{1} << 20;   // longer means that this is no text

// Something wrong at one place of the text. Becomes "path:line: message" where the path is known.
struct Fault {
  sxt_status status;
  std::uint64_t offset;  // of the place, in the decompressed text
  std::string message;
};

// Whole lines; the last character is always a line end ('\n' or '\r'), added if the file lacks it.
struct Block {
  const char *begin = nullptr, *end = nullptr;
  std::uint64_t offset = 0;  // of `begin` in the text
  Buffer storage;            // what they point into
};

// The text's characters one after the other.
class Characters {
 public:
  virtual ~Characters() = default;
  // Writes `room` characters; fewer only at the end of the text. Throws Error.
  virtual std::size_t fill(char *to, std::size_t room) = 0;
  // No text is longer than this.
  virtual std::uint64_t text_limit() const = 0;
  virtual std::uint64_t file_bytes() const = 0;  // as it lies on the disk
};

class TextSource {
 public:
  TextSource(std::unique_ptr<Characters> characters, const Allocator &allocator)
      : characters_(std::move(characters)), allocator_(allocator) {}
  // The next block, into the storage of the last one, or false at the end. One thread at a time. Throws Fault or Error.
  bool next(Block &block);
  std::uint64_t text_limit() const { return characters_->text_limit(); }
  std::uint64_t file_bytes() const { return characters_->file_bytes(); }

 private:
  void keep(const char *from, std::size_t length);

  std::unique_ptr<Characters> characters_;
  Allocator allocator_;
  Buffer carry_;  // the start of a line whose end is still to come
  std::size_t carried_ = 0;
  std::uint64_t offset_ = 0;  // of the next block in the text
};

// Chooses by the file's first bytes, not by its name.
std::unique_ptr<TextSource> open_text(const std::string &path, const Allocator &allocator);

// The end of the last whole line in begin..end-1, or nullptr. Files with '\r' alone as line end have no '\n' at all.
const char *last_line_end(const char *begin, const char *end);

inline bool is_blank(char c) { return c == ' ' || c == '\t'; }
inline bool is_line_end(char c) { return c == '\n' || c == '\r'; }

// One line after the other, counted from 1; "\r\n" is one line end.
class LineReader {
 public:
  explicit LineReader(TextSource &source) : source_(source) {}
  bool next();
  std::string_view line() const { return line_; }
  std::int64_t number() const { return number_; }
  std::uint64_t offset() const { return offset_; }  // of the line's first character
  // What is left of the current block after the current line. Ends the reader's use.
  Block rest();

 private:
  TextSource &source_;
  Block block_;
  const char *at_ = nullptr;
  std::string_view line_;
  std::int64_t number_ = 0;
  std::uint64_t offset_ = 0;
  bool after_return_ = false;  // the last line ended in '\r': a '\n' that follows belongs to it
};

}  // namespace sextant::io::detail
