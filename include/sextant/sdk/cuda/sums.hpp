// SPDX-License-Identifier: BSD-3-Clause
// Four sums at once through warps, blocks and the grid, for kernels that also compute inner products. Lanes exchange
// sums while they add, so that four take little longer than one: eight exchanges a block instead of forty. The block
// that ends last adds the blocks' sums in the order of blocks: bits depend only on the grid. Include from .cu files.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "sextant/sdk/cuda/grid.hpp"

namespace sextant::plugin::cuda {

inline constexpr int sums_at_once = 4;

template <class R>
__device__ __forceinline__ R from_lane(R v, int mask) {
  return __shfl_xor_sync(0xffffffffu, v, mask);
}
template <class R>
__device__ __forceinline__ Complex<R> from_lane(Complex<R> v, int mask) {
  return {__shfl_xor_sync(0xffffffffu, v.re, mask), __shfl_xor_sync(0xffffffffu, v.im, mask)};
}

// A: double or Complex<double>. Room in shared memory for one block.
template <class A>
struct SumsRoom {
  A warp[sums_at_once][32], own[sums_at_once];
  bool last;
};

// Device memory through which the blocks of a launch combine their sums. epoch NULL: by partials and counter. All of it
// is zero before the first run.
struct SumsExchange {
  void *partials;       // four A a block
  unsigned *counter;    // zero again after each run
  ulonglong2 *packets;  // four times the words of A a block
  Word *epoch;          // of the last run
};
inline constexpr std::uint64_t sums_bytes_a_block = sums_at_once * sizeof(Complex<double>);
inline constexpr std::uint64_t sums_packets_a_block = 2 * sums_bytes_a_block;

// The sum of every fourth part of a warp's lanes: lane 8 k gets the sum over all lanes of sum[k].
template <class A>
__device__ __forceinline__ A add_warp(const A (&sum)[sums_at_once]) {
  const int lane = threadIdx.x % 32;
  const bool upper = lane & 16, odd = lane & 8;
  // Each half keeps two sums and hands the other two over, then each quarter one.
  const A low = plus(upper ? sum[2] : sum[0], from_lane(upper ? sum[0] : sum[2], 16));
  const A high = plus(upper ? sum[3] : sum[1], from_lane(upper ? sum[1] : sum[3], 16));
  A mine = plus(odd ? high : low, from_lane(odd ? low : high, 8));
#pragma unroll
  for (int d = 4; d > 0; d /= 2) mine = plus(mine, from_lane(mine, d));
  return mine;
}

// Adds the warps' sums in room: in the first warp, lane 8 k gets sum k.
template <class A>
__device__ __forceinline__ A add_warps(const SumsRoom<A> &room) {
  const int lane = threadIdx.x % 32, warps = (blockDim.x + 31) / 32;
  A mine{};
#pragma unroll
  for (int w = 0; w < 32; w += 8)
    if (w + lane % 8 < warps) mine = plus(mine, room.warp[lane / 8][w + lane % 8]);
#pragma unroll
  for (int d = 4; d > 0; d /= 2) mine = plus(mine, from_lane(mine, d));
  return mine;
}

// Adds the partial sums that the threads of the last block, or of block 0, hold: thread t has a part of sum t mod 4.
// Ends as add_warps.
template <class A>
__device__ __forceinline__ A add_gathered(A mine, SumsRoom<A> &room) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
  for (int d = 16; d >= sums_at_once; d /= 2) mine = plus(mine, from_lane(mine, d));
  if (lane < sums_at_once) room.warp[lane][warp] = mine;
  __syncthreads();
  return warp == 0 ? add_warps(room) : A{};
}

// The block's sums leave through its first warp, whose lane 8 k holds `block`, sum k.
template <class A>
__device__ bool add_by_ticket(A block, SumsRoom<A> &room, const SumsExchange &exchange, A *total) {
  A *partials = static_cast<A *>(exchange.partials);
  if (threadIdx.x < 32) {
    if (threadIdx.x % 8 == 0) partials[blockIdx.x * sums_at_once + threadIdx.x / 8] = block;
    __syncwarp();
    if (threadIdx.x == 0) {
      unsigned ticket;
      asm volatile("atom.release.gpu.global.inc.u32 %0, [%1], %2;"
                   : "=r"(ticket)
                   : "l"(exchange.counter), "r"(gridDim.x - 1)
                   : "memory");
      room.last = ticket == gridDim.x - 1;
      if (room.last) asm volatile("fence.acq_rel.gpu;" ::: "memory");  // all others' sums are visible
    }
  }
  __syncthreads();
  if (!room.last) return false;
  A mine{};
  for (unsigned at = threadIdx.x; at < gridDim.x * sums_at_once; at += blockDim.x) mine = plus(mine, partials[at]);
  *total = add_gathered(mine, room);
  return threadIdx.x < 32;
}

template <class A>
__device__ bool add_by_packets(A block, SumsRoom<A> &room, const SumsExchange &exchange, Word epoch, int count,
                               A *total) {
  constexpr int words = Packed<A>::words;
  const int k = threadIdx.x / 8;
  if (blockIdx.x > 0) {
    if (threadIdx.x % 8 || k >= count) return false;  // also all other warps: k is 4 and more there
    Packed<A> box;
    box.value = block;
    for (int w = 0; w < words; ++w)
      send_packet(exchange.packets + (blockIdx.x * sums_at_once + k) * words + w, box.word[w], epoch);
    return false;
  }
  __syncthreads();  // the first warp has read the others' sums in room
  if (threadIdx.x < 32 && threadIdx.x % 8 == 0) room.own[k] = block;
  A mine{};
  if (static_cast<int>(threadIdx.x) % sums_at_once < count)
    for (unsigned at = sums_at_once + threadIdx.x; at < gridDim.x * sums_at_once; at += blockDim.x) {
      Packed<A> box;
      for (int w = 0; w < words; ++w) box.word[w] = receive_packet(exchange.packets + at * words + w, epoch);
      mine = plus(mine, box.value);
    }
  *total = add_gathered(mine, room);
  if (threadIdx.x == 0) *exchange.epoch = epoch;  // every block has read the old one: it sent the new one
  if (threadIdx.x < 32) *total = plus(room.own[k], *total);
  return threadIdx.x < 32;
}

// The sums over all threads of the grid of sum[0] .. sum[count - 1]. True in the first warp of one block, where *total
// is sum k in lane 8 k. epoch: next_epoch() of the exchange, read when the run began. Every thread calls.
template <class A>
__device__ bool add_grid(const A (&sum)[sums_at_once], SumsRoom<A> &room, const SumsExchange &exchange, Word epoch,
                         int count, A *total) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const A own = add_warp(sum);
  if (lane % 8 == 0) room.warp[lane / 8][warp] = own;
  __syncthreads();
  const A block = warp == 0 ? add_warps(room) : A{};
  return exchange.epoch ? add_by_packets(block, room, exchange, epoch, count, total)
                        : add_by_ticket(block, room, exchange, total);
}

}  // namespace sextant::plugin::cuda
