// SPDX-License-Identifier: BSD-3-Clause
// Helpers for the tests of assembly and of the Matrix Market reader: temporary files, a matrix as a map that is easy to
// compare, an allocator that counts.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>

#include "core/io/matrix_market.hpp"

namespace sextant::test {

// A file with this content, removed at the end of the scope.
class TextFile {
 public:
  explicit TextFile(const std::string &content, const char *suffix = ".mtx") {
    static std::atomic<int> counter{0};
    path_ = testing::TempDir() + "sextant-" + std::to_string(getpid()) + "-" + std::to_string(counter++) + suffix;
    std::FILE *file = std::fopen(path_.c_str(), "wb");
    if (!file || std::fwrite(content.data(), 1, content.size(), file) != content.size() || std::fclose(file) != 0)
      throw std::runtime_error("cannot write " + path_);
  }
  TextFile(const TextFile &) = delete;
  TextFile &operator=(const TextFile &) = delete;
  ~TextFile() { std::remove(path_.c_str()); }
  const std::string &path() const { return path_; }

 private:
  std::string path_;
};

inline std::string read_file(const std::string &path) {
  std::string content;
  if (std::FILE *file = std::fopen(path.c_str(), "rb")) {
    char buffer[4096];
    for (std::size_t n; (n = std::fread(buffer, 1, sizeof buffer, file)) > 0;) content.append(buffer, n);
    std::fclose(file);
  }
  return content;
}

// Entries by (row, column), zero-based.
using Entries = std::map<std::pair<std::int64_t, std::int64_t>, std::complex<double>>;

// The entries of a CSR matrix. Fails the test unless it is canonical: offsets from 0 to nnz, columns increasing.
inline Entries entries_of(const CsrArrays &csr) {
  Entries out;
  with_index_type(csr.offset_type, [&](auto offset) {
    with_index_type(csr.index_type, [&](auto index) {
      with_value_type(csr.value_type, [&](auto value) {
        const auto *start = csr.row_ptr.as<typename decltype(offset)::type>();
        const auto *col = csr.col.as<typename decltype(index)::type>();
        const auto *values = csr.values.as<typename decltype(value)::type>();
        EXPECT_EQ(start[0], 0);
        EXPECT_EQ(start[csr.rows], csr.nnz);
        for (std::int64_t r = 0; r < csr.rows; ++r)
          for (auto k = start[r]; k < start[r + 1]; ++k) {
            EXPECT_TRUE(k == start[r] || col[k] > col[k - 1]) << "row " << r << " is not sorted";
            EXPECT_TRUE(col[k] >= 0 && col[k] < csr.cols) << "row " << r;
            out[{r, col[k]}] = std::complex<double>(values[k]);
          }
      });
    });
  });
  EXPECT_EQ(static_cast<std::int64_t>(out.size()), csr.nnz);
  return out;
}

// The bytes of a matrix, for comparing two bit by bit.
inline std::string bytes_of(const CsrArrays &csr) {
  std::string out;
  for (const Buffer *buffer : {&csr.row_ptr, &csr.col, &csr.values})
    out.append(static_cast<const char *>(buffer->data()), buffer->bytes());
  return out;
}

// Runs f and returns its error's status and sentence; SXT_OK if there was none.
template <class F>
std::pair<sxt_status, std::string> error_of(F &&f) {
  try {
    f();
  } catch (const Error &error) {
    return {error.status(), error.what()};
  }
  return {SXT_OK, "no error"};
}

// Counts the bytes held through it and their peak; refuses what would exceed a limit.
class CountingAllocator {
 public:
  explicit CountingAllocator(std::int64_t limit = std::int64_t{1} << 60) : limit_(limit) {}
  CountingAllocator(const CountingAllocator &) = delete;
  CountingAllocator &operator=(const CountingAllocator &) = delete;
  Allocator hooks() { return {this, get, put}; }
  std::int64_t held() const { return held_; }
  std::int64_t peak() const { return peak_; }
  void restart() { peak_ = held_.load(); }

 private:
  // The size stands in front of the memory handed out.
  static constexpr std::uint64_t kFront = 64;
  static void *get(void *user, std::uint64_t bytes, std::uint64_t) {
    auto *self = static_cast<CountingAllocator *>(user);
    const std::int64_t held = self->held_ += static_cast<std::int64_t>(bytes);
    char *memory = held <= self->limit_
                       ? static_cast<char *>(std::aligned_alloc(64, (bytes + 2 * kFront - 1) / 64 * 64))
                       : nullptr;
    if (!memory) {
      self->held_ -= static_cast<std::int64_t>(bytes);
      return nullptr;
    }
    *reinterpret_cast<std::uint64_t *>(memory) = bytes;
    for (std::int64_t peak = self->peak_; peak < held && !self->peak_.compare_exchange_weak(peak, held);) {
    }
    return memory + kFront;
  }
  static void put(void *user, void *memory) {
    char *front = static_cast<char *>(memory) - kFront;
    static_cast<CountingAllocator *>(user)->held_ -=
        static_cast<std::int64_t>(*reinterpret_cast<std::uint64_t *>(front));
    std::free(front);
  }
  std::int64_t limit_;
  std::atomic<std::int64_t> held_{0}, peak_{0};
};

}  // namespace sextant::test
