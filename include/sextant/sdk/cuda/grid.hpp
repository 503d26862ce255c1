// SPDX-License-Identifier: BSD-3-Clause
// Two ways to combine the partial results of all blocks of a launch, in an order that depends only on the grid. Include
// from .cu files. Both leave the total in thread 0 of one block, for which they return true. Every thread of the grid
// calls.
#pragma once

#include "sextant/sdk/cuda/reduce.hpp"

namespace sextant::plugin::cuda {

using Word = unsigned long long;

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
#define SXT_NO_PACKETS 1  // single 16-byte accesses that cannot tear need compute capability 9
#endif

// One packet: 8 bytes of a partial result and the epoch of the run it belongs to, in one access.
__device__ inline void send_packet(ulonglong2 *to, Word payload, Word epoch) {
#ifndef SXT_NO_PACKETS
  asm volatile("{.reg .b128 v; mov.b128 v, {%1, %2}; st.relaxed.gpu.global.b128 [%0], v;}" ::"l"(to), "l"(payload),
               "l"(epoch)
               : "memory");
#endif
}

// Waits until the packet carries the epoch.
__device__ inline Word receive_packet(const ulonglong2 *from, Word epoch) {
  Word payload = 0, found = epoch;
  do {
#ifndef SXT_NO_PACKETS
    asm volatile("{.reg .b128 v; ld.relaxed.gpu.global.b128 v, [%2]; mov.b128 {%0, %1}, v;}"
                 : "=l"(payload), "=l"(found)
                 : "l"(from)
                 : "memory");
#endif
  } while (found != epoch);
  return payload;
}

template <class Acc>
struct Packed {
  static constexpr int words = (sizeof(Acc) + 7) / 8;
  union {
    Acc value;
    Word word[words];
  };
  __device__ Packed() {
    for (auto &each : word) each = 0;
  }
};

// Every block sends its partial result (in its thread 0) to block 0, which waits until all packets carry this run's
// epoch: the data are the signal, so no fence, atomic or second launch is needed between the last load and the result.
// Only block 0 waits, so the run ends in every order of scheduling. packets: Packed<Acc>::words a block, all zero
// before the first run, like *last_epoch; epoch: *last_epoch + 1, read at the start by every thread, from device memory
// so that a captured run can be replayed. shared: one a warp, free to use.
template <class Op>
__device__ bool merge_grid_by_packets(typename Op::Acc &acc, typename Op::Acc *shared, ulonglong2 *packets,
                                      Word *last_epoch, Word epoch) {
  using Box = Packed<typename Op::Acc>;
  if (blockIdx.x > 0) {
    if (threadIdx.x > 0) return false;
    Box box;
    box.value = acc;
    for (int w = 0; w < Box::words; ++w) send_packet(packets + blockIdx.x * Box::words + w, box.word[w], epoch);
    return false;
  }
  if (threadIdx.x > 0) acc = Op::identity();
  for (unsigned from = threadIdx.x ? threadIdx.x : blockDim.x; from < gridDim.x; from += blockDim.x) {
    Box box;
    for (int w = 0; w < Box::words; ++w) box.word[w] = receive_packet(packets + from * Box::words + w, epoch);
    acc = Op::merge(acc, box.value);
  }
  __syncthreads();
  acc = merge_block<Op>(acc, shared);
  if (threadIdx.x > 0) return false;
  *last_epoch = epoch;  // every block has read the old one: it sent the new one
  return true;
}

__device__ inline Word next_epoch(const Word *last_epoch) {
  return *static_cast<const volatile Word *>(last_epoch) + 1;
}

// Blocks store their partial results and draw a ticket; the block that draws the last one adds them in block order, so
// bits do not depend on which block that was. The ticket wraps to zero. partials: one a block.
template <class Op>
__device__ bool merge_grid_by_ticket(typename Op::Acc &acc, typename Op::Acc *shared, typename Op::Acc *partials,
                                     unsigned *counter) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    partials[blockIdx.x] = acc;
    unsigned ticket;
    // Releases this block's partial result and, for the last block, acquires all the others.
    asm volatile("fence.acq_rel.gpu; atom.relaxed.gpu.global.inc.u32 %0, [%1], %2; fence.acq_rel.gpu;"
                 : "=r"(ticket)
                 : "l"(counter), "r"(gridDim.x - 1)
                 : "memory");
    last = ticket == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return false;
  acc = Op::identity();
  for (unsigned from = threadIdx.x; from < gridDim.x; from += blockDim.x) acc = Op::merge(acc, partials[from]);
  acc = merge_block<Op>(acc, shared);
  return threadIdx.x == 0;
}

}  // namespace sextant::plugin::cuda
