// SPDX-License-Identifier: BSD-3-Clause
// Gzip text, inflated block by block. Several members in one file (as pigz and bgzip write them) follow each other.
#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "core/io/mm_text.hpp"

namespace sextant::io::detail {

namespace {

class GzipText : public TextSource {
 public:
  GzipText(std::unique_ptr<FileMap> map, const std::string &path, const Allocator &allocator);
  GzipText(const GzipText &) = delete;
  GzipText &operator=(const GzipText &) = delete;
  ~GzipText() override { inflateEnd(&stream_); }
  bool next(Block &block) override;
  // Deflate shrinks no text by more than 1032 : 1.
  std::uint64_t text_limit() const override { return static_cast<std::uint64_t>(map_->size()) * 1032; }
  std::uint64_t file_bytes() const override { return map_->size(); }

 private:
  std::size_t fill(char *to, std::size_t room);
  void feed();
  void next_member();

  std::unique_ptr<FileMap> map_;
  std::string path_;
  Allocator allocator_;
  z_stream stream_{};
  std::size_t fed_ = 0;      // compressed bytes given to zlib
  std::size_t dropped_ = 0;  // compressed bytes whose pages were given back
  bool ended_ = false;
  Buffer carry_;  // the start of a line whose end is still to come
  std::size_t carried_ = 0;
  std::uint64_t offset_ = 0;  // of the next block in the text
};

GzipText::GzipText(std::unique_ptr<FileMap> map, const std::string &path, const Allocator &allocator)
    : map_(std::move(map)), path_(path), allocator_(allocator) {
  // 15: the largest window; 16: gzip framing with its check sum.
  require(inflateInit2(&stream_, 15 + 16) == Z_OK, SXT_E_MEMORY, path, ": could not set up decompression");
}

void GzipText::feed() {
  // zlib counts input in 32 bits, and pages already read need not stay.
  constexpr std::size_t kStep = std::size_t{8} << 20;
  map_->drop(dropped_, fed_);
  dropped_ = fed_;
  const std::size_t bytes = std::min(map_->size() - fed_, kStep);
  stream_.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(map_->data() + fed_));
  stream_.avail_in = static_cast<uInt>(bytes);
  fed_ += bytes;
}

void GzipText::next_member() {
  const std::size_t at = fed_ - stream_.avail_in;
  const char *rest = map_->data() + at, *end = map_->data() + map_->size();
  // Tape padding: nothing but zeros may follow.
  if (std::all_of(rest, end, [](char c) { return c == 0; })) {
    ended_ = true;
    return;
  }
  require(inflateReset(&stream_) == Z_OK, SXT_E_INTERNAL, path_, ": could not restart decompression");
}

// Inflates up to `room` bytes; fewer only at the end of the text.
std::size_t GzipText::fill(char *to, std::size_t room) {
  stream_.next_out = reinterpret_cast<Bytef *>(to);
  stream_.avail_out = static_cast<uInt>(room);
  while (stream_.avail_out > 0 && !ended_) {
    if (stream_.avail_in == 0) feed();
    const int state = inflate(&stream_, Z_NO_FLUSH);
    const std::uint64_t done = offset_ + carried_ + (room - stream_.avail_out);
    if (state == Z_STREAM_END) {
      next_member();
    } else if (state == Z_BUF_ERROR && stream_.avail_in == 0 && fed_ == map_->size()) {
      fail(SXT_E_FILE_READ, path_, ": the compressed data ends early, after ", done, " bytes of text");
    } else if (state != Z_OK && state != Z_BUF_ERROR) {
      require(state != Z_MEM_ERROR, SXT_E_MEMORY, path_, ": no memory to decompress");
      fail(SXT_E_FILE_READ, path_, ": the compressed data is damaged after ", done, " bytes of text (",
           stream_.msg ? stream_.msg : "no reason given", ")");
    }
  }
  return room - stream_.avail_out;
}

bool GzipText::next(Block &block) {
  for (std::size_t room = kBlockBytes + carried_;; room = kLongestLine + 1) {
    // One more byte for the line end that the last line may lack.
    if (block.storage.bytes() < room + 1) block.storage = Buffer(room + 1, allocator_);
    char *text = block.storage.as<char>();
    if (carried_) std::memcpy(text, carry_.data(), carried_);
    std::size_t length = carried_ + fill(text + carried_, room - carried_);
    if (length == 0) return false;
    if (ended_ && !is_line_end(text[length - 1])) text[length++] = '\n';
    const char *end = last_line_end(text, text + length);
    const std::size_t whole = end ? static_cast<std::size_t>(end - text) : 0, left = length - whole;
    if (left >= kLongestLine)
      throw Fault{SXT_E_FILE_FORMAT, offset_, "the line is longer than 1 MiB: this is no Matrix Market text"};
    if (left > carry_.bytes()) carry_ = Buffer(left, allocator_);
    if (left) std::memcpy(carry_.data(), text + whole, left);
    carried_ = left;
    if (!end) continue;
    block.begin = text;
    block.end = end;
    block.offset = offset_;
    offset_ += whole;
    return true;
  }
}

}  // namespace

std::unique_ptr<TextSource> open_gzip(std::unique_ptr<FileMap> map, const std::string &path,
                                      const Allocator &allocator) {
  return std::make_unique<GzipText>(std::move(map), path, allocator);
}

}  // namespace sextant::io::detail
