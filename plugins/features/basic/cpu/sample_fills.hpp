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
// Blocks of 5, 6 and 7 are considered where those of 2 are this full: full ones of 5 would fill them to 25/36. Where
// they are less full than `worth_any`, blocks of no size save bytes: full ones of 3 would fill them to 9/16.
inline constexpr double worth_larger = 0.5, worth_any = 0.3;

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

// What threads found of the sampled block rows of one size.
struct SharedCount {
  std::atomic<std::int64_t> entries{0}, blocks{0};
  // Entries / places of blocks of so many rows; 1 without entries.
  double fill(int b) const {
    return blocks > 0 ? static_cast<double>(entries) / (static_cast<double>(blocks) * b * b) : 1;
  }
};

// A thread's part of the block rows of a size. Block rows of all sizes may share `columns`.
template <int b, class Offset, class Column>
void count_part(const sxt_csr &a, const Offset *row_ptr, const Column *col, int parts, int part,
                plugin::BlockColumns &columns, SharedCount &out) {
  const std::int64_t all = (a.s.rows + b - 1) / b;
  const double share = static_cast<double>(sampled_entries(a.s.nnz)) / static_cast<double>(a.s.nnz);
  const auto looked =
      std::clamp(static_cast<std::int64_t>(share * static_cast<double>(all)), std::min(all, least_block_rows), all);
  const SampledGroups<Offset> block_rows(a, row_ptr, b, looked);
  const plugin::Range own = plugin::part_of(block_rows.count(), parts, part);
  BlockCount sum;
  for (std::int64_t i = own.begin; i < own.end; ++i) {
    const std::int64_t number = block_rows.group(i);
    if (number < 0) continue;
    const BlockCount count = count_blocks<b>(a, row_ptr, col, number, columns);
    sum.entries += count.entries;
    sum.blocks += count.blocks;
  }
  out.entries.fetch_add(sum.entries, std::memory_order_relaxed);
  out.blocks.fetch_add(sum.blocks, std::memory_order_relaxed);
}

// The fills of some sizes. One thread uses `columns`, several have their own: to clear it takes as long as some hundred
// entries.
template <int... sizes, class Offset, class Column>
void fills_of(const sxt_csr &a, const Offset *row_ptr, const Column *col, int threads, plugin::BlockColumns &columns,
              double *fills) {
  SharedCount counts[sizeof...(sizes)];
  const auto count = [&](int part, plugin::BlockColumns &own) {
    int at = 0;
    (count_part<sizes>(a, row_ptr, col, threads, part, own, counts[at++]), ...);
  };
  if (threads == 1)
    count(0, columns);
  else
    plugin::for_each_part(threads, threads, [&](int part) {
      plugin::BlockColumns own;
      count(part, own);
    });
  int at = 0;
  ((fills[sizes - least_fill_size] = counts[at++].fill(sizes)), ...);
}

// Of sizes 2 to 8 in turn; 0 for those that were not considered; 1 without entries.
template <class Offset, class Column>
void block_fills(const sxt_csr &a, const Offset *row_ptr, const Column *col, int threads, double *fills) {
  constexpr int n = most_fill_size - least_fill_size + 1;
  if (a.s.nnz == 0) return std::fill_n(fills, n, 1.0), void();
  std::fill_n(fills, n, 0.0);
  plugin::BlockColumns columns;
  fills_of<2>(a, row_ptr, col, threads, columns, fills);
  if (fills[0] < worth_any) return;
  fills_of<3, 4, 8>(a, row_ptr, col, threads, columns, fills);
  if (fills[0] >= worth_larger) fills_of<5, 6, 7>(a, row_ptr, col, threads, columns, fills);
}

}  // namespace sextant::features_basic
