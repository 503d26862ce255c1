// SPDX-License-Identifier: BSD-3-Clause
// Module images: text, fat binaries put together by hand, compressed ones, and damaged ones.
#include <dlfcn.h>

#include <cstdint>
#include <cstring>

#include "image/image.hpp"
#include "support.hpp"

namespace {

using namespace retune_test;
using namespace sextant::retune::image;

struct Entry {
  std::uint16_t kind = 1, version = 0x101;
  std::uint32_t header_size = 64;
  std::uint64_t size = 0;
  std::uint32_t packed_size = 0, reserved = 0;
  std::uint16_t minor = 4, major = 8;
  std::uint32_t target = 80, name_offset = 0, name_size = 0;
  std::uint64_t flags = 0x11, zero = 0, unpacked_size = 0;
};

std::string fat_binary(const std::vector<std::pair<Entry, std::string>> &entries) {
  std::string body;
  for (auto [head, payload] : entries) {
    head.size = payload.size();
    body.append(reinterpret_cast<const char *>(&head), sizeof head);
    body += payload;
  }
  struct {
    std::uint32_t magic = 0xba55ed50;
    std::uint16_t version = 1, header_size = 16;
    std::uint64_t size;
  } header;
  header.size = body.size();
  return std::string(reinterpret_cast<const char *>(&header), 16) + body;
}

const std::string text = kernel(index_and_bound + end);

TEST(RetuneImage, TextAndMachineCode) {
  EXPECT_EQ(read(text.c_str()).ptx.size(), 1u);
  EXPECT_EQ(read(text.c_str()).ptx[0].bytes, text);
  EXPECT_TRUE(read("\177ELF\2\1\1\0").machine_code);
  EXPECT_TRUE(read("\177ELF\2\1\1\0").ptx.empty());
  for (const void *image :
       {static_cast<const void *>(""), static_cast<const void *>("a"), static_cast<const void *>("\1\0")})
    EXPECT_FALSE(read(image).problem.empty());
  EXPECT_FALSE(read(nullptr).problem.empty());
}

TEST(RetuneImage, FatBinaries) {
  Entry elf;
  elf.kind = 2, elf.target = 90;
  Entry unknown;
  unknown.kind = 16;
  const Image image =
      read_bytes(fat_binary({{elf, std::string(48, 'e')}, {Entry{}, text}, {unknown, std::string(8, 'u')}}));
  EXPECT_EQ(image.problem, "");
  EXPECT_TRUE(image.machine_code);
  ASSERT_EQ(image.ptx.size(), 1u);
  EXPECT_EQ(image.ptx[0].target, 80);
  std::string unpacked, problem;
  EXPECT_TRUE(unpack(image.ptx[0], unpacked, problem));
  EXPECT_EQ(unpacked, text);
}

TEST(RetuneImage, DamagedFatBinaries) {
  const std::string whole = fat_binary({{Entry{}, text}});
  for (std::size_t length = 16; length < whole.size(); length += 7)
    EXPECT_FALSE(read_bytes(whole.substr(0, length)).problem.empty()) << length;
  std::string version = whole;
  version[4] = 9;
  EXPECT_FALSE(read_bytes(version).problem.empty());
  std::string long_entry = whole;
  const std::uint64_t too_long = ~std::uint64_t{0} - 3;
  std::memcpy(&long_entry[16 + 8], &too_long, 8);
  EXPECT_FALSE(read_bytes(long_entry).problem.empty());
  Entry packed;
  packed.flags = 0x2011, packed.packed_size = 1000000, packed.unpacked_size = 10;
  EXPECT_FALSE(read_bytes(fat_binary({{packed, text}})).problem.empty());
  packed.packed_size = 20, packed.unpacked_size = std::uint64_t{1} << 40;
  EXPECT_FALSE(read_bytes(fat_binary({{packed, text}})).problem.empty());
}

// Packed by the libraries themselves, where they are installed.
template <typename Pack>
void pack_and_read(const char *library, const char *name, std::uint64_t flag, const Pack &pack) {
  void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (!handle) GTEST_SKIP() << library << " is not installed";
  std::string packed(text.size() + 1000, '\0');
  packed.resize(pack(dlsym(handle, name), packed));
  Entry head;
  head.flags = 0x11 | flag, head.packed_size = static_cast<std::uint32_t>(packed.size()),
  head.unpacked_size = text.size();
  const Image image = read_bytes(fat_binary({{head, packed + std::string(5, '\0')}}));
  ASSERT_EQ(image.ptx.size(), 1u);
  std::string unpacked, problem;
  EXPECT_TRUE(unpack(image.ptx[0], unpacked, problem)) << problem;
  EXPECT_EQ(unpacked, text);
  for (std::size_t at = 0; at < packed.size(); at += 3) {
    Ptx damaged = image.ptx[0];
    damaged.bytes[at] = static_cast<char>(~damaged.bytes[at]);
    if (!unpack(damaged, unpacked, problem)) {
      EXPECT_FALSE(problem.empty());
    }
  }
}

TEST(RetuneImage, Lz4) {
  pack_and_read("liblz4.so.1", "LZ4_compress_default", 0x2000, [](void *function, std::string &to) {
    const auto compress = reinterpret_cast<int (*)(const char *, char *, int, int)>(function);
    return static_cast<std::size_t>(
        compress(text.data(), to.data(), static_cast<int>(text.size()), static_cast<int>(to.size())));
  });
}

TEST(RetuneImage, Zstd) {
  pack_and_read("libzstd.so.1", "ZSTD_compress", 0x8000, [](void *function, std::string &to) {
    const auto compress =
        reinterpret_cast<std::size_t (*)(void *, std::size_t, const void *, std::size_t, int)>(function);
    return compress(to.data(), to.size(), text.data(), text.size(), 3);
  });
}

}  // namespace
