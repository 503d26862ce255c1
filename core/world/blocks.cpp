// SPDX-License-Identifier: BSD-3-Clause
#include "core/world/blocks.hpp"

#include <array>
#include <bit>
#include <cstring>
#include <memory>

namespace sextant {

namespace {

constexpr std::int64_t narrow_limit = std::int64_t{1} << 31;

void put_index(void *indices, sxt_index_type type, std::int64_t k, std::int64_t value) noexcept {
  if (type == SXT_I32)
    static_cast<std::int32_t *>(indices)[k] = static_cast<std::int32_t>(value);
  else
    static_cast<std::int64_t *>(indices)[k] = value;
}

// Room for so many entries, in the types that canonical CSR has; the first offset is 0.
CsrArrays room(std::int64_t rows, std::int64_t cols, std::int64_t nnz, sxt_value_type type,
               const Allocator &allocator) {
  CsrArrays csr;
  csr.rows = rows;
  csr.cols = cols;
  csr.nnz = nnz;
  csr.value_type = type;
  csr.index_type = cols < narrow_limit ? SXT_I32 : SXT_I64;
  csr.offset_type = nnz < narrow_limit ? SXT_I32 : SXT_I64;
  csr.row_ptr = Buffer(static_cast<std::uint64_t>((rows + 1) * index_bytes(csr.offset_type)), allocator);
  csr.col = Buffer(static_cast<std::uint64_t>(nnz * index_bytes(csr.index_type)), allocator);
  csr.values = Buffer(static_cast<std::uint64_t>(nnz * value_bytes(type)), allocator);
  put_index(csr.row_ptr.data(), csr.offset_type, 0, 0);
  return csr;
}

// Calls f(row, k, column) for each entry, and row_end(row) after each row; rows are local.
template <class F, class E>
void each_entry(const RowRange &range, F &&f, E &&row_end) {
  const CsrArrays &csr = *range.rows;
  for (std::int64_t row = range.first; row < range.last; ++row) {
    for (std::int64_t k = offset_at(csr, row); k < offset_at(csr, row + 1); ++k)
      f(row - range.first, k, column_at(csr, k));
    row_end(row - range.first);
  }
}

// Columns that were met, and the place of each among them in ascending order: bits in pages of columns, each made when
// it is first touched, so that both take a time by the entries and memory by the pages alone.
class Columns {
 public:
  explicit Columns(std::int64_t cols) : pages_(static_cast<std::size_t>(cols / page_columns + 1)) {}

  void add(std::int64_t column) {
    std::unique_ptr<Page> &page = pages_[static_cast<std::size_t>(column / page_columns)];
    if (!page) page = std::make_unique<Page>();
    page->words[word_of(column)] |= bit_of(column);
  }
  // All that were added, ascending; place() knows them from then on.
  std::vector<std::int64_t> number() {
    std::vector<std::int64_t> out;
    for (std::size_t p = 0; p < pages_.size(); ++p) {
      if (!pages_[p]) continue;
      for (std::size_t w = 0; w < words_a_page; ++w) {
        pages_[p]->before[w] = static_cast<std::int64_t>(out.size());
        const auto first = static_cast<std::int64_t>(p) * page_columns + static_cast<std::int64_t>(64 * w);
        for (std::uint64_t left = pages_[p]->words[w]; left != 0; left &= left - 1)
          out.push_back(first + std::countr_zero(left));
      }
    }
    return out;
  }
  std::int64_t place(std::int64_t column) const noexcept {
    const Page &page = *pages_[static_cast<std::size_t>(column / page_columns)];
    const std::size_t word = word_of(column);
    return page.before[word] + std::popcount(page.words[word] & (bit_of(column) - 1));
  }

 private:
  static constexpr std::size_t words_a_page = 64;
  static constexpr std::int64_t page_columns = 64 * words_a_page;
  struct Page {
    std::array<std::uint64_t, words_a_page> words{};
    std::array<std::int64_t, words_a_page> before{};
  };
  static std::size_t word_of(std::int64_t column) noexcept {
    return static_cast<std::size_t>(column % page_columns / 64);
  }
  static std::uint64_t bit_of(std::int64_t column) noexcept { return std::uint64_t{1} << (column % 64); }

