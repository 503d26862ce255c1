// SPDX-License-Identifier: BSD-3-Clause
// How features.sample.cuda counts dense blocks: a group of consecutive rows counts the block rows that begin in it, of
// every size, with the rows that those reach into. Without CUDA, so that a test can count on the host.
#pragma once

#include <cstdint>
#include <type_traits>

#ifdef __CUDACC__
#define SXT_HOST_AND_DEVICE __host__ __device__
#else
#define SXT_HOST_AND_DEVICE
#endif

namespace sextant::features_cuda {

inline constexpr int least_fill = 2, fill_sizes = 7;          // blocks of 2 to 8
inline constexpr int overhang = least_fill + fill_sizes - 2;  // rows beyond a group that its block rows reach into
inline constexpr int group_rows = 24, seen_rows = group_rows + overhang;
inline constexpr int group_entries = 8192;                // room for those of a group
inline constexpr int heavy_group = 2048, heavy_rows = 8;  // groups with more entries are sampled in part
inline constexpr int heavy_row = 120;  // entries of each: rows of blocks are cut between two of them, unless of 7
inline constexpr double worth_larger = 0.5, worth_any = 0.3;  // as on the CPU (features/basic/sample_fills.hpp)

struct Group {
  const std::int32_t *col;  // of its seen rows, which follow each other
  const int *begin;         // of each of these rows, and the end of the last
  int rows;                 // block rows that begin in so many are counted
  std::int64_t first_row;
};

// Whether row `row` holds a column of [from, from + size), which one at `place` would be in a row like its own.
SXT_HOST_AND_DEVICE inline bool holds(const Group &group, int row, int place, std::int32_t from, int size) {
  int low = group.begin[row], high = group.begin[row + 1];
  if (const int like = low + place; like < high && group.col[like] >= from && group.col[like] - from < size)
    return true;
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (group.col[middle] < from)
      low = middle + 1;
    else if (group.col[middle] - from < size)
      return true;
    else
      high = middle;
  }
  return false;
}

// Whether entry k, of row `own`, is the first one in its dense block, rows from `first` on.
template <int size>
SXT_HOST_AND_DEVICE bool begins_block(const Group &group, int first, int own, int k) {
  const std::int32_t from = group.col[k] / size * size;
  const int place = k - group.begin[own];
  if (place > 0 && group.col[k - 1] >= from) return false;
  for (int row = own - 1; row >= first; --row)
    if (holds(group, row, place, from, size)) return false;
  return true;
}

// Entries of blocks, and the blocks themselves.
struct BlockCount {
  unsigned entries = 0, blocks = 0;
};

// Where an entry is counted: the first row of its block row, -1 where that is outside the group, and whether the entry
// is the first one in its dense block.
struct EntryOfBlocks {
  int first = -1;
  bool begins = false;
};

// Of entry k, of row `own`.
template <int size>
SXT_HOST_AND_DEVICE EntryOfBlocks look_at_entry(const Group &group, int own, int k) {
  const int first = own - (own + static_cast<int>(group.first_row % size)) % size;
  if (first < 0 || first >= group.rows) return {};
  return {first, begins_block<size>(group, first, own, k)};
}

// f(size) with one of the sizes as a constant, since divisions by it are many.
template <int s = 0, class F>
SXT_HOST_AND_DEVICE void with_size(int which, F &&f) {
  if constexpr (s + 1 < fill_sizes)
    if (which != s) return with_size<s + 1>(which, f);
  f(std::integral_constant<int, least_fill + s>());
}

// A warp's task in a group: one of `kinds` counts over 32 entries, of which `lane` has one. A warp whose tasks are 16
// apart does all kinds.
struct GroupTask {
  int entry, kind;
};
SXT_HOST_AND_DEVICE inline GroupTask group_task(int task, int kinds, int lane) {
  const int chunk = task / kinds;
  return {32 * chunk + lane, (task + chunk) % kinds};
}

// Entries / places, of sizes 2 to 8 in turn; 1 without entries, 0 between 4 and 8 where those of 2 are far from full,
// of all others where they are nearly empty.
template <class Count>
void tell_fills(const Count *entries, const Count *blocks, double *fills) {
  for (int s = 0; s < fill_sizes; ++s) {
    const double size = least_fill + s, stored = static_cast<double>(blocks[s]) * size * size;
    const bool unlikely = s > 0 && fills[0] < (size > 4 && size < 8 ? worth_larger : worth_any);
    fills[s] = unlikely ? 0 : stored > 0 ? static_cast<double>(entries[s]) / stored : 1;
  }
}

}  // namespace sextant::features_cuda
