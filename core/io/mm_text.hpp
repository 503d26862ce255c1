// SPDX-License-Identifier: BSD-3-Clause
// A text file as a sequence of blocks of whole lines, mapped or decompressed on the way, and a line-by-line view for
// the header and for errors. Never holds the whole text of a compressed file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

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
  Buffer storage;            // used where the text is not in a mapping
};

class TextSource {
 public:
  virtual ~TextSource() = default;
  // The next block, or false at the end. One thread at a time. Throws Fault or Error.
  virtual bool next(Block &block) = 0;
  // Nothing before this offset will be looked at again.
  virtual void consumed(std::uint64_t) {}
  // No text is longer than this.
  virtual std::uint64_t text_limit() const = 0;
  virtual std::uint64_t file_bytes() const = 0;  // as it lies on the disk
};

// A read-only mapping of a whole file.
class FileMap {
 public:
  explicit FileMap(const std::string &path);  // throws SXT_E_FILE_READ
  FileMap(const FileMap &) = delete;
  FileMap &operator=(const FileMap &) = delete;
  ~FileMap();
  const char *data() const { return data_; }
  std::size_t size() const { return size_; }
  // Gives the pages that lie wholly in begin..end-1 back to the system.
  void drop(std::size_t begin, std::size_t end) const;

 private:
  const char *data_ = nullptr;
  std::size_t size_ = 0;
};

// Chooses by the file's first bytes, not by its name.
std::unique_ptr<TextSource> open_text(const std::string &path, const Allocator &allocator);

// In mm_gzip.cpp, the only file that knows zlib.
std::unique_ptr<TextSource> open_gzip(std::unique_ptr<FileMap> map, const std::string &path,
                                      const Allocator &allocator);

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
