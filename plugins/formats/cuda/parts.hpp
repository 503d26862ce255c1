// SPDX-License-Identifier: BSD-3-Clause
// Sums that several warps of a grid have parts of, combined within the launch: each part is sent to the one warp that
// adds them, as packets with an epoch (sdk/cuda/grid.hpp), and is added in a fixed order: no second launch, and bits
// depend only on the parts. The sender must be running or have run when the receiver waits: a block waits only for
// blocks of lower numbers, or the grid fits the device at once. Include from .cu files.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "plugins/formats/cuda/segments.hpp"
#include "sextant/sdk/cuda/grid.hpp"

namespace sextant::plugin::cuda {

// Bytes of packets for this many parts. All are zero before a run and after it: the receiver clears them.
inline std::uint64_t part_bytes(std::int64_t parts, std::uint64_t value) {
  return static_cast<std::uint64_t>(parts) * (value > 8 ? 2 : 1) * sizeof(ulonglong2);
}

template <class V>
__device__ __forceinline__ void send_part(ulonglong2 *packets, std::int64_t part, V value) {
  Packed<V> box;
  box.value = value;
#pragma unroll
  for (int w = 0; w < Packed<V>::words; ++w) {
    ulonglong2 *to = packets + part * Packed<V>::words + w;
#ifdef SXT_NO_PACKETS  // in two accesses; the one with the signal comes last
    *reinterpret_cast<volatile Word *>(&to->x) = box.word[w];
    __threadfence();
    *reinterpret_cast<volatile Word *>(&to->y) = 1;
#else
    send_packet(to, box.word[w], 1);
#endif
  }
}

template <class V>
__device__ __forceinline__ V receive_part(ulonglong2 *packets, std::int64_t part) {
  Packed<V> box;
#pragma unroll
  for (int w = 0; w < Packed<V>::words; ++w) {
    ulonglong2 *from = packets + part * Packed<V>::words + w;
#ifdef SXT_NO_PACKETS
    while (*reinterpret_cast<volatile Word *>(&from->y) == 0) {
    }
    __threadfence();
    box.word[w] = *reinterpret_cast<volatile Word *>(&from->x);
#else
    box.word[w] = receive_packet(from, 1);
#endif
    *reinterpret_cast<volatile Word *>(&from->y) = 0;
  }
  return box.value;
}

// The sum of parts first .. last - 1, in each lane of the warp that calls; of R columns, the one given.
template <class V, int R = 1>
__device__ __forceinline__ V receive_parts(ulonglong2 *packets, std::int64_t first, std::int64_t last, int column = 0) {
  const int lane = threadIdx.x % 32;
  V sum{};
  for (std::int64_t part = first + lane; part < last; part += 32)
    sum = plus(sum, receive_part<V>(packets, part * R + column));
#pragma unroll
  for (int d = 16; d > 0; d /= 2) sum = plus(sum, shuffled(sum, lane ^ d));
  return sum;
}

}  // namespace sextant::plugin::cuda
