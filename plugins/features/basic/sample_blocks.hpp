// SPDX-License-Identifier: BSD-3-Clause
// How full dense blocks would be and where the diagonals lie, from groups of consecutive rows spread over the matrix.
#pragma once

#include <atomic>
#include <cstdint>

#include "footprint.hpp"
#include "sextant/plugin_csr.hpp"

namespace sextant::features_basic {

inline constexpr std::int64_t group = 24;          // rows; block sizes 2, 3, 4 and 8 divide it
inline constexpr std::int64_t longest_row = 4096;  // entries of a row that are looked at
inline constexpr int fill_sizes[] = {2, 3, 4, 8};

// About 1 % of the entries, and a few thousand at least.
inline std::int64_t sampled_entries(std::int64_t nnz) { return std::min(nnz, std::max<std::int64_t>(2048, nnz / 100)); }

// Groups of rows that hold about so many entries.
inline std::int64_t sampled_groups(const sxt_csr &a) {
  const std::int64_t groups = (a.s.rows + group - 1) / group;
  if (a.s.nnz == 0) return 0;
  const double share = static_cast<double>(sampled_entries(a.s.nnz)) / static_cast<double>(a.s.nnz);
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(share * static_cast<double>(groups)));
}

// The rows of sampled group i of n.
inline plugin::Range sampled_rows(const sxt_csr &a, std::int64_t i, std::int64_t n) {
  const std::int64_t groups = (a.s.rows + group - 1) / group;
  const std::int64_t begin = groups * i / n * group;
  return {begin, std::min(a.s.rows, begin + group)};
}

// Blocks of size b that a block row touches: heads of its sorted rows advance together, block column by block column.
template <class Offset, class Column>
std::int64_t count_blocks(const Offset *row_ptr, const Column *col, std::int64_t row, std::int64_t end_row, int b) {
  std::int64_t at[8], end[8], blocks = 0;
  const int rows = static_cast<int>(std::min<std::int64_t>(b, end_row - row));
  for (int r = 0; r < rows; ++r) {
    at[r] = row_ptr[row + r];
    end[r] = std::min<std::int64_t>(row_ptr[row + r + 1], at[r] + longest_row);
  }
  for (;; ++blocks) {
    std::int64_t first = -1;
    for (int r = 0; r < rows; ++r)
      if (at[r] < end[r] && (first < 0 || col[at[r]] < first)) first = col[at[r]];
    if (first < 0) return blocks;
    const std::int64_t next = (first / b + 1) * b;
    for (int r = 0; r < rows; ++r)
      while (at[r] < end[r] && col[at[r]] < next) ++at[r];
  }
}

// Entries / stored entries for each block size; 1 without entries.
template <class Offset, class Column>
void block_fills(const sxt_csr &a, const Offset *row_ptr, const Column *col, int threads, double *fills) {
  const std::int64_t groups = sampled_groups(a);
  std::atomic<std::int64_t> blocks[4] = {}, entries{0};
  plugin::for_each_part(threads, threads, [&](int part) {
    const plugin::Range own = plugin::part_of(groups, threads, part);
    for (std::int64_t g = own.begin; g < own.end; ++g) {
      const plugin::Range rows = sampled_rows(a, g, groups);
      std::int64_t seen = 0;
      for (std::int64_t i = rows.begin; i < rows.end; ++i)
        seen += std::min<std::int64_t>(row_ptr[i + 1] - row_ptr[i], longest_row);
      entries.fetch_add(seen, std::memory_order_relaxed);
      for (int s = 0; s < 4; ++s)
        for (std::int64_t i = rows.begin; i < rows.end; i += fill_sizes[s])
          blocks[s].fetch_add(count_blocks(row_ptr, col, i, rows.end, fill_sizes[s]), std::memory_order_relaxed);
    }
  });
  for (int s = 0; s < 4; ++s) {
    const double stored = static_cast<double>(blocks[s].load()) * fill_sizes[s] * fill_sizes[s];
    fills[s] = stored > 0 ? static_cast<double>(entries.load()) / stored : 1;
  }
}

// Bandwidth and diagonals of the sampled rows. Ends of further rows are cheap to look at and tell the bandwidth better.
template <class Offset, class Column>
void band(const sxt_csr &a, const Offset *row_ptr, const Column *col, SmallSet &set, double *out) {
  std::int64_t bandwidth = 0, diagonals = 0;
  const auto look = [&](std::int64_t i) {
    if (row_ptr[i] == row_ptr[i + 1]) return;
    const std::int64_t left = col[row_ptr[i]], right = col[row_ptr[i + 1] - 1];
    bandwidth = std::max({bandwidth, i - left, right - i});
  };
  const std::int64_t step = a.s.rows / 4096 + 1;
  for (std::int64_t i = 0; i < a.s.rows; i += step) look(i);
  set.clear();
  const std::int64_t groups = sampled_groups(a), most = static_cast<std::int64_t>(SmallSet::slots / 2);
  for (std::int64_t g = 0; g < groups && diagonals < most; ++g) {
    const plugin::Range rows = sampled_rows(a, g, groups);
    for (std::int64_t i = rows.begin; i < rows.end && diagonals < most; ++i) {
      look(i);
      for (std::int64_t k = row_ptr[i]; k < row_ptr[i + 1] && diagonals < most; ++k)
        diagonals += set.insert(static_cast<std::uint64_t>(col[k] - i + a.s.rows));
    }
  }
  out[0] = static_cast<double>(bandwidth);
  out[1] = static_cast<double>(diagonals);
}

}  // namespace sextant::features_basic
