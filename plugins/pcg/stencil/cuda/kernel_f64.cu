// SPDX-License-Identifier: BSD-3-Clause
// The kernels for f64.
#include "kernels.cuh"
#include "model.hpp"
#include "sextant/sdk/cuda/generation.hpp"

namespace stencil {

Kernel f64_kernel(const Form &form) { return kernel_of<double, double>(form); }

sxt_status has_kernels_for(const sxt_machine &machine, sxt_message *reason) {
  return cuda::needs_own_code(machine, reason);
}

}  // namespace stencil
