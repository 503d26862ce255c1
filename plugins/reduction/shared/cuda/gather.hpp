// SPDX-License-Identifier: BSD-3-Clause
// The elements that one thread of a reduction reads and merges (sdk/cuda/reduce.hpp), for kernels whose launches are
// chained (sdk/cuda/chain.hpp). Include from .cu files.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "sextant/sdk/cuda/chain.hpp"
#include "sextant/sdk/cuda/reduce.hpp"

namespace sextant::plugin::cuda {

// How long the last cache keeps the operands: as usual, for the next run may need them, or not at all.
__device__ inline std::uint64_t cache_policy(bool streaming) {
  std::uint64_t usual, passing;
  asm("createpolicy.fractional.L2::evict_normal.b64 %0, 1.0;" : "=l"(usual));
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(passing));
  return streaming ? passing : usual;
}

// The part of thread `worker` of `workers`: groups of elements as wide as 16 bytes, `flight` of them in flight at once.
// Which thread takes which element depends on n and workers only; a pointer that is not aligned to 16 bytes costs
// speed, not bits.
template <class Op, int flight, bool aligned>
struct Gather {
  using V = typename Op::Value;
  using Acc = typename Op::Acc;
  static constexpr int width = 16 / sizeof(V);
  struct alignas(16) Group {
    V v[width];
  };

  const V *x, *y;
  std::int64_t workers;
  std::uint64_t policy;  // of the last cache: see cache_policy

  __device__ Group load(const V *from, std::int64_t group) const {
    if constexpr (aligned) {
      // The first cache would only be swept; its read-only path could hold stale data that the previous kernel
      // overwrote. Not volatile: loads of the next round may be moved up between those of this one, which is worth a
      // third.
      int4 bits;
      asm("ld.global.L1::no_allocate.L2::cache_hint.v4.s32 {%0, %1, %2, %3}, [%4], %5;"
          : "=r"(bits.x), "=r"(bits.y), "=r"(bits.z), "=r"(bits.w)
          : "l"(reinterpret_cast<const int4 *>(from) + group), "l"(policy));
      return reinterpret_cast<const Group &>(bits);
    } else {
      Group g;
#pragma unroll
      for (int k = 0; k < width; ++k) g.v[k] = from[group * width + k];
      return g;
    }
  }

  // Groups g, g + workers, ...; all: every one of them is below `groups`.
  template <bool all>
  __device__ void batch(Acc (&acc)[flight], std::int64_t g, std::int64_t groups) const {
    Group a[flight], b[flight];
#pragma unroll
    for (int f = 0; f < flight; ++f)
      if (all || g + f * workers < groups) {
        a[f] = load(x, g + f * workers);
        if constexpr (Op::vectors == 2) b[f] = load(y, g + f * workers);
      }
#pragma unroll
    for (int f = 0; f < flight; ++f)
      if (all || g + f * workers < groups) {
#pragma unroll
        for (int k = 0; k < width; ++k)
          acc[f] = Op::merge(
              acc[f], Op::element(a[f].v[k], Op::vectors == 2 ? b[f].v[k] : a[f].v[k], (g + f * workers) * width + k));
      }
  }

  __device__ Acc operator()(std::int64_t n, std::int64_t worker) const {
    Acc acc[flight];
#pragma unroll
    for (int f = 0; f < flight; ++f) acc[f] = Op::identity();
    const std::int64_t groups = n / width, ragged = groups * width + worker;
    // The few elements after the last whole group come with the first batch: afterwards they would add a wait.
    V last_x{}, last_y{};
    if (ragged < n) {
      last_x = x[ragged];
      if constexpr (Op::vectors == 2) last_y = y[ragged];
    }
    std::int64_t g = worker;
    for (; g + (flight - 1) * workers < groups; g += flight * workers) batch<true>(acc, g, groups);
    if (g < groups) batch<false>(acc, g, groups);
    if (ragged < n) acc[0] = Op::merge(acc[0], Op::element(last_x, Op::vectors == 2 ? last_y : last_x, ragged));
#pragma unroll
    for (int half = flight / 2; half > 0; half /= 2)
#pragma unroll
      for (int f = 0; f < half; ++f) acc[f] = Op::merge(acc[f], acc[f + half]);
    return acc[0];
  }
};

// Prefetches the operands of the block's first round of loads into the last cache, while the operation before is
// ending. They are later read only from there, so that it does not matter whether that operation still writes them.
template <class Op, int flight = 4>
__device__ void announce(std::int64_t n, const typename Op::Value *x, const typename Op::Value *y) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  constexpr int width = 16 / sizeof(typename Op::Value);
  if (threadIdx.x >= flight * Op::vectors) return;  // a stretch of either operand each
  const std::int64_t first = (static_cast<std::int64_t>(threadIdx.x % flight) * gridDim.x + blockIdx.x) * blockDim.x;
  const std::int64_t left = n / width - first;
  const auto *from = reinterpret_cast<const char *>(threadIdx.x < flight ? x : y) + first * 16;
  if (left <= 0 || reinterpret_cast<std::uintptr_t>(from) % 16 != 0) return;
  const unsigned bytes = 16 * (left < blockDim.x ? static_cast<unsigned>(left) : blockDim.x);
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(from), "r"(bytes) : "memory");
#endif
}

template <class Op, int flight = 4>
__device__ typename Op::Acc accumulate(std::int64_t n, const typename Op::Value *x, const typename Op::Value *y,
                                       std::int64_t worker, std::int64_t workers, bool streaming = false) {
  // Makes addresses opaque: no load moves above this point, and so not above the wait for the operation before.
  asm volatile("" : "+l"(x), "+l"(y)::"memory");
  const std::uintptr_t bits =
      reinterpret_cast<std::uintptr_t>(x) | (Op::vectors == 2 ? reinterpret_cast<std::uintptr_t>(y) : 0);
  const std::uint64_t policy = cache_policy(streaming);
  return bits % 16 == 0 ? Gather<Op, flight, true>{x, y, workers, policy}(n, worker)
                        : Gather<Op, flight, false>{x, y, workers, policy}(n, worker);
}

}  // namespace sextant::plugin::cuda
