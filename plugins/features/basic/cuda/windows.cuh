// SPDX-License-Identifier: BSD-3-Clause
// The entries that SELL saves by sorting rows by length within windows. A block examines a window; beyond some number
// of windows only a sample is examined.
#pragma once

#include "row_counts.cuh"

namespace sextant::features_cuda {

inline constexpr std::int64_t most_windows = 528;  // looked at
inline constexpr int slice_rows = 32, window_warps = sort_window / 32;

struct WindowCounts {
  Count stored;  // entries of the sorted slices
  Count sorted;  // windows where sorting pays
};

// A block's data of its window.
struct Window {
  int lengths[sort_window];  // while they are sorted, or how many rows are of each length
  int reaching[window_warps];
  int longest;
  Count unsorted, sorted;  // the longest rows of the slices, summed
};

// Sums the longest rows of the slices, were the rows sorted: any length is reached by the first rows of as many slices
// as the rows that reach it fill. Of lengths from the last bin on only the longest is known, so only one slice may
// begin with such a row.
__device__ inline void add_slices_by_counting(Window &window) {
  const int t = static_cast<int>(threadIdx.x), warp = t / 32, lane = t % 32, length = sort_window - 1 - t;
  int reaching = window.lengths[length];  // of the warp's lengths, then of all
  for (int d = 1; d < 32; d *= 2) {
    const int longer = __shfl_up_sync(0xffffffffu, reaching, d);
    if (lane >= d) reaching += longer;
  }
  if (lane == 31) window.reaching[warp] = reaching;
  __syncthreads();
  reaching += __reduce_add_sync(0xffffffffu, lane < warp ? window.reaching[lane] : 0);
  const int slices = __reduce_add_sync(0xffffffffu, length > 0 ? (reaching + slice_rows - 1) / slice_rows : 0);
  if (lane == 0) atomicAdd(&window.sorted, static_cast<Count>(slices));
  if (t == 0) atomicAdd(&window.sorted, static_cast<Count>(max(0, window.longest - length)));
}

// The same by a bitonic sort, longest first, a row a thread, which rows of other warps reach through shared memory.
__device__ inline void add_slices_by_sorting(int length, Window &window) {
  const int t = static_cast<int>(threadIdx.x);
  for (int size = 2; size <= sort_window; size *= 2)
    for (int distance = size / 2; distance > 0; distance /= 2) {
      int other;
      if (distance < 32) {
        other = __shfl_xor_sync(0xffffffffu, length, distance);
      } else {
        __syncthreads();
        window.lengths[t] = length;
        __syncthreads();
        other = window.lengths[t ^ distance];
      }
      const bool descending = (t & size) == 0, lower = (t & distance) == 0;
      length = descending == lower ? max(length, other) : min(length, other);
    }
  if (t % slice_rows == 0) atomicAdd(&window.sorted, static_cast<Count>(length));
}

// 32 times the longest row of each slice, summed, when rows are sorted by length within windows; and the windows where
// that saves at least 3 %, as storage.sell.cuda asks for. Of all windows every so many-th is looked at, by a block of
// sort_window threads: `block` of `looked`.
template <class Offset>
__device__ void look_at_window(const Offset *row_ptr, std::int64_t rows, unsigned block, unsigned looked,
                               WindowCounts *out) {
  __shared__ Window window;
  const int t = static_cast<int>(threadIdx.x);
  const auto windows = static_cast<unsigned>((rows + sort_window - 1) / sort_window);
  const std::int64_t i = std::int64_t{spread(windows, looked, block)} * sort_window + t;
  const int length = i < rows ? row_length(row_ptr, i) : 0;
  window.lengths[t] = 0;
  if (t == 0) window.unsorted = window.sorted = 0, window.longest = 0;
  __syncthreads();
  const int longest = __reduce_max_sync(0xffffffffu, length);
  if (t % slice_rows == 0)
    atomicAdd(&window.unsorted, static_cast<Count>(longest)), atomicMax(&window.longest, longest);
  atomicAdd(window.lengths + min(length, sort_window - 1), 1);
  __syncthreads();
  if (window.lengths[sort_window - 1] <= slice_rows)
    add_slices_by_counting(window);
  else
    add_slices_by_sorting(length, window);
  __syncthreads();
  if (t > 0) return;
  atomicAdd(&out->stored, slice_rows * window.sorted);
  if (window.unsorted * 100 > window.sorted * 103) atomicAdd(&out->sorted, Count{1});
}

}  // namespace sextant::features_cuda
