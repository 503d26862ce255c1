// SPDX-License-Identifier: BSD-3-Clause
#include "bsr_blocks.hpp"

#include <algorithm>
#include <cstdint>

namespace storage_bsr {

using namespace plugin;

void columns_of(const sxt_csr &a, int block, std::int64_t block_row, std::vector<std::int64_t> &columns) {
  columns.clear();
  const Range rows = {block_row * block, std::min(a.s.rows, (block_row + 1) * block)};
  for_each_entry(a, rows, [&](std::int64_t, std::int64_t, std::int64_t j) {
    // Neighbours mostly share a block.
    if (columns.empty() || columns.back() != j / block) columns.push_back(j / block);
  });
  std::sort(columns.begin(), columns.end());
  columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
}

double sampled_fill(const sxt_csr &a, int block, std::int64_t rows_looked_at) {
  const std::int64_t block_rows = block_count(a.s.rows, block), looked = std::min(block_rows, rows_looked_at);
  std::vector<std::int64_t> columns;
  double entries = 0, places = 0;
  for (std::int64_t s = 0; s < looked; ++s) {
    const std::int64_t i = bsr_sampled_row(block_rows, looked, s);
    columns_of(a, block, i, columns);
    places += static_cast<double>(columns.size()) * block * block;
    with_csr_indices(a, [&](const auto *row_ptr, const auto *) {
      entries += static_cast<double>(row_ptr[std::min(a.s.rows, (i + 1) * block)] - row_ptr[i * block]);
      return SXT_OK;
    });
  }
  return places > 0 ? entries / places : std::numeric_limits<double>::quiet_NaN();
}

sxt_status fill_values(const sxt_csr &a, const sxt_bsr &view, void *values, int team) {
  const auto *row_ptr = static_cast<const std::int32_t *>(view.row_ptr),
             *col = static_cast<const std::int32_t *>(view.col);
  const std::int64_t block = view.block;
  return with_value_type(a.s.value_type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T *from = static_cast<const T *>(a.values);
    T *to = static_cast<T *>(values);
    for_each_part(team, team, [&](int part) {
      const Range range = part_of(view.block_rows, team, part);
      std::fill(to + row_ptr[range.begin] * block * block, to + row_ptr[range.end] * block * block, T(0));
      const Range rows = {std::min(a.s.rows, range.begin * block), std::min(a.s.rows, range.end * block)};
      for_each_entry(a, rows, [&](std::int64_t i, std::int64_t k, std::int64_t j) {
        const std::int32_t *begin = col + row_ptr[i / block], *end = col + row_ptr[i / block + 1];
        const std::int64_t b = std::lower_bound(begin, end, static_cast<std::int32_t>(j / block)) - col;
        to[b * block * block + j % block * block + i % block] = from[k];  // column-major
      });
    });
    return SXT_OK;
  });
}

}  // namespace storage_bsr
