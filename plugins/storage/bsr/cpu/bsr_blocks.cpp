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
    // Adjacent entries mostly share a block.
    if (columns.empty() || columns.back() != j / block) columns.push_back(j / block);
  });
  std::sort(columns.begin(), columns.end());
  columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
}

namespace {

template <int block, class Offset, class Column>
double fill_of(const sxt_csr &a, const Offset *row_ptr, const Column *col) {
  const std::int64_t block_rows = block_count(a.s.rows, block);
  const std::int64_t enough = block_rows * entries_looked_at / std::max(a.s.nnz, entries_looked_at);
  const std::int64_t looked = std::clamp(enough, std::min(block_rows, least_rows_looked_at), block_rows);
  BlockColumns columns;
  std::int64_t entries = 0, blocks = 0;
  for (std::int64_t s = 0; s < looked; ++s) {
    const std::int64_t i = bsr_sampled_row(block_rows, looked, s);
    columns.next_row();
    const std::int64_t first = row_ptr[i * block], last = row_ptr[std::min(a.s.rows, (i + 1) * block)];
    for (std::int64_t k = first; k < last; ++k) blocks += columns.mark(static_cast<std::uint32_t>(col[k]) / block);
    entries += last - first;
  }
  return blocks > 0 ? static_cast<double>(entries) / static_cast<double>(blocks * block * block)
                    : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

void sampled_fills(const sxt_csr &a, int team, double (&fills)[bsr_most + 1]) {
  with_csr_indices(a, [&](const auto *row_ptr, const auto *col) {
    using Fill = double (*)(const sxt_csr &, decltype(row_ptr), decltype(col));
    const Fill fill[] = {fill_of<2>, fill_of<3>, fill_of<4>, fill_of<5>, fill_of<6>, fill_of<7>, fill_of<8>};
    for_each_part(bsr_most - bsr_least + 1, team,
                  [&](int size) { fills[bsr_least + size] = fill[size](a, row_ptr, col); });
    return SXT_OK;
  });
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
