// SPDX-License-Identifier: BSD-3-Clause
// What a program hands the driver as a module: PTX text, a fat binary with PTX and machine code, or machine code alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sextant::retune::image {

enum class Packing { none, lz4, zstd };

struct Ptx {
  int target = 0;  // 90 for compute_90; 0 where only the text says it
  Packing packing = Packing::none;
  std::string bytes;
  std::size_t unpacked_size = 0;
};

struct Image {
  std::vector<Ptx> ptx;
  bool machine_code = false;
  std::string problem;     // what was not understood; empty: all of it was
  std::uint64_t hash = 0;  // of the PTX, as it lies there
};

// data is an image that the driver has accepted: PTX text that ends with a zero byte, a fat binary or its wrapper, or
// an ELF file, of which nothing but the first bytes are read.
Image read(const void *data);
// The same of a file's content.
Image read_bytes(const std::string &content);

// The text; false with a reason where it cannot be unpacked. Thread-safe.
bool unpack(const Ptx &ptx, std::string &text, std::string &problem);

std::uint64_t hash(const void *data, std::size_t bytes, std::uint64_t seed = 0xcbf29ce484222325u);

}  // namespace sextant::retune::image
