// SPDX-License-Identifier: BSD-3-Clause
// Common parts of the ELL and HYB storages: filling a regular part of `width` entries a row from CSR, and walking it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sextant/sdk/cpu/csr.hpp"

namespace sextant::plugin {

// Borders of parts lie at multiples of a block of rows; storages and kernels use the same cuts, so that threads work on
// the memory that they touched first.
inline constexpr std::int64_t ell_block = 64;

inline Range ell_part(std::int64_t rows, int parts, int part) { return part_of(rows, parts, part, ell_block); }

// Rows of the arrays: whole vectors, and columns of the array that do not all begin in the same cache set.
inline std::int64_t ell_stride(std::int64_t rows) {
  const std::int64_t ld = (rows + 7) / 8 * 8;
  return ld % 512 == 0 && ld > 0 ? ld + 8 : ld;
}

// Stored entries a nonzero beyond which a regular form is refused, and a number of further ones that is always
// accepted.
inline constexpr double ell_fill_limit = 3;
inline constexpr double ell_fill_slack = 65536;

inline bool ell_too_full(double width, double rows, double nnz) {
  return width * rows - ell_fill_slack > ell_fill_limit * nnz;
}

// The first `width` entries of each row of a part; rows from a.s.rows to ld are padding. col NULL: values only.
template <class T, class Offset>
void fill_ell(const sxt_csr &a, const sxt_ell &ell, Range rows, std::int32_t *col, T *values) {
  const auto *row_ptr = static_cast<const Offset *>(a.row_ptr);
  const auto *source_col = static_cast<const std::int32_t *>(a.col);
  const auto *source = static_cast<const T *>(a.values);
  if (rows.end == a.s.rows) rows.end = ell.ld;
  // Blocks of rows, so that the columns of the arrays are written in runs.
  for (std::int64_t first = rows.begin; first < rows.end; first += ell_block) {
    const std::int64_t last = std::min(rows.end, first + ell_block);
    for (std::int64_t k = 0; k < ell.width; ++k)
      for (std::int64_t i = first; i < last; ++i) {
        const std::int64_t at = k * ell.ld + i;
        const bool there = i < a.s.rows && k < row_ptr[i + 1] - row_ptr[i];
        values[at] = there ? source[row_ptr[i] + k] : T(0);
        if (col) col[at] = there ? source_col[row_ptr[i] + k] : -1;
      }
  }
}

// The whole regular part on the threads that are lent.
inline sxt_status fill_ell(const sxt_csr &a, const sxt_ell &ell, std::int32_t *col, void *values,
                           const sxt_exec *exec) {
  const int team = std::max(1, exec->threads);
  return with_value_type(a.s.value_type, [&](auto value_tag) {
    return with_index_type(a.s.offset_type, [&](auto offset_tag) {
      using T = typename decltype(value_tag)::type;
      using Offset = typename decltype(offset_tag)::type;
      for_each_part(team, team, [&](int part) {
        fill_ell<T, Offset>(a, ell, ell_part(a.s.rows, team, part), col, static_cast<T *>(values));
      });
      return SXT_OK;
    });
  });
}

// Calls f(position, row, column) for the entries of some rows.
template <class F>
void for_each_ell_entry(const sxt_ell &ell, Range rows, F &&f) {
  const auto *col = static_cast<const std::int32_t *>(ell.col);
  for (std::int64_t k = 0; k < ell.width; ++k)
    for (std::int64_t i = rows.begin; i < rows.end; ++i)
      if (const std::int32_t j = col[k * ell.ld + i]; j >= 0) f(k * ell.ld + i, i, static_cast<std::int64_t>(j));
}

inline sxt_status check_ell_indices(std::int64_t rows, std::int64_t cols, sxt_message *reason) {
  const std::int64_t most = std::max(rows, cols);
  if (most < std::int64_t{1} << 31) return SXT_OK;
  return refuse(reason, "%lld rows or columns do not fit the 32-bit indices it holds", (long long)most);
}

}  // namespace sextant::plugin
