// SPDX-License-Identifier: BSD-3-Clause
// What sorting rows by length within windows saves SELL. A block sorts a window; beyond some number of windows only
// some are looked at.
#pragma once

#include "row_counts.cuh"

namespace sextant::features_cuda {

inline constexpr std::int64_t most_windows = 528;  // looked at

struct WindowCounts {
  Count stored;  // entries of the sorted slices
  Count sorted;  // windows where sorting pays
};

// 32 times the longest row of each slice, summed, when rows are sorted by length within windows: a bitonic sort a
// window, longest first, a row a thread, which rows of other warps reach through shared memory; and the windows where
// that saves at least 3 %, as storage.sell.cuda asks for. Of all windows every so many-th is looked at, by a block of
// sort_window threads: `block` of `looked`.
template <class Offset>
__device__ void sort_a_window(const Offset *row_ptr, std::int64_t rows, unsigned block, unsigned looked,
                              WindowCounts *out) {
  __shared__ int lengths[sort_window];
  __shared__ Count unsorted, sorted;
  const int t = static_cast<int>(threadIdx.x);
  const std::int64_t i =
      std::int64_t{spread(static_cast<unsigned>((rows + sort_window - 1) / sort_window), looked, block)} * sort_window +
      t;
  int length = i < rows ? row_length(row_ptr, i) : 0;
  if (t == 0) unsorted = sorted = 0;
  __syncthreads();
  const int longest = __reduce_max_sync(0xffffffffu, length);
  if (t % 32 == 0) atomicAdd(&unsorted, 32 * static_cast<Count>(longest));
  for (int size = 2; size <= sort_window; size *= 2)
    for (int distance = size / 2; distance > 0; distance /= 2) {
      int other;
      if (distance < 32) {
        other = __shfl_xor_sync(0xffffffffu, length, distance);
      } else {
        __syncthreads();
        lengths[t] = length;
        __syncthreads();
        other = lengths[t ^ distance];
      }
      const bool descending = (t & size) == 0, lower = (t & distance) == 0;
      length = descending == lower ? max(length, other) : min(length, other);
    }
  if (t % 32 == 0) atomicAdd(&sorted, 32 * static_cast<Count>(length));
  __syncthreads();
  if (t > 0) return;
  atomicAdd(&out->stored, sorted);
  if (unsorted * 100 > sorted * 103) atomicAdd(&out->sorted, Count{1});
}

}  // namespace sextant::features_cuda
