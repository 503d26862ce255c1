// SPDX-License-Identifier: BSD-3-Clause
// The pass over the row pointers: four bytes a row are read once; the bound is the integer operations on each. A lane
// has four consecutive rows, so that most groups are formed without other lanes. Everything is counted in integers, so
// that results depend neither on the grid nor on the order of blocks.
#pragma once

#include "features.cuh"

namespace sextant::features_cuda {

inline constexpr int row_threads = 512, lane_rows = 4, length_bins = 1024, most_rows = 256, row_levels = 6;
inline constexpr std::int64_t most_row_blocks = 396;  // of a pass: each merges its counters once
inline constexpr int sort_window = 512;               // rows that are sorted together (windows.cuh)

// Sums and maxima over blocks: in shared memory first, since counters in global memory take additions one after the
// other.
template <class T>
struct RowSumsOf {
  T steps[row_levels], max_of_8;
  T rises;  // rows longer than their predecessor in a window of sorting
};
// Of rows of `length_bins` entries and more, which the histogram does not have; its sums follow on the host.
struct LongRows {
  Count rows, entries, squares, ceil[4];
};
inline constexpr int longest_possible = std::numeric_limits<int>::max();
template <class T>
struct RowMostsOf {
  T longest, least_missing;  // longest_possible minus the length of the shortest row
  T most_of_256;             // entries of so many rows
};
using RowSums = RowSumsOf<Count>;
using RowMosts = RowMostsOf<Count>;
// Sums of a thread: no more than all entries, or all rows.
template <class Offset>
using OwnCount = std::conditional_t<sizeof(Offset) == sizeof(unsigned), unsigned, Count>;

struct RowCounts : RowSums, RowMosts {
  LongRows beyond;
  Count fullest[row_levels];  // entries of the fullest part of 2, 4, ... 64
  unsigned histogram[length_bins];
};

// ---- on the device

// Where part p of `parts` begins when n rows are cut evenly.
__device__ inline std::int64_t border(std::int64_t n, int parts, int p) {
  return p * (n / parts) + min(static_cast<std::int64_t>(p), n % parts);
}

template <class Offset>
__device__ void find_fullest(const Offset *row_ptr, std::int64_t rows, RowCounts *out) {
  for (int level = 0, parts = 2; level < row_levels; ++level, parts *= 2)
    for (int p = static_cast<int>(threadIdx.x); p < parts; p += row_threads)
      atomicMax(&out->fullest[level],
                static_cast<Count>(row_ptr[border(rows, parts, p + 1)] - row_ptr[border(rows, parts, p)]));
}

// A lane's lengths into the block's histogram: once for a whole warp of equal ones.
__device__ inline void count_lengths(unsigned *histogram, const int (&length)[lane_rows], int rows) {
  bool equal = rows >= lane_rows;
  for (int r = 1; r < lane_rows; ++r) equal = equal && length[r] == length[0];
  int same;
  __match_all_sync(0xffffffffu, equal ? length[0] : -1 - static_cast<int>(threadIdx.x % 32), &same);
  if (same) {
    if (threadIdx.x % 32 == 0 && length[0] < length_bins) atomicAdd(histogram + length[0], 32u * lane_rows);
    return;
  }
#pragma unroll
  for (int r = 0; r < lane_rows; ++r)
    if (r < rows && length[r] < length_bins) atomicAdd(histogram + length[r], 1u);
}

// For all lanes of a warp, some of which have such rows.
__device__ inline void count_long(const int (&length)[lane_rows], LongRows *out) {
  const auto add = [&](Count *to, auto &&of) {
    Count own = 0;
#pragma unroll
    for (int r = 0; r < lane_rows; ++r)
      if (length[r] >= length_bins) own += of(static_cast<Count>(length[r]));
    add_sum(to, own);
  };
  add(&out->rows, [](Count) { return Count{1}; });
  add(&out->entries, [](Count l) { return l; });
  add(&out->squares, [](Count l) { return l * l; });
  for (int g = 0; g < 4; ++g) add(&out->ceil[g], [g](Count l) { return (l + (2u << g) - 1) >> (g + 1) << (g + 1); });
}

// Adds the counts of a block's row_threads to the global counters: by warps, through shared memory.
inline constexpr int n_sums = sizeof(RowSums) / sizeof(Count), n_mosts = sizeof(RowMosts) / sizeof(Count);
template <class T>
__device__ void merge(const RowSumsOf<T> &sums, const RowMostsOf<T> &mosts, RowCounts *out) {
  constexpr int warps = row_threads / 32;
  static_assert(n_sums + n_mosts <= warps && warps <= 32);
  __shared__ Count of_warps[n_sums + n_mosts][warps];
  const int warp = static_cast<int>(threadIdx.x / 32), lane = static_cast<int>(threadIdx.x % 32);
#pragma unroll
  for (int n = 0; n < n_sums; ++n) {
    const Count sum = warp_sum(reinterpret_cast<const T *>(&sums)[n]);
    if (lane == 0) of_warps[n][warp] = sum;
  }
#pragma unroll
  for (int n = 0; n < n_mosts; ++n) {
    const Count most = warp_most(reinterpret_cast<const T *>(&mosts)[n]);
    if (lane == 0) of_warps[n_sums + n][warp] = most;
  }
  __syncthreads();
  if (warp >= n_sums + n_mosts) return;
  const Count own = lane < warps ? of_warps[warp][lane] : 0;
  if (warp < n_sums)
    add_sum(reinterpret_cast<Count *>(static_cast<RowSums *>(out)) + warp, own);
  else
    add_most(reinterpret_cast<Count *>(static_cast<RowMosts *>(out)) + (warp - n_sums), own);
}

// A lane's rows, from row i on. Rows beyond the last are empty.
template <class T>
struct LaneRows {
  int length[lane_rows], before;  // of the row before them, where no other lane of the warp has it
  T most_of_256;
};
template <class Offset>
__device__ LaneRows<OwnCount<Offset>> rows_of_lane(const Offset *row_ptr, unsigned rows, unsigned i) {
  LaneRows<OwnCount<Offset>> own{};
  if (i >= rows) return own;
  Offset at[lane_rows + 1];
#pragma unroll
  for (int r = 0; r <= lane_rows; ++r) at[r] = row_ptr[min(i + r, rows)];
#pragma unroll
  for (int r = 0; r < lane_rows; ++r) own.length[r] = static_cast<int>(at[r + 1] - at[r]);
  if (threadIdx.x % 32 == 0 && i > 0) own.before = static_cast<int>(at[0] - row_ptr[i - 1]);
  if (i % most_rows == 0) own.most_of_256 = static_cast<OwnCount<Offset>>(row_ptr[min(i + most_rows, rows)] - at[0]);
  return own;
}

// Groups of 2^level rows, of which 32 / 2^level lanes of a product share a row: every lane adds what its groups count,
// those of more than its own rows as often as lanes have them.
template <class T>
__device__ void count_steps(const int (&length)[lane_rows], RowSumsOf<T> &sums) {
  static_assert(lane_rows == 4);
  const auto add = [&](int level, unsigned most) { sums.steps[level] += (most + (32u >> level) - 1) >> (5 - level); };
  unsigned group = 0;
#pragma unroll
  for (int r = 0; r < lane_rows; r += 2) {
    const unsigned pair = max(length[r], length[r + 1]);
    add(0, length[r]), add(0, length[r + 1]), add(1, pair);
    group = max(group, pair);
  }
  add(2, group);
#pragma unroll
  for (int level = 3; level < row_levels; ++level) {
    group = max(group, __shfl_xor_sync(0xffffffffu, group, 1 << (level - 3)));
    add(level, group);
    if (level == 3) sums.max_of_8 += group;
  }
}

template <class Offset>
__global__ void __launch_bounds__(row_threads, sizeof(Offset) == sizeof(unsigned) ? 3 : 2)
    count_rows(const Offset *row_ptr, unsigned rows, RowCounts *out) {
  __shared__ unsigned histogram[length_bins];
  __shared__ LongRows beyond;
  RowSumsOf<OwnCount<Offset>> sums{};
  RowMostsOf<OwnCount<Offset>> mosts{};
  int longest = 0, shortest = longest_possible;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const unsigned stride = gridDim.x * row_threads * lane_rows;
  // Whole warps go on together: groups of rows are formed by lanes.
  const unsigned begin = (blockIdx.x * row_threads + threadIdx.x - lane) * lane_rows;
  auto next = rows_of_lane(row_ptr, rows, begin + lane * lane_rows);
  if (threadIdx.x == 0) beyond = {};
  for (int i = static_cast<int>(threadIdx.x); i < length_bins; i += row_threads) histogram[i] = 0;
  __syncthreads();
  if (blockIdx.x == 0) find_fullest(row_ptr, rows, out);
  for (unsigned first = begin; first < rows; first += stride) {
    const unsigned i = first + lane * lane_rows;
    const auto own = next;
    next = rows_of_lane(row_ptr, rows, i + stride);  // on its way meanwhile
    const int here = i < rows ? static_cast<int>(min(unsigned{lane_rows}, rows - i)) : 0;
    count_lengths(histogram, own.length, here);
    int before = __shfl_up_sync(0xffffffffu, own.length[lane_rows - 1], 1);
    if (lane == 0) before = i % sort_window ? own.before : longest_possible;
    int most = 0;
#pragma unroll
    for (int r = 0; r < lane_rows; ++r) {
      sums.rises += own.length[r] > before;
      before = own.length[r];
      most = max(most, own.length[r]);
      if (r < here) shortest = min(shortest, own.length[r]);
    }
    longest = max(longest, most);
    mosts.most_of_256 = max(mosts.most_of_256, own.most_of_256);
    count_steps(own.length, sums);
    if (__any_sync(0xffffffffu, most >= length_bins)) count_long(own.length, &beyond);
  }
  plugin::cuda::release_successor();
  mosts.longest = static_cast<unsigned>(longest);
  mosts.least_missing = static_cast<unsigned>(longest_possible - shortest);
  merge(sums, mosts, out);  // whose barrier ends the histogram, too
  for (int i = static_cast<int>(threadIdx.x); i < length_bins; i += row_threads)
    if (histogram[i]) atomicAdd(&out->histogram[i], histogram[i]);
  const auto *own = reinterpret_cast<const Count *>(&beyond);
  if (const int t = static_cast<int>(threadIdx.x); t < static_cast<int>(sizeof beyond / sizeof(Count)) && own[t])
    atomicAdd(reinterpret_cast<Count *>(&out->beyond) + t, own[t]);
}

}  // namespace sextant::features_cuda
