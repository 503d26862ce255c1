// SPDX-License-Identifier: BSD-3-Clause
// How full dense blocks of each size would be, from block rows of that size spread over the matrix.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "plugins/formats/bsr.hpp"
#include "sample_blocks.hpp"

namespace sextant::features_basic {

inline constexpr int least_fill_size = 2, most_fill_size = 8;
inline constexpr std::int64_t least_block_rows = 4;
// Blocks of 5, 6 and 7 are considered where those of 2 are this full: full ones of 5 would fill them to 25/36.
inline constexpr double worth_larger = 0.5;

// Entries of a block row, and the blocks they lie in.
struct BlockCount {
  std::int64_t entries = 0, blocks = 0;
};

template <int b, class Offset, class Column>
BlockCount count_blocks(const sxt_csr &a, const Offset *row_ptr, const Column *col, std::int64_t block_row,
                        plugin::BlockColumns &columns) {
  BlockCount count;
  columns.next_row();
  for (std::int64_t i = block_row * b, end = std::min<std::int64_t>(a.s.rows, i + b); i < end; ++i) {
    const std::int64_t first = row_ptr[i], last = std::min<std::int64_t>(row_ptr[i + 1], first + longest_row);
    for (std::int64_t k = first; k < last; ++k) count.blocks += columns.mark(static_cast<std::uint32_t>(col[k] / b));
    count.entries += last - first;
  }
  return count;
}

// Entries / places of the sampled block rows; 1 without entries.
template <int b, class Offset, class Column>
double block_fill(const sxt_csr &a, const Offset *row_ptr, const Column *col, int threads) {
  const std::int64_t all = (a.s.rows + b - 1) / b;
  if (a.s.nnz == 0) return 1;
  const double share = static_cast<double>(sampled_entries(a.s.nnz)) / static_cast<double>(a.s.nnz);
  const auto looked =
      std::clamp(static_cast<std::int64_t>(share * static_cast<double>(all)), std::min(all, least_block_rows), all);
  const SampledGroups<Offset> block_rows(a, row_ptr, b, looked);
  std::atomic<std::int64_t> entries{0}, blocks{0};
  plugin::for_each_part(threads, threads, [&](int part) {
    plugin::BlockColumns columns;
    const plugin::Range own = plugin::part_of(block_rows.count(), threads, part);
    for (std::int64_t i = own.begin; i < own.end; ++i) {
      const std::int64_t number = block_rows.group(i);
      if (number < 0) continue;
      const BlockCount count = count_blocks<b>(a, row_ptr, col, number, columns);
      entries.fetch_add(count.entries, std::memory_order_relaxed);
      blocks.fetch_add(count.blocks, std::memory_order_relaxed);
    }
  });
  return blocks > 0 ? static_cast<double>(entries) / (static_cast<double>(blocks) * b * b) : 1;
}

// Of sizes 2 to 8 in turn; 0 for those that were not considered.
template <class Offset, class Column>
void block_fills(const sxt_csr &a, const Offset *row_ptr, const Column *col, int threads, double *fills) {
  std::fill_n(fills, most_fill_size - least_fill_size + 1, 0.0);
  fills[0] = block_fill<2>(a, row_ptr, col, threads);
  fills[1] = block_fill<3>(a, row_ptr, col, threads);
  fills[2] = block_fill<4>(a, row_ptr, col, threads);
  fills[6] = block_fill<8>(a, row_ptr, col, threads);
  if (fills[0] < worth_larger) return;
  fills[3] = block_fill<5>(a, row_ptr, col, threads);
  fills[4] = block_fill<6>(a, row_ptr, col, threads);
  fills[5] = block_fill<7>(a, row_ptr, col, threads);
}

}  // namespace sextant::features_basic