  std::vector<std::unique_ptr<Page>> pages_;
};

struct Counted {
  explicit Counted(std::int64_t cols) : columns(cols) {}
  std::int64_t interior = 0;
  Columns columns;
  std::vector<std::int64_t> ghosts, boundary_rows;
  std::int64_t boundary = 0;
};

Counted count(const RowRange &range) {
  Counted out(range.rows->cols);
  each_entry(
      range,
      [&](std::int64_t row, std::int64_t, std::int64_t column) {
        if (range.owns(column)) return static_cast<void>(++out.interior);
        ++out.boundary;
        out.columns.add(column);
        if (out.boundary_rows.empty() || out.boundary_rows.back() != row) out.boundary_rows.push_back(row);
      },
      [](std::int64_t) {});
  out.ghosts = out.columns.number();
  return out;
}

}  // namespace

std::int64_t index_at(const void *indices, sxt_index_type type, std::int64_t k) noexcept {
  return type == SXT_I32 ? static_cast<const std::int32_t *>(indices)[k]
                         : static_cast<const std::int64_t *>(indices)[k];
}

BlockArrays split_rows(const RowRange &range, const Allocator &allocator) {
  Counted counted = count(range);
  const sxt_value_type type = range.rows->value_type;
  BlockArrays out;
  out.interior = room(range.count(), range.own_end - range.own_begin, counted.interior, type, allocator);
  out.boundary = room(static_cast<std::int64_t>(counted.boundary_rows.size()),
                      static_cast<std::int64_t>(counted.ghosts.size()), counted.boundary, type, allocator);
  std::int64_t own = 0, other = 0, rows_done = 0;
  each_entry(
      range,
      [&](std::int64_t, std::int64_t, std::int64_t column) {
        if (range.owns(column))
          return put_index(out.interior.col.data(), out.interior.index_type, own++, column - range.own_begin);
        put_index(out.boundary.col.data(), out.boundary.index_type, other++, counted.columns.place(column));
      },
      [&](std::int64_t row) {
        put_index(out.interior.row_ptr.data(), out.interior.offset_type, row + 1, own);
        if (rows_done < out.boundary.rows && counted.boundary_rows[static_cast<std::size_t>(rows_done)] == row)
          put_index(out.boundary.row_ptr.data(), out.boundary.offset_type, ++rows_done, other);
      });
  out.boundary_rows = std::move(counted.boundary_rows);
  out.ghosts = std::move(counted.ghosts);
  split_values(range, out.interior.values.data(), out.boundary.values.data());
  return out;
}

void split_values(const RowRange &range, void *interior, void *boundary) {
  const auto each = static_cast<std::size_t>(value_bytes(range.rows->value_type));
  const char *const from = range.rows->values.as<char>();
  char *own = static_cast<char *>(interior), *other = static_cast<char *>(boundary);
  each_entry(
      range,
      [&](std::int64_t, std::int64_t k, std::int64_t column) {
        char *&to = range.owns(column) ? own : other;
        if (!to) return;
        std::memcpy(to, from + static_cast<std::size_t>(k) * each, each);
        to += each;
      },
      [](std::int64_t) {});
}

namespace {

// Calls f(block, from, to, shift) for the runs of entries of which the joined rows consist, and row_end(row).
template <class F, class E>
void each_run(const CsrArrays &interior, const CsrArrays &boundary, const std::vector<std::int64_t> &boundary_rows,
              F &&f, E &&row_end) {
  std::size_t next = 0;
  for (std::int64_t row = 0; row < interior.rows; ++row) {
    f(interior, offset_at(interior, row), offset_at(interior, row + 1), std::int64_t{0});
    if (next < boundary_rows.size() && boundary_rows[next] == row) {
      const auto k = static_cast<std::int64_t>(next++);
      f(boundary, offset_at(boundary, k), offset_at(boundary, k + 1), interior.cols);
    }
    row_end(row);
  }
}

}  // namespace

CsrArrays join_blocks(const CsrArrays &interior, const CsrArrays &boundary,
                      const std::vector<std::int64_t> &boundary_rows, const Allocator &allocator) {
  CsrArrays out =
      room(interior.rows, interior.cols + boundary.cols, interior.nnz + boundary.nnz, interior.value_type, allocator);
  std::int64_t at = 0;
  each_run(
      interior, boundary, boundary_rows,
      [&](const CsrArrays &block, std::int64_t from, std::int64_t to, std::int64_t shift) {
        for (std::int64_t k = from; k < to; ++k)
          put_index(out.col.data(), out.index_type, at++, column_at(block, k) + shift);
      },
      [&](std::int64_t row) { put_index(out.row_ptr.data(), out.offset_type, row + 1, at); });
  join_values(interior, boundary, boundary_rows, out.values.data());
  return out;
}

void join_values(const CsrArrays &interior, const CsrArrays &boundary, const std::vector<std::int64_t> &boundary_rows,
                 void *joined) {
  const std::int64_t each = value_bytes(interior.value_type);
  char *to = static_cast<char *>(joined);
  each_run(
      interior, boundary, boundary_rows,
      [&](const CsrArrays &block, std::int64_t from, std::int64_t end, std::int64_t) {
        const auto bytes = static_cast<std::size_t>((end - from) * each);
        if (bytes > 0) std::memcpy(to, block.values.as<char>() + from * each, bytes);
        to += bytes;
      },
      [](std::int64_t) {});
}

}  // namespace sextant
