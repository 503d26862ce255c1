// SPDX-License-Identifier: BSD-3-Clause
#include "core/base/gzip.hpp"

#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "core/base/error.hpp"

namespace sextant {

namespace {

constexpr std::uint64_t input_bytes = std::uint64_t{256} << 10;  // of the file, read at once
// 15: the largest window; 16: gzip framing with its check sum.
constexpr int gzip_window = 15 + 16;

}  // namespace

// zlib keeps a pointer to its stream: this is never moved.
class GzipReader::State {
 public:
  State(std::unique_ptr<RegularFile> file, const std::string &path, const Allocator &allocator, sxt_status damage);
  State(const State &) = delete;
  State &operator=(const State &) = delete;
  ~State() { inflateEnd(&stream_); }
  std::size_t fill(char *to, std::size_t room);
  std::uint64_t file_bytes() const { return file_->size(); }

 private:
  bool feed();
  void next_member();
  [[noreturn]] void fail_damaged(const char *reason) const;

  std::unique_ptr<RegularFile> file_;
  std::string path_;
  sxt_status damage_;
  z_stream stream_{};
  Buffer input_;            // compressed bytes for zlib
  bool ended_ = false;      // the text
  std::uint64_t done_ = 0;  // of the text
};

GzipReader::State::State(std::unique_ptr<RegularFile> file, const std::string &path, const Allocator &allocator,
                         sxt_status damage)
    : file_(std::move(file)), path_(path), damage_(damage), input_(input_bytes, allocator) {
  require(inflateInit2(&stream_, gzip_window) == Z_OK, SXT_E_MEMORY, path, ": could not set up decompression");
}

// More compressed bytes where zlib has used up its own; false at the end of the file.
bool GzipReader::State::feed() {
  if (stream_.avail_in > 0) return true;
  const std::size_t got = file_->read(input_.as<char>(), input_.bytes());
  stream_.next_in = input_.as<Bytef>();
  stream_.avail_in = static_cast<uInt>(got);
  return got > 0;
}

// After a member comes another one, or tape padding: zeros up to the end of the file.
void GzipReader::State::next_member() {
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

void GzipReader::State::fail_damaged(const char *reason) const {
  fail(damage_, path_, ": the compressed data is damaged after ", done_, " bytes of text (",
       reason ? reason : "no reason given", ")");
}

std::size_t GzipReader::State::fill(char *to, std::size_t room) {
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
      fail(damage_, path_, ": the compressed data ends early, after ", done_, " bytes of text");
    } else if (state != Z_OK && state != Z_BUF_ERROR) {
      require(state != Z_MEM_ERROR, SXT_E_MEMORY, path_, ": no memory to decompress");
      fail_damaged(stream_.msg);
    }
  }
  return room - stream_.avail_out;
}

GzipReader::GzipReader(std::unique_ptr<RegularFile> file, const std::string &path, const Allocator &allocator,
                       sxt_status damage)
    : state_(std::make_unique<State>(std::move(file), path, allocator, damage)) {}

GzipReader::GzipReader(GzipReader &&) noexcept = default;

GzipReader::~GzipReader() = default;

std::size_t GzipReader::fill(char *to, std::size_t room) { return state_->fill(to, room); }

// Deflate shrinks no text by more than 1032 : 1.
std::uint64_t GzipReader::text_limit() const { return file_bytes() * 1032; }

std::uint64_t GzipReader::file_bytes() const { return state_->file_bytes(); }

bool is_gzip(const RegularFile &file) {
  char start[2] = "";
  return file.peek(start, sizeof start) == sizeof start && start[0] == '\x1f' && start[1] == '\x8b';
}

std::string gzip_of(std::string_view text) {
  z_stream stream{};
  constexpr int usual_memory = 8;
  require(deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, gzip_window, usual_memory, Z_DEFAULT_STRATEGY) == Z_OK,
          SXT_E_MEMORY, "could not set up compression");
  const std::unique_ptr<z_stream, int (*)(z_stream *)> owner(&stream, deflateEnd);
  std::string packed(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef *>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  require(deflate(&stream, Z_FINISH) == Z_STREAM_END, SXT_E_INTERNAL, "a text of ", text.size(),
          " bytes could not be compressed");
  packed.erase(packed.size() - stream.avail_out);
  return packed;
}

}  // namespace sextant
