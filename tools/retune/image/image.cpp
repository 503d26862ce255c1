// SPDX-License-Identifier: BSD-3-Clause
// The layout of fat binaries is that of nvcc's fatbinary since CUDA 5, found by taking apart what it writes: a header,
// and for each entry a head with its kind, sizes, architecture and flags.
#include "image/image.hpp"

#include <cstring>

namespace sextant::retune::image {
namespace {

constexpr std::uint32_t wrapper_magic = 0x466243b1, fat_magic = 0xba55ed50, elf_magic = 0x464c457f;
constexpr std::uint16_t kind_ptx = 1, kind_elf = 2;
constexpr std::uint64_t flag_lz4 = 0x2000, flag_zstd = 0x8000;
constexpr std::uint64_t most_text = std::uint64_t{1} << 28;  // bytes of one PTX text that is looked at

struct FatHeader {
  std::uint32_t magic;
  std::uint16_t version, header_size;
  std::uint64_t size;  // of all entries
};
struct EntryHeader {
  std::uint16_t kind, version;
  std::uint32_t header_size;
  std::uint64_t size;  // with padding
  std::uint32_t packed_size, reserved;
  std::uint16_t minor, major;
  std::uint32_t target, name_offset, name_size;
  std::uint64_t flags, zero, unpacked_size;
};
static_assert(sizeof(FatHeader) == 16 && sizeof(EntryHeader) == 64);
struct Wrapper {
  std::uint32_t magic, version;
  const void *data, *other;
};

template <typename T>
T load(const unsigned char *from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

void add_ptx(const EntryHeader &head, const unsigned char *payload, Image &image) {
  Ptx ptx;
  ptx.target = static_cast<int>(head.target);
  ptx.packing = head.flags & flag_zstd ? Packing::zstd : head.flags & flag_lz4 ? Packing::lz4 : Packing::none;
  const std::uint64_t packed = ptx.packing == Packing::none ? head.size : head.packed_size;
  const std::uint64_t unpacked = ptx.packing == Packing::none ? head.size : head.unpacked_size;
  if (packed > head.size || unpacked > most_text) {
    image.problem = "a PTX entry of its fat binary has sizes that cannot be right";
    return;
  }
  ptx.bytes.assign(reinterpret_cast<const char *>(payload), packed);
  ptx.unpacked_size = unpacked;
  image.hash = hash(ptx.bytes.data(), ptx.bytes.size(), image.hash);
  image.ptx.push_back(std::move(ptx));
}

Image fat_binary(const unsigned char *data, std::uint64_t most) {
  Image image;
  const auto header = load<FatHeader>(data);
  image.hash = hash(nullptr, 0);
  if (header.version != 1 || header.header_size != sizeof header || header.size > most - sizeof header) {
    image.problem = "its fat binary is of a version that is not known";
    return image;
  }
  const unsigned char *at = data + sizeof header, *const end = at + header.size;
  while (static_cast<std::size_t>(end - at) >= sizeof(EntryHeader)) {
    const auto head = load<EntryHeader>(at);
    const auto left = static_cast<std::uint64_t>(end - at);
    if (head.header_size < sizeof head || head.header_size > left || head.size > left - head.header_size) {
      image.problem = "an entry of its fat binary ends behind the fat binary";
      return image;
    }
    if (head.kind == kind_ptx)
      add_ptx(head, at + head.header_size, image);
    else if (head.kind == kind_elf)
      image.machine_code = true;
    if (!image.problem.empty()) return image;
    at += head.header_size + head.size;
  }
  return image;
}

Image ptx_text(const char *text, std::size_t size) {
  Image image;
  if (size > most_text) {
    image.problem = "its PTX is longer than 256 MiB";
    return image;
  }
  Ptx ptx;
  ptx.bytes.assign(text, size);
  ptx.unpacked_size = size;
  image.hash = hash(text, size);
  image.ptx.push_back(std::move(ptx));
  return image;
}

}  // namespace

std::uint64_t hash(const void *data, std::size_t bytes, std::uint64_t seed) {
  // FNV-1a
  const auto *at = static_cast<const unsigned char *>(data);
  for (std::size_t i = 0; i < bytes; ++i) seed = (seed ^ at[i]) * 0x100000001b3u;
  return seed;
}

Image read(const void *data) {
  const auto *bytes = static_cast<const unsigned char *>(data);
  if (!bytes) return {{}, false, "there is no image", 0};
  // Text may be shorter than a magic number.
  if (bytes[0] == '\0' || bytes[1] == '\0' || bytes[2] == '\0') return {{}, false, "its image is not understood", 0};
  switch (load<std::uint32_t>(bytes)) {
    case wrapper_magic: {
      const auto wrapper = load<Wrapper>(bytes);
      const auto *inner = static_cast<const unsigned char *>(wrapper.data);
      if (!inner || load<std::uint32_t>(inner) != fat_magic) return {{}, false, "its image is not understood", 0};
      return fat_binary(inner, UINT64_MAX);
    }
    case fat_magic: return fat_binary(bytes, UINT64_MAX);
    case elf_magic: return {{}, true, "", 0};
    default: return ptx_text(static_cast<const char *>(data), std::strlen(static_cast<const char *>(data)));
  }
}

Image read_bytes(const std::string &content) {
  const auto *bytes = reinterpret_cast<const unsigned char *>(content.data());
  if (content.size() < sizeof(FatHeader)) return {{}, false, "its image is not understood", 0};
  switch (load<std::uint32_t>(bytes)) {
    case fat_magic: return fat_binary(bytes, content.size());
    case elf_magic: return {{}, true, "", 0};
    case wrapper_magic: return {{}, false, "its image is not understood", 0};
    default: return ptx_text(content.data(), std::strlen(content.c_str()));
  }
}

}  // namespace sextant::retune::image
