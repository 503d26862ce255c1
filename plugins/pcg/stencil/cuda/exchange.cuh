// SPDX-License-Identifier: BSD-3-Clause
// The exchange of four sums between all blocks of a launch, which is also a barrier: each block sends its sums as
// packets with the epoch, and reads those of all. Writes of a block to memory before it sent are visible to bulk copies
// that another issues after it has read.
#pragma once

#include "sextant/sdk/cuda/sums.hpp"

namespace stencil {

namespace cuda = sextant::plugin::cuda;

// Orders the block's own accesses with bulk copies of device memory.
__device__ __forceinline__ void order_bulk_copies() { asm volatile("fence.proxy.async.global;" ::: "memory"); }

// Packets have two copies, by the epoch's parity: a block can be at most one exchange ahead, since the next needs the
// packets of all.
__device__ inline ulonglong2 *packets_of(const cuda::SumsExchange &exchange, cuda::Word epoch) {
  return exchange.packets + (epoch & 1) * gridDim.x * cuda::sums_at_once;
}

// Sends the block's sums. Every thread calls.
__device__ inline void send_sums(const double (&sum)[cuda::sums_at_once], cuda::SumsRoom<double> &room,
                                 const cuda::SumsExchange &exchange, cuda::Word epoch) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const double own = cuda::add_warp(sum);
  if (lane % 8 == 0) room.warp[lane / 8][warp] = own;
  order_bulk_copies();
  __syncthreads();
  if (warp > 0) return;
  cuda::Packed<double> box;
  box.value = cuda::add_warps(room);
  __threadfence();  // the block's writes are ordered before its packets
  if (lane % 8 == 0)
    cuda::send_packet(packets_of(exchange, epoch) + blockIdx.x * cuda::sums_at_once + lane / 8, box.word[0], epoch);
}

// The sums over the grid, the same bits in every block: in its first warp lane 8 k gets sum k.
__device__ inline double receive_sums(cuda::SumsRoom<double> &room, const cuda::SumsExchange &exchange,
                                      cuda::Word epoch) {
  const ulonglong2 *packets = packets_of(exchange, epoch);
  double mine = 0;
  for (unsigned at = threadIdx.x; at < gridDim.x * cuda::sums_at_once; at += blockDim.x) {
    cuda::Packed<double> box;
    box.word[0] = cuda::receive_packet(packets + at, epoch);
    mine += box.value;
  }
  __threadfence();
  __syncthreads();  // the first warp has read the others' sums in room
  return cuda::add_gathered(mine, room);
}

}  // namespace stencil
