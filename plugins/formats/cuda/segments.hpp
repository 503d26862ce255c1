// SPDX-License-Identifier: BSD-3-Clause
// Segmented sums of products by warps, for kernels that cut the entries of a matrix into equal shares, for any row
// lengths (Blelloch, Heroux and Zagha, CMU-CS-93-173, 1993). A warp takes its share in chunks of 128 entries, four
// consecutive ones a lane; lanes sum what lies within them, and one scan over the warp closes the rows that cross
// lanes. Include from .cu files.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "sextant/sdk/cuda/chain.hpp"
#include "sextant/sdk/cuda/memory.hpp"
#include "sextant/sdk/cuda/spmv.hpp"

namespace sextant::plugin::cuda {

inline constexpr int lane_entries = 4, chunk_entries = 32 * lane_entries;
inline constexpr unsigned whole_warp = 0xffffffffu;

__device__ __forceinline__ float shuffled_up(float v, int d) { return __shfl_up_sync(whole_warp, v, d); }
__device__ __forceinline__ double shuffled_up(double v, int d) { return __shfl_up_sync(whole_warp, v, d); }
template <class R>
__device__ __forceinline__ Complex<R> shuffled_up(Complex<R> v, int d) {
  return {__shfl_up_sync(whole_warp, v.re, d), __shfl_up_sync(whole_warp, v.im, d)};
}
__device__ __forceinline__ float shuffled(float v, int from) { return __shfl_sync(whole_warp, v, from); }
__device__ __forceinline__ double shuffled(double v, int from) { return __shfl_sync(whole_warp, v, from); }
template <class R>
__device__ __forceinline__ Complex<R> shuffled(Complex<R> v, int from) {
  return {__shfl_sync(whole_warp, v.re, from), __shfl_sync(whole_warp, v.im, from)};
}

// Four consecutive elements from k, a multiple of four, as far as they lie below n; arrays are aligned to 16 bytes.
template <class T>
__device__ __forceinline__ void load_four(const T *from, std::int64_t k, std::int64_t n, T (&out)[lane_entries]) {
  if (sizeof(T) < 16 && k + lane_entries <= n) {
    constexpr int pieces = sizeof(T) * lane_entries / 16, each = lane_entries / pieces;
#pragma unroll
    for (int i = 0; i < pieces; ++i) {
      struct alignas(16) Group {
        T v[each];
      };
      const Group group = streamed(reinterpret_cast<const Group *>(from + k) + i);
#pragma unroll
      for (int j = 0; j < each; ++j) out[i * each + j] = group.v[j];
    }
    return;
  }
#pragma unroll
  for (int j = 0; j < lane_entries; ++j) out[j] = k + j < n ? streamed(from + k + j) : T{};
}

// Sums over lanes from the last one before or at a lane that begins a segment; heads: ballot of those that do.
template <class V>
__device__ __forceinline__ V segmented_scan(V value, unsigned heads, int lane) {
  const unsigned before = heads & (whole_warp >> (31 - lane));
  const int distance = before ? lane - (31 - __clz(before)) : lane;
#pragma unroll
  for (int d = 1; d < 32; d *= 2) {
    const V other = shuffled_up(value, d);
    if (d <= distance) value = plus(value, other);
  }
  return value;
}

// One chunk's sums, closed as far as rows end in it. product[j][r]: of the lane's entry j, zero beyond the tile;
// start[j]: whether that entry begins a row, and then ended[j]: the row that ends before it, negative where there is
// none; open[r]: the sum of the row that was open before the chunk, afterwards of the one that is open after it.
// close(row, sums) is called for every row that ends.
template <class V, int R, class Close>
__device__ __forceinline__ void sum_chunk(const V (&product)[lane_entries][R], const bool (&start)[lane_entries],
                                          const std::int32_t (&ended)[lane_entries], int lane, V (&open)[R],
                                          Close &&close) {
  V head[R], run[R];
#pragma unroll
  for (int r = 0; r < R; ++r) head[r] = run[r] = V{};
  bool own = false;  // whether a row begins in this lane
  std::int32_t first_ended = -1;
#pragma unroll
  for (int j = 0; j < lane_entries; ++j) {
    if (start[j]) {
      if (own)
        close(ended[j], run);
      else
        first_ended = ended[j];
#pragma unroll
      for (int r = 0; r < R; ++r) {
        if (!own) head[r] = run[r];
        run[r] = V{};
      }
      own = true;
    }
#pragma unroll
    for (int r = 0; r < R; ++r) run[r] = plus(run[r], product[j][r]);
  }
  const unsigned heads = __ballot_sync(whole_warp, own);
  const bool crosses = (heads & ((1u << lane) - 1)) == 0;  // no row begins in a lower lane
  V closing[R];
#pragma unroll
  for (int r = 0; r < R; ++r) {
    const V scanned = segmented_scan(run[r], heads, lane);
    V before = shuffled_up(scanned, 1);
    if (lane == 0) before = V{};
    if (crosses) before = plus(open[r], before);
    closing[r] = plus(before, head[r]);
    const V last = shuffled(scanned, 31);
    open[r] = heads ? last : plus(open[r], last);
  }
  if (own && first_ended >= 0) close(first_ended, closing);
}

}  // namespace sextant::plugin::cuda
