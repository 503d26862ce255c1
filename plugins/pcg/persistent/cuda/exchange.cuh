// SPDX-License-Identifier: BSD-3-Clause
// The exchange between blocks, and sums of numbers of many threads: packets through the last cache, the memory of other
// blocks of one cluster, sums by the matrix unit.
#pragma once

#include <cstdint>

#include "layout.hpp"
#include "sextant/sdk/cuda/grid.hpp"

namespace persistent {

namespace cuda = sextant::plugin::cuda;
using cuda::Word;

constexpr int polls_in_flight = 4;
constexpr int quarters = 4;                     // warps that gather sums
constexpr int row_of_parts = most_warps + 2;    // rows of partial sums begin in different banks
constexpr int early_parts = 16;                 // blocks up to which polling for packets at once is faster
constexpr std::uint32_t patience = 20'000'000;  // polls, some tens of seconds

template <class V>
__device__ Word payload_of(V value) {
  if constexpr (sizeof(V) == 8)
    return static_cast<Word>(__double_as_longlong(value));
  else
    return static_cast<Word>(__float_as_uint(value));
}
template <class V>
__device__ V value_of(Word payload) {
  if constexpr (sizeof(V) == 8)
    return __longlong_as_double(static_cast<long long>(payload));
  else
    return __uint_as_float(static_cast<unsigned>(payload));
}

struct Packet {
  Word payload, epoch;
};
__device__ inline Packet peek(const ulonglong2 *from) {
  Packet found{};
#ifndef SXT_NO_PACKETS
  asm volatile("{.reg .b128 v; ld.relaxed.gpu.global.b128 v, [%2]; mov.b128 {%0, %1}, v;}"
               : "=l"(found.payload), "=l"(found.epoch)
               : "l"(from)
               : "memory");
#endif
  return found;
}

// Waits for `count` packets, those at from(k) where there(k) says that there is one, and hands their payloads to
// take(k, payload) in order. The first is there. False: given up.
template <int count, class There, class From, class Take>
__device__ bool receive(Word epoch, const There &there, const From &from, const Take &take) {
  const ulonglong2 *at[count];
#pragma unroll
  for (int k = 0; k < count; ++k) at[k] = from(there(k) ? k : 0);
  const auto wanted = static_cast<std::uint32_t>(epoch);  // packets are never so old that more would be needed
  Packet found[count];
  for (std::uint32_t waited = 0;; ++waited) {
    // All at once: polling only the missing ones would wait for one after the other.
#pragma unroll
    for (int k = 0; k < count; ++k) found[k] = peek(at[k]);
    std::uint32_t late = 0;
#pragma unroll
    for (int k = 0; k < count; ++k) late |= static_cast<std::uint32_t>(found[k].epoch) ^ wanted;
    if (late == 0) break;
    if (waited == patience) return false;
  }
#pragma unroll
  for (int k = 0; k < count; ++k)
    if (there(k)) take(k, found[k].payload);
  return true;
}

__device__ inline double shuffle(double value, int lane_mask) { return __shfl_xor_sync(0xffffffffu, value, lane_mask); }

// The sum over the eight lanes 8 k .. 8 k + 7 of a number of each: lane l gets that of k = l % 4. The matrix unit adds,
// by a product with ones, in less than half of the time of three exchanges between lanes. Lane l's number stands in
// column l / 4 of the fragment, so columns 2 k and 2 k + 1 are the eight lanes. With two numbers a lane, both are
// added.
__device__ inline void add_columns(double number, double &even, double &odd) {
#ifndef SXT_NO_PACKETS
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
               : "+d"(even), "+d"(odd)
               : "d"(1.0), "d"(number));
#endif
}
__device__ inline double sum_quarters(double number) {
  double even = 0, odd = 0;
  add_columns(number, even, odd);
  return even + odd;
}
__device__ inline double sum_quarters(double first, double second) {
  double even = 0, odd = 0;
  add_columns(first, even, odd);
  add_columns(second, even, odd);
  return even + odd;
}

// The sums of four numbers over a warp: two rounds of exchanges leave each lane responsible for one of them. Lane l
// gets sum l % 4.
__device__ inline double sum_four(const double (&v)[sums]) {
  const int lane = threadIdx.x & 31;
  const bool upper = lane & 16, odd = lane & 8;
  const double give0 = upper ? v[0] : v[2], give1 = upper ? v[1] : v[3];
  const double a = (upper ? v[2] : v[0]) + shuffle(give0, 16), b = (upper ? v[3] : v[1]) + shuffle(give1, 16);
  return sum_quarters((odd ? b : a) + shuffle(odd ? a : b, 8));
}

// Neither a positive number nor its reciprocal leaves the normal range on the way; by its exponent alone.
__device__ inline bool is_divisor(double b) {
  return static_cast<std::uint32_t>(__double2hiint(b)) - 0x10000000u < 0x60000000u;
}
// 1 / b within a rounding or two, by Newton's method, where b is a divisor: a division to the last bit takes three
// times as long and is on the way of every iteration. All blocks compute the same bits.
__device__ inline double reciprocal(double b) {
  double y;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(b));
  y = fma(y, fma(-b, y, 1.0), y);
  return fma(y, fma(-b, y, 1.0), y);
}

// ---- within a cluster: every block reaches every other one's shared memory

__device__ inline std::uint32_t shared_address(const void *p) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(p));
}
// The same place in another block of the cluster.
__device__ inline std::uint32_t in_block(std::uint32_t place, std::uint32_t block) {
  std::uint32_t there = 0;
#ifndef SXT_NO_PACKETS
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(place), "r"(block));
#endif
  return there;
}
__device__ inline void write_there(std::uint32_t there, double value) {
#ifndef SXT_NO_PACKETS
  asm volatile("st.shared::cluster.f64 [%0], %1;" ::"r"(there), "d"(value) : "memory");
#endif
}
__device__ inline void read_there(std::uint32_t there, double &value) {
#ifndef SXT_NO_PACKETS
  asm volatile("ld.shared::cluster.f64 %0, [%1];" : "=d"(value) : "r"(there) : "memory");
#endif
}
__device__ inline void read_there(std::uint32_t there, float &value) {
#ifndef SXT_NO_PACKETS
  asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(value) : "r"(there) : "memory");
#endif
}
// A barrier of all threads of the cluster: earlier writes of each are visible to all.
__device__ inline void meet_cluster() {
#ifndef SXT_NO_PACKETS
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
#endif
}

}  // namespace persistent
