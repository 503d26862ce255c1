// SPDX-License-Identifier: BSD-3-Clause
// How the warps of a grid that is one thread-block cluster combine their partial results (compute capability 9): each
// stores its own into the first block's shared memory, and the stores are counted by a barrier there, so that only the
// merging warp waits, and only once. Merged in the order of warps: equal bits for equal input. Include from .cu files.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#include "sextant/sdk/cuda/reduce.hpp"

namespace sextant::plugin::cuda {

// In shared memory, one for a kernel; `most`: warps of the cluster.
template <class Acc, int most>
struct ClusterRoom {
  alignas(16) unsigned char row[most * sizeof(Acc)];
  std::uint64_t arrived;
};

__device__ inline std::uint32_t shared_address(const void *here) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(here));
}

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900

// The place of the first block that corresponds to this block's `here`.
__device__ inline std::uint32_t in_first_block(std::uint32_t here) {
  std::uint32_t there;
  asm("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(there) : "r"(here));
  return there;
}

// Every thread of the cluster calls it first, and waits only for the other blocks to begin, while the operation before
// is ending.
template <class Acc, int most>
__device__ void open_cluster(ClusterRoom<Acc, most> &room) {
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    const std::uint32_t arrived = shared_address(&room.arrived), bytes = gridDim.x * (blockDim.x / 32) * sizeof(Acc);
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(arrived) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(arrived), "r"(bytes) : "memory");
  }
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

// Lane 0's result of each warp, merged over the cluster, in thread 0 of the first block, for which it returns true.
// Whole warps call it.
template <class Op, int most>
__device__ bool merge_cluster(typename Op::Acc &acc, ClusterRoom<typename Op::Acc, most> &room) {
  using Acc = typename Op::Acc;
  using Word = std::conditional_t<sizeof(Acc) % 8 == 0, unsigned long long, unsigned>;
  constexpr int words = sizeof(Acc) / sizeof(Word);
  const unsigned warps = blockDim.x / 32, lane = threadIdx.x % 32, rows = gridDim.x * warps;
  const unsigned own = blockIdx.x * warps + threadIdx.x / 32;
  if (lane == 0) {
    union {
      Acc acc;
      Word word[words];
    } box{acc};
    const std::uint32_t to = in_first_block(shared_address(room.row + own * sizeof(Acc)));
    const std::uint32_t arrived = in_first_block(shared_address(&room.arrived));
#pragma unroll
    for (int i = 0; i < words; ++i)
      if constexpr (sizeof(Word) == 8)
        asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b64 [%0], %1, [%2];" ::"r"(to + 8 * i),
                     "l"(box.word[i]), "r"(arrived)
                     : "memory");
      else
        asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(to + 4 * i),
                     "r"(box.word[i]), "r"(arrived)
                     : "memory");
  }
  if (blockIdx.x > 0 || threadIdx.x >= 32) return false;
  std::uint32_t complete;
  do {
    asm volatile(
        "{.reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p;}"
        : "=r"(complete)
        : "r"(shared_address(&room.arrived))
        : "memory");
  } while (!complete);
  const Acc *row = reinterpret_cast<const Acc *>(room.row);
  acc = Op::identity();
  for (unsigned from = lane; from < rows; from += 32) acc = Op::merge(acc, row[from]);
  acc = merge_warp<Op>(acc);
  return lane == 0;
}

#endif

}  // namespace sextant::plugin::cuda
