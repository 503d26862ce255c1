// SPDX-License-Identifier: BSD-3-Clause
// Gzip text, inflated as it is asked for. Several members in one file (as pigz and bgzip write them) follow each other.
#include <zlib.h>

#include <algorithm>
#include <cstdint>

#include "core/io/mm_text.hpp"

namespace sextant::io::detail {

namespace {

class GzipText : public Characters {
 public:
  GzipText(std::unique_ptr<RegularFile> file, const std::string &path, const Allocator &allocator);
  GzipText(const GzipText &) = delete;
  GzipText &operator=(const GzipText &) = delete;
  ~GzipText() override { inflateEnd(&stream_); }
  std::size_t fill(char *to, std::size_t room) override;
  // Deflate shrinks no text by more than 1032 : 1.
  std::uint64_t text_limit() const override { return file_->size() * 1032; }
  std::uint64_t file_bytes() const override { return file_->size(); }

 private:
  bool feed();
  void next_member();
  [[noreturn]] void fail_damaged(const char *reason) const;

  std::unique_ptr<RegularFile> file_;
  std::string path_;
  z_stream stream_{};
  Buffer input_;            // compressed bytes for zlib
  bool ended_ = false;      // the text
  std::uint64_t done_ = 0;  // of the text
};

GzipText::GzipText(std::unique_ptr<RegularFile> file, const std::string &path, const Allocator &allocator)
    : file_(std::move(file)), path_(path), input_(kBlockBytes, allocator) {
  // 15: the largest window; 16: gzip framing with its check sum.
  require(inflateInit2(&stream_, 15 + 16) == Z_OK, SXT_E_MEMORY, path, ": could not set up decompression");
}

// More compressed bytes where zlib has used up its own; false at the end of the file.
bool GzipText::feed() {
  if (stream_.avail_in > 0) return true;
  const std::size_t got = file_->read(input_.as<char>(), input_.bytes());
  stream_.next_in = input_.as<Bytef>();
  stream_.avail_in = static_cast<uInt>(got);
  return got > 0;
}

// After a member comes another one, or tape padding: zeros up to the end of the file.
void GzipText::next_member() {
  bool padded = false;
  while (feed()) {
    const Bytef *const begin = stream_.next_in, *const end = begin + stream_.avail_in;
    const Bytef *const other = std::find_if(begin, end, [](Bytef byte) { return byte != 0; });
    padded = padded || other != begin;
    if (other != end) {
      if (padded) fail_damaged("incorrect header check");
      require(inflateReset(&stream_) == Z_OK, SXT_E_INTERNAL, path_, ": could not restart decompression");
      return;
    }
    stream_.avail_in = 0;
  }
  ended_ = true;
}

void GzipText::fail_damaged(const char *reason) const {
  fail(SXT_E_FILE_READ, path_, ": the compressed data is damaged after ", done_, " bytes of text (",
       reason ? reason : "no reason given", ")");
}

std::size_t GzipText::fill(char *to, std::size_t room) {
  const std::uint64_t before = done_;
  stream_.next_out = reinterpret_cast<Bytef *>(to);
  stream_.avail_out = static_cast<uInt>(room);
  while (stream_.avail_out > 0 && !ended_) {
    const bool fed = feed();
    const int state = inflate(&stream_, Z_NO_FLUSH);
    done_ = before + (room - stream_.avail_out);
    if (state == Z_STREAM_END) {
      next_member();
    } else if (state == Z_BUF_ERROR && !fed) {
      fail(SXT_E_FILE_READ, path_, ": the compressed data ends early, after ", done_, " bytes of text");
    } else if (state != Z_OK && state != Z_BUF_ERROR) {
      require(state != Z_MEM_ERROR, SXT_E_MEMORY, path_, ": no memory to decompress");
      fail_damaged(stream_.msg);
    }
  }
  return room - stream_.avail_out;
}

}  // namespace

std::unique_ptr<Characters> open_gzip(std::unique_ptr<RegularFile> file, const std::string &path,
                                      const Allocator &allocator) {
  return std::make_unique<GzipText>(std::move(file), path, allocator);
}

}  // namespace sextant::io::detail
