// SPDX-License-Identifier: BSD-3-Clause
// LZ4 and zstd by their libraries, opened where an image needs one and invisible to the program, which may have other
// versions of them.
#include <dlfcn.h>

#include <mutex>

#include "image/image.hpp"

namespace sextant::retune::image {
namespace {

using Lz4 = int (*)(const char *from, char *to, int bytes, int capacity);
using Zstd = std::size_t (*)(void *to, std::size_t capacity, const void *from, std::size_t bytes);

void *function(const char *library, const char *name) {
  void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  return handle ? dlsym(handle, name) : nullptr;
}

bool unpack_lz4(const Ptx &ptx, std::string &text) {
  static const auto decompress = reinterpret_cast<Lz4>(function("liblz4.so.1", "LZ4_decompress_safe"));
  if (!decompress) return false;
  const int got =
      decompress(ptx.bytes.data(), text.data(), static_cast<int>(ptx.bytes.size()), static_cast<int>(text.size()));
  return got >= 0 && static_cast<std::size_t>(got) == text.size();
}

bool unpack_zstd(const Ptx &ptx, std::string &text) {
  static const auto decompress = reinterpret_cast<Zstd>(function("libzstd.so.1", "ZSTD_decompress"));
  // An error is a number beyond every size.
  return decompress && decompress(text.data(), text.size(), ptx.bytes.data(), ptx.bytes.size()) == text.size();
}

}  // namespace

bool unpack(const Ptx &ptx, std::string &text, std::string &problem) {
  text.clear();
  if (ptx.packing == Packing::none) {
    text = ptx.bytes;
  } else {
    text.resize(ptx.unpacked_size);
    if (ptx.packing == Packing::lz4 && !unpack_lz4(ptx, text))
      return problem = "its PTX is compressed by LZ4 and could not be unpacked (library liblz4.so.1)", false;
    if (ptx.packing == Packing::zstd && !unpack_zstd(ptx, text))
      return problem = "its PTX is compressed by zstd and could not be unpacked (library libzstd.so.1)", false;
  }
  text.resize(text.find('\0') == text.npos ? text.size() : text.find('\0'));
  return true;
}

}  // namespace sextant::retune::image
