// SPDX-License-Identifier: BSD-3-Clause
// The transfer of a plane's data to shared memory: bulk copies that signal a barrier, several planes ahead of their
// use.
#pragma once

#include <cstdint>

#include "layout.hpp"

namespace stencil {

__device__ __forceinline__ std::uint32_t shared_address(const void *p) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(p));
}

// A barrier that completes when all threads and all announced bytes have arrived.
struct Barrier {
  std::uint64_t word;
  __device__ void init(int arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(&word)), "r"(arrivals) : "memory");
  }
  __device__ void arrive(std::uint32_t bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(&word)), "r"(bytes)
                 : "memory");
  }
  __device__ void wait(std::uint32_t phase) {
    asm volatile(
        "{.reg .pred done; again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1; @done bra over; bra again; "
        "over:}" ::"r"(shared_address(&word)),
        "r"(phase)
        : "memory");
  }
};

// Elements from `from` on, which need not exist, at `to`; whole groups of 16 bytes, of which `rows` elements exist.
// Returns the bytes that will come.
template <class E>
struct Window {
  static constexpr int group = 16 / sizeof(E);
  static __device__ int begin(int from) { return from & ~(group - 1); }
  static __device__ std::uint32_t fetch(void *to, const void *array, int from, int end, int rows, Barrier &barrier,
                                        std::uint64_t policy) {
    const int low = begin(from), first = max(low, 0), last = begin(min(end, rows) + group - 1);
    if (last <= first) return 0;
    const std::uint32_t bytes = static_cast<std::uint32_t>(last - first) * sizeof(E);
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], %2, [%3], %4;" ::
            "r"(shared_address(static_cast<E *>(to) + (first - low))),
        "l"(static_cast<const E *>(array) + first), "r"(bytes), "r"(shared_address(&barrier)), "l"(policy)
        : "memory");
    return bytes;
  }
};

}  // namespace stencil
