// SPDX-License-Identifier: BSD-3-Clause
// Fuzzes the Matrix Market reader: any bytes must give a matrix in canonical form or an Error, and leak nothing.
// Built with -fsanitize=fuzzer this is a libFuzzer target; with SEXTANT_FUZZ_REPLAY it is a program that runs the files
// (and the files of the folders) named as its arguments once.
#include <dirent.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "core/io/matrix_market.hpp"

namespace {

using namespace sextant;

// Sizes in a header may need more memory than the machine has: this limit refuses them early.
constexpr std::uint64_t kMostBytes = std::uint64_t{64} << 20;
std::uint64_t held_blocks = 0;

void *get(void *, std::uint64_t bytes, std::uint64_t alignment) {
  void *memory = bytes <= kMostBytes ? std::aligned_alloc(alignment, bytes) : nullptr;
  if (memory) __atomic_add_fetch(&held_blocks, 1, __ATOMIC_RELAXED);
  return memory;
}

void put(void *, void *memory) {
  __atomic_sub_fetch(&held_blocks, 1, __ATOMIC_RELAXED);
  std::free(memory);
}

void check(bool condition, const char *what) {
  if (condition) return;
  std::fprintf(stderr, "fuzz_matrix_market: %s\n", what);
  std::abort();
}

template <class P, class C>
void check_rows(const CsrArrays &csr) {
  const P *start = csr.row_ptr.as<P>();
  const C *col = csr.col.as<C>();
  check(start[0] == 0 && start[csr.rows] == csr.nnz, "row offsets do not span the entries");
  for (std::int64_t r = 0; r < csr.rows; ++r) {
    check(start[r] <= start[r + 1], "row offsets fall");
    for (P k = start[r]; k < start[r + 1]; ++k)
      check(col[k] >= 0 && col[k] < csr.cols && (k == start[r] || col[k - 1] < col[k]), "a row is not canonical");
  }
}

void check_canonical(const CsrArrays &csr) {
  with_index_type(csr.offset_type, [&](auto offset) {
    with_index_type(csr.index_type, [&](auto index) {
      check_rows<typename decltype(offset)::type, typename decltype(index)::type>(csr);
    });
  });
}

void read_one(const std::string &path, const io::ReadOptions &options) {
  const Allocator allocator{nullptr, get, put};
  try {
    check_canonical(io::read_matrix(path, options, allocator).csr);
  } catch (const Error &error) {
    check(error.status() != SXT_OK && error.what()[0] != '\0', "an error without a status or a sentence");
  }
  try {
    check(io::read_vector(path, options, allocator).n >= 0, "a vector of negative length");
  } catch (const Error &) {
  }
  check(held_blocks == 0, "memory was leaked");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  const int file = memfd_create("fuzz", MFD_CLOEXEC);
  if (file < 0) return 0;
  const bool written = write(file, data, size) == static_cast<ssize_t>(size);
  const std::string path = "/proc/self/fd/" + std::to_string(file);
  io::ReadOptions options;
  if (written) {
    read_one(path, options);
    options.value_type = SXT_C64;
    options.sum_duplicates = options.check_finite = false;
    read_one(path, options);
  }
  close(file);
  return 0;
}

#ifdef SEXTANT_FUZZ_REPLAY
namespace {

int replayed = 0;

void replay(const std::string &path) {
  if (DIR *dir = opendir(path.c_str())) {
    while (const dirent *entry = readdir(dir))
      if (entry->d_name[0] != '.') replay(path + "/" + entry->d_name);
    closedir(dir);
    return;
  }
  std::FILE *file = std::fopen(path.c_str(), "rb");
  check(file != nullptr, ("cannot open " + path).c_str());
  std::string content;
  char buffer[65536];
  for (std::size_t n; (n = std::fread(buffer, 1, sizeof buffer, file)) > 0;) content.append(buffer, n);
  std::fclose(file);
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t *>(content.data()), content.size());
  ++replayed;
}

}  // namespace

int main(int count, char **arguments) {
  for (int i = 1; i < count; ++i) replay(arguments[i]);
  std::printf("%d files replayed\n", replayed);
  // A call that replays no file is an error.
  return replayed > 0 ? 0 : 1;
}
#endif
