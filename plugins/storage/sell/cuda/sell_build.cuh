// SPDX-License-Identifier: BSD-3-Clause
// From rows to slices on the device: rows of a window are sorted by length in shared memory, slices are laid out by a
// prefix sum, and every entry then finds its own place.
#pragma once

#include <cstdint>

#include "sextant/sdk/cuda/storage.hpp"

namespace sextant::storage_sell_cuda {

namespace cuda = plugin::cuda;

inline constexpr int slice = 32, sigma = 512;  // a warp's rows; a block's

// Longest first, equal ones in their old order: the key's high part falls with the length, its low part is the place.
using Key = unsigned long long;
__device__ inline Key key_of(std::int64_t length, int place) {
  return static_cast<Key>(0x7fffffffffff - length) << 16 | static_cast<Key>(place);
}
__device__ inline std::int64_t length_of(Key key) { return 0x7fffffffffff - static_cast<std::int64_t>(key >> 16); }

// Bitonic sort of a window's keys, a thread each.
__device__ inline void sort_window(Key *keys) {
  const unsigned t = threadIdx.x;
  for (unsigned run = 2; run <= sigma; run *= 2)
    for (unsigned distance = run / 2; distance > 0; distance /= 2) {
      __syncthreads();
      const unsigned other = t ^ distance;
      if (other < t) continue;
      const bool rising = (t & run) == 0;
      if ((keys[t] > keys[other]) == rising) {
        const Key mine = keys[t];
        keys[t] = keys[other];
        keys[other] = mine;
      }
    }
  __syncthreads();
}

// The entries stored by the slice of this thread's warp when its rows have these lengths.
__device__ inline long long slice_entries(std::int64_t length) {
  long long longest = length;
  for (int distance = 16; distance > 0; distance /= 2)
    longest = max(longest, __shfl_xor_sync(0xffffffffu, longest, distance));
  return slice * longest;
}

// One window a block. Where sorting saves less than 3 % the old order stays, whose rows lie together in y. perm[slot]
// is the row in a slot, slot_of[row] the slot of a row, slice_ptr[s] the entries of slice s; changed[0] counts sorted
// windows.
template <class Offset>
__global__ void __launch_bounds__(sigma)
    order_window(const Offset *row_ptr, std::int64_t rows, std::int32_t *perm, std::int32_t *slot_of,
                 std::int64_t *slice_ptr, std::int32_t *changed) {
  __shared__ Key keys[sigma];
  __shared__ long long stored[2];
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * sigma, i = first + threadIdx.x;
  const std::int64_t length = i < rows ? static_cast<std::int64_t>(row_ptr[i + 1]) - row_ptr[i] : 0;
  if (threadIdx.x < 2) stored[threadIdx.x] = 0;
  // Rows beyond the last one come last, behind empty ones.
  keys[threadIdx.x] = key_of(i < rows ? length : -1, threadIdx.x);
  sort_window(keys);
  const Key key = keys[threadIdx.x];
  const long long plain = slice_entries(length), sorted = slice_entries(max(std::int64_t{0}, length_of(key)));
  const bool leads = threadIdx.x % slice == 0;
  auto *sums = reinterpret_cast<unsigned long long *>(stored);
  if (leads) atomicAdd(sums, static_cast<unsigned long long>(plain));
  if (leads) atomicAdd(sums + 1, static_cast<unsigned long long>(sorted));
  __syncthreads();
  const bool worth = stored[0] * 100 > stored[1] * 103;
  if (worth && threadIdx.x == 0) atomicAdd(changed, 1);
  if (i >= rows) return;
  const std::int64_t row = worth ? first + static_cast<std::int64_t>(key & 0xffff) : i;
  perm[i] = static_cast<std::int32_t>(row);
  slot_of[row] = static_cast<std::int32_t>(i);
  if (leads) slice_ptr[i / slice] = worth ? sorted : plain;
}

// The places of the entries of row i: from slice_ptr[slot / slice] + slot % slice, `slice` apart.
struct Places {
  const std::int64_t *slice_ptr;
  const std::int32_t *slot_of;  // NULL: the identity
  __device__ std::int64_t operator()(std::int64_t i, std::int64_t rank) const {
    const std::int64_t slot = slot_of ? slot_of[i] : i;
    return slice_ptr[slot / slice] + slot % slice + rank * slice;
  }
};

template <class Word>
struct Fill {
  Places places;
  std::int64_t first;  // of the piece
  const std::int32_t *source_col;
  const Word *source;
  std::int32_t *col;  // NULL: values only
  Word *values;
  __device__ void operator()(std::int64_t i, std::int64_t k, std::int64_t rank) const {
    const std::int64_t at = places(i, rank);
    values[at] = source[k - first];
    if (col) col[at] = source_col[k - first];
  }
};

// The stored entries of one slot after another, a thread each: f(position, row, column), padding left out.
template <class F>
struct EachSlot {
  const std::int64_t *slice_ptr;
  const std::int32_t *perm, *col;
  F f;
  __device__ void operator()(std::int64_t slot) const {
    const std::int64_t row = perm ? perm[slot] : slot, end = slice_ptr[slot / slice + 1];
    for (std::int64_t at = slice_ptr[slot / slice] + slot % slice; at < end; at += slice)
      if (col[at] >= 0) f(at, row, static_cast<std::int64_t>(col[at]));
  }
};

}  // namespace sextant::storage_sell_cuda
