// SPDX-License-Identifier: BSD-3-Clause
// For kernels whose instructions exist from some generation on and are left out of code for older ones: does this build
// hold code made for the device? A newer device would run code translated from older PTX, which lacks them. Include
// from .cu files.
#pragma once

#include <cstdint>

#include "sextant/sdk/kernel.hpp"

namespace sextant::plugin::cuda {

// Machine code runs within its generation only: compute capability 9.0 on 9.x.
inline bool compiled_for(std::int32_t level) {
#ifdef __CUDA_ARCH_LIST__
  for (const int architecture : {__CUDA_ARCH_LIST__})
    if (architecture / 100 == level / 10) return true;
  return false;
#else
  return level / 10 == 9;  // what builds hold by default
#endif
}

// SXT_OK, or the reason for a refusal.
inline sxt_status needs_own_code(const sxt_machine &machine, sxt_message *reason) {
  if (compiled_for(machine.level)) return SXT_OK;
  return refuse(
      reason, "this build holds no code made for compute capability %d.%d, and translated code would lack what it uses",
      machine.level / 10, machine.level % 10);
}

}  // namespace sextant::plugin::cuda
