// SPDX-License-Identifier: BSD-3-Clause
// The instruction set a prepared kernel uses: the one the model assumed (sxt_machine.level, which kernels keep in
// launch[1]), limited to what this process can run. A plan from a machine with wider vectors then still works.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sextant/sdk/kernel.hpp"

namespace sextant::plugin {

// 3 AVX-512 (F, VL, DQ, BW), 2 AVX2 with FMA, 1 otherwise.
inline int hardware_level() {
#if defined(__x86_64__)
  static const int level = [] {
    __builtin_cpu_init();
    // These also ask whether the operating system saves the wide registers.
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return 1;
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                   __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw")
               ? 3
               : 2;
  }();
  return level;
#else
  return 1;
#endif
}

// The level of a candidate; the hardware's where it names none.
inline int isa_level(const sxt_candidate *candidate) {
  const std::int64_t wanted = candidate ? candidate->launch[1] : 0;
  return wanted > 0 ? static_cast<int>(std::min<std::int64_t>(wanted, hardware_level())) : hardware_level();
}

// Bytes of one vector register at a level.
inline double register_bytes_of(int level) { return level >= 3 ? 64 : level == 2 ? 32 : 16; }

}  // namespace sextant::plugin
