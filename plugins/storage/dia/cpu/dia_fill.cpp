// SPDX-License-Identifier: BSD-3-Clause
#include "dia_fill.hpp"

#include <algorithm>
#include <cstdint>

namespace storage_dia {

using namespace plugin;

Marks::Marks(const sxt_csr &a, int team)
    : rows_(a.s.rows),
      size_(std::max<std::int64_t>(0, a.s.rows + a.s.cols - 1)),
      marks_(new unsigned char[static_cast<std::size_t>(size_)]()) {
  for_each_part(team, team, [&](int part) {
    for_each_entry(a, part_of(a.s.rows, team, part, dia_block), [&](std::int64_t i, std::int64_t, std::int64_t j) {
      unsigned char *mark = &marks_[j - i + rows_ - 1];
      if (!__atomic_load_n(mark, __ATOMIC_RELAXED)) __atomic_store_n(mark, 1, __ATOMIC_RELAXED);
    });
  });
}

std::int64_t Marks::count(std::int64_t first_offset) const {
  const std::int64_t first = std::clamp<std::int64_t>(first_offset + rows_ - 1, 0, size_);
  return std::count(marks_.get() + first, marks_.get() + size_, 1);
}

void Marks::list(std::int64_t first_offset, std::int64_t *offsets) const {
  for (std::int64_t k = std::max<std::int64_t>(0, first_offset + rows_ - 1); k < size_; ++k)
    if (marks_[k]) *offsets++ = k - rows_ + 1;
}

std::int64_t leading_dimension(std::int64_t rows, sxt_value_type type) {
  constexpr std::int64_t line = 64, page = 4096, skew = 5 * line;
  const auto size = static_cast<std::int64_t>(value_bytes(type));
  std::int64_t bytes = (rows * size + line - 1) / line * line;
  if (bytes >= 16 * page) bytes += (skew - bytes % page + page) % page;
  return bytes / size;
}

sxt_status fill(const sxt_csr &a, const sxt_dia &view, void *values, int team) {
  return with_value_type(a.s.value_type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T *from = static_cast<const T *>(a.values);
    T *to = static_cast<T *>(values);
    for_each_part(team, team, [&](int part) {
      Range rows = part_of(a.s.rows, team, part, dia_block);
      const std::int64_t end = part == team - 1 ? view.ld : rows.end;
      for (std::int64_t d = 0; d < view.n_diagonals; ++d)
        std::fill(to + d * view.ld + std::min(rows.begin, end), to + d * view.ld + end, T(0));
      with_csr_indices(a, [&](const auto *row_ptr, const auto *col) {
        for (std::int64_t i = rows.begin; i < rows.end; ++i) {
          // Columns ascend and so do offsets: one walk along both.
          std::int64_t d = 0;
          for (auto k = row_ptr[i]; k < row_ptr[i + 1]; ++k) {
            while (d < view.n_diagonals && view.host_offsets[d] < col[k] - i) ++d;
            if (d < view.n_diagonals && view.host_offsets[d] == col[k] - i) to[d * view.ld + i] = from[k];
          }
        }
        return SXT_OK;
      });
    });
    return SXT_OK;
  });
}

}  // namespace storage_dia
