// SPDX-License-Identifier: BSD-3-Clause
#include "report/text_file.hpp"

#include <zlib.h>

#include <cstddef>
#include <new>
#include <vector>

namespace tool {

// zlib keeps a pointer to its stream: this is never moved.
class TextFile::Compressor {
 public:
  explicit Compressor(OutputFile &file) : file_(file), out_(std::size_t{1} << 18) {
    constexpr int gzip_window = 15 + 16;  // the largest window, in gzip's framing
    if (deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, gzip_window, 8, Z_DEFAULT_STRATEGY) != Z_OK)
      throw std::bad_alloc();
  }
  Compressor(const Compressor &) = delete;
  Compressor &operator=(const Compressor &) = delete;
  ~Compressor() { deflateEnd(&stream_); }

  void write(std::string_view text, bool last) {
    constexpr std::size_t most = std::size_t{1} << 30;  // zlib counts in 32 bits
    do {
      const std::string_view piece = text.substr(0, most);
      text.remove_prefix(piece.size());
      deflate_piece(piece, last && text.empty());
    } while (!text.empty());
  }

 private:
  void deflate_piece(std::string_view piece, bool last) {
    stream_.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(piece.data()));  // zlib reads it only
    stream_.avail_in = static_cast<uInt>(piece.size());
    do {
      stream_.next_out = reinterpret_cast<Bytef *>(out_.data());
      stream_.avail_out = static_cast<uInt>(out_.size());
      deflate(&stream_, last ? Z_FINISH : Z_NO_FLUSH);
      file_.write({out_.data(), out_.size() - stream_.avail_out});
    } while (stream_.avail_out == 0);
  }

  OutputFile &file_;
  z_stream stream_{};
  std::vector<char> out_;
};

TextFile::TextFile(const std::string &path) : file_(path) {
  if (path.ends_with(".gz")) compressor_ = std::make_unique<Compressor>(file_);
}

TextFile::~TextFile() = default;

void TextFile::write(std::string_view text) { compressor_ ? compressor_->write(text, false) : file_.write(text); }

void TextFile::commit() {
  if (compressor_) compressor_->write({}, true);
  file_.commit();
}

}  // namespace tool
