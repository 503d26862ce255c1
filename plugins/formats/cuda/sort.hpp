// SPDX-License-Identifier: BSD-3-Clause
// A stable sort of 32-bit keys with their places, for conversions: least significant digit first, eight bits a pass
// (Satish, Harris and Garland, IPDPS 2009). The order of equal keys is kept, so the result depends only on the keys.
// Include from .cu files only.
#pragma once

#include <cuda_runtime.h>

#include <bit>
#include <cstdint>
#include <utility>

#include "sextant/sdk/cuda/storage.hpp"

namespace sextant::plugin::cuda {

inline constexpr int sort_threads = 256, sort_rounds = 8, sort_digits = 256;
inline constexpr int sort_warps = sort_threads / 32;
inline constexpr std::int64_t sort_tile = sort_threads * sort_rounds;

// A warp has `sort_rounds` x 32 consecutive keys; the digit of round r, -1 beyond the last key.
__device__ inline int digit_at(const std::int32_t *keys, std::int64_t n, std::int64_t k, int shift) {
  return k < n ? static_cast<int>(static_cast<std::uint32_t>(keys[k]) >> shift & (sort_digits - 1)) : -1;
}

// How often each digit occurs in each tile: counts[digit * tiles + tile].
template <class Count>
__global__ void __launch_bounds__(sort_threads)
    count_digits(std::int64_t n, const std::int32_t *keys, int shift, std::int64_t tiles, Count *counts) {
  __shared__ unsigned histogram[sort_digits];
  histogram[threadIdx.x] = 0;
  __syncthreads();
  const std::int64_t begin = blockIdx.x * sort_tile;
  for (int r = 0; r < sort_rounds; ++r) {
    const int digit = digit_at(keys, n, begin + r * sort_threads + threadIdx.x, shift);
    if (digit >= 0) atomicAdd(histogram + digit, 1u);
  }
  __syncthreads();
  counts[threadIdx.x * tiles + blockIdx.x] = static_cast<Count>(histogram[threadIdx.x]);
}

// first[digit * tiles + tile]: where the first key of the tile with that digit goes.
template <class Count, class Entry>
__global__ void __launch_bounds__(sort_threads)
    scatter_by_digit(std::int64_t n, const std::int32_t *keys, const Entry *places, int shift, std::int64_t tiles,
                     const Count *first, std::int32_t *keys_out, Entry *places_out) {
  __shared__ unsigned of_warp[sort_warps][sort_digits];
  __shared__ Count base[sort_digits];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (int w = 0; w < sort_warps; ++w) of_warp[w][threadIdx.x] = 0;
  base[threadIdx.x] = first[threadIdx.x * tiles + blockIdx.x];
  __syncthreads();
  const std::int64_t begin = blockIdx.x * sort_tile + static_cast<std::int64_t>(warp) * sort_rounds * 32 + lane;
  unsigned peers[sort_rounds];
  int digit[sort_rounds];
  for (int r = 0; r < sort_rounds; ++r) {  // what each warp has of each digit
    digit[r] = digit_at(keys, n, begin + r * 32, shift);
    peers[r] = __match_any_sync(0xffffffffu, digit[r]);
    if (digit[r] >= 0 && lane == __ffs(peers[r]) - 1) of_warp[warp][digit[r]] += __popc(peers[r]);
    __syncwarp();
  }
  __syncthreads();
  unsigned before = 0;  // a thread a digit: what the warps before have of it
  for (int w = 0; w < sort_warps; ++w) {
    const unsigned mine = of_warp[w][threadIdx.x];
    of_warp[w][threadIdx.x] = before;
    before += mine;
  }
  __syncthreads();
  for (int r = 0; r < sort_rounds; ++r) {
    if (digit[r] >= 0) {
      const std::int64_t k = begin + r * 32;
      const Count to =
          base[digit[r]] + static_cast<Count>(of_warp[warp][digit[r]] + __popc(peers[r] & ((1u << lane) - 1)));
      keys_out[to] = keys[k];
      places_out[to] = places ? places[k] : static_cast<Entry>(k);
    }
    __syncwarp();
    if (digit[r] >= 0 && lane == __ffs(peers[r]) - 1) of_warp[warp][digit[r]] += __popc(peers[r]);
    __syncwarp();
  }
}

// places[k]: which of the n keys, all from 0 to largest, comes k-th. Entry: i32 below 2^31 keys, else i64. Takes memory
// for the time of the call; does not wait.
template <class Entry>
void sorted_places(const sxt_exec *exec, const std::int32_t *keys, std::int64_t n, std::int64_t largest,
                   Entry *places) {
  if (n <= 0) return;
  const std::int64_t tiles = divide_up(n, sort_tile);
  const int passes = std::max(1, (static_cast<int>(std::bit_width(static_cast<std::uint64_t>(largest))) + 7) / 8);
  const char *what = "sorting";
  const DeviceArray counts(exec, tiles * sort_digits * sizeof(Entry), what, Life::call);
  DeviceArray sorted(exec, n * sizeof(std::int32_t), what, Life::call), other_keys, other_places;
  if (passes > 1) {
    other_keys = DeviceArray(exec, n * sizeof(std::int32_t), what, Life::call);
    other_places = DeviceArray(exec, n * sizeof(Entry), what, Life::call);
  }
  // The last pass writes to `places`.
  Entry *to = passes % 2 ? places : other_places.as<Entry>(), *spare = passes % 2 ? other_places.as<Entry>() : places;
  std::int32_t *keys_to = sorted.as<std::int32_t>(), *keys_spare = other_keys.as<std::int32_t>();
  const std::int32_t *keys_from = keys;
  const Entry *from = nullptr;  // the identity
  for (int pass = 0; pass < passes; ++pass) {
    count_digits<<<static_cast<unsigned>(tiles), sort_threads, 0, stream_of(*exec)>>>(n, keys_from, 8 * pass, tiles,
                                                                                      counts.as<Entry>());
    need_launch("a sort");
    exclusive_scan(exec, counts.as<Entry>(), tiles * sort_digits);
    scatter_by_digit<<<static_cast<unsigned>(tiles), sort_threads, 0, stream_of(*exec)>>>(
        n, keys_from, from, 8 * pass, tiles, counts.as<const Entry>(), keys_to, to);
    need_launch("a sort");
    keys_from = keys_to, from = to;
    std::swap(keys_to, keys_spare), std::swap(to, spare);
  }
}

}  // namespace sextant::plugin::cuda
