// SPDX-License-Identifier: BSD-3-Clause
// The rows of one member as two matrices: the columns that it owns, and those of others, numbered from 0 in the order
// of their owners and with the rows alone that have such entries.
#pragma once

#include <cstdint>
#include <vector>

#include "core/matrix/assemble.hpp"

namespace sextant {

// Rows first to last - 1 of `rows`, whose columns are global, for a member that owns columns own_begin to own_end - 1.
struct RowRange {
  const CsrArrays *rows = nullptr;
  std::int64_t first = 0, last = 0;
  std::int64_t own_begin = 0, own_end = 0;

  std::int64_t count() const noexcept { return last - first; }
  bool owns(std::int64_t column) const noexcept { return column >= own_begin && column < own_end; }
};

struct BlockArrays {
  CsrArrays interior, boundary;
  std::vector<std::int64_t> boundary_rows;  // local, ascending: row k of `boundary` is this one
  std::vector<std::int64_t> ghosts;         // global, ascending: column k of `boundary` is this one
};

// The k-th column index, or the i-th offset.
std::int64_t index_at(const void *indices, sxt_index_type type, std::int64_t k) noexcept;
inline std::int64_t offset_at(const CsrArrays &csr, std::int64_t row) noexcept {
  return index_at(csr.row_ptr.data(), csr.offset_type, row);
}
inline std::int64_t column_at(const CsrArrays &csr, std::int64_t k) noexcept {
  return index_at(csr.col.data(), csr.index_type, k);
}

// Throws SXT_E_MEMORY.
CsrArrays copied(const CsrArrays &from, const Allocator &allocator);
// Throws SXT_E_MEMORY. Takes a time by the entries, and memory by the columns of others, whatever rows are wanted.
BlockArrays split_rows(const RowRange &range, const Allocator &allocator);
// The values alone, into blocks of the pattern that split_rows gave; NULL: those of the other block alone.
void split_values(const RowRange &range, void *interior, void *boundary);
// Both side by side: the columns that the member owns, then those of others. Their values alone, into one that it gave.
CsrArrays join_blocks(const CsrArrays &interior, const CsrArrays &boundary,
                      const std::vector<std::int64_t> &boundary_rows, const Allocator &allocator);
void join_values(const CsrArrays &interior, const CsrArrays &boundary, const std::vector<std::int64_t> &boundary_rows,
                 void *joined);

}  // namespace sextant
