// SPDX-License-Identifier: BSD-3-Clause
// Any text carved into blocks of whole lines, the characters of a plain file, and the line-by-line view.
#include "core/io/mm_text.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "core/base/gzip.hpp"

namespace sextant::io::detail {

namespace {

class PlainText : public Characters {
 public:
  explicit PlainText(std::unique_ptr<RegularFile> file) : file_(std::move(file)) {}
  std::size_t fill(char *to, std::size_t room) override;
  std::uint64_t text_limit() const override { return file_->size(); }
  std::uint64_t file_bytes() const override { return file_->size(); }

 private:
  std::unique_ptr<RegularFile> file_;
};

class GzipText : public Characters {
 public:
  explicit GzipText(GzipReader reader) : reader_(std::move(reader)) {}
  std::size_t fill(char *to, std::size_t room) override { return reader_.fill(to, room); }
  std::uint64_t text_limit() const override { return reader_.text_limit(); }
  std::uint64_t file_bytes() const override { return reader_.file_bytes(); }

 private:
  GzipReader reader_;
};

std::size_t PlainText::fill(char *to, std::size_t room) {
  std::size_t done = 0;
  while (done < room) {
    const std::size_t got = file_->read(to + done, room - done);
    if (got == 0) break;
    done += got;
  }
  return done;
}

}  // namespace

std::unique_ptr<TextSource> open_text(const std::string &path, const Allocator &allocator) {
  auto file = std::make_unique<RegularFile>(path);
  std::unique_ptr<Characters> characters;
  if (is_gzip(*file))
    characters = std::make_unique<GzipText>(GzipReader(std::move(file), path, allocator));
  else
    characters = std::make_unique<PlainText>(std::move(file));
  return std::make_unique<TextSource>(std::move(characters), allocator);
}

bool TextSource::next(Block &block) {
  // A longer look only where a whole block holds no line end.
  for (const std::size_t most : {kBlockBytes, kLongestLine + 1}) {
    const std::size_t room = std::max<std::size_t>(std::min<std::uint64_t>(most, text_limit() + 1), carried_);
    // One more byte for the line end that the last line may lack.
    if (block.storage.bytes() < room + 1) block.storage = Buffer(room + 1, allocator_);
    char *text = block.storage.as<char>();
    if (carried_) std::memcpy(text, carry_.data(), carried_);
    std::size_t length = carried_ + characters_->fill(text + carried_, room - carried_);
    if (length == 0) return false;
    if (length < room && !is_line_end(text[length - 1])) text[length++] = '\n';
    const char *end = last_line_end(text, text + length);
    const std::size_t whole = end ? static_cast<std::size_t>(end - text) : 0;
    keep(text + whole, length - whole);
    if (!end) continue;
    block.begin = text;
    block.end = end;
    block.offset = offset_;
    offset_ += whole;
    return true;
  }
  throw Fault{SXT_E_FILE_FORMAT, offset_, "the line is longer than 1 MiB: this is no Matrix Market text"};
}

// For the next block.
void TextSource::keep(const char *from, std::size_t length) {
  if (length > carry_.bytes()) carry_ = Buffer(length, allocator_);
  if (length) std::memcpy(carry_.data(), from, length);
  carried_ = length;
}

const char *last_line_end(const char *begin, const char *end) {
  const auto length = static_cast<std::size_t>(end - begin);
  const void *found = memrchr(begin, '\n', length);
  if (!found) found = memrchr(begin, '\r', length);
  return found ? static_cast<const char *>(found) + 1 : nullptr;
}

bool LineReader::next() {
  while (true) {
    if (at_ == block_.end) {
      if (!source_.next(block_)) return false;
      at_ = block_.begin;
    }
    if (!(after_return_ && *at_ == '\n')) break;
    ++at_;
    after_return_ = false;
  }
  const char *end = std::find_if(at_, block_.end, is_line_end);
  line_ = {at_, static_cast<std::size_t>(end - at_)};
  offset_ = block_.offset + static_cast<std::uint64_t>(at_ - block_.begin);
  ++number_;
  after_return_ = *end == '\r';
  at_ = end + 1;
  return true;
}

Block LineReader::rest() {
  if (!block_.begin) return {};
  block_.offset += static_cast<std::uint64_t>(at_ - block_.begin);
  block_.begin = at_;
  return std::move(block_);
}

}  // namespace sextant::io::detail
