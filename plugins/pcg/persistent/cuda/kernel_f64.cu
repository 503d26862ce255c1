// SPDX-License-Identifier: BSD-3-Clause
// The kernels for f64 vectors over A in f64.
#include "kernels.cuh"
#include "model.hpp"
#include "sextant/sdk/cuda/generation.hpp"

namespace persistent {

const void *f64_kernel(std::int32_t passes, bool clustered) {
  return clustered ? cluster_kernel_of<double, double>(passes) : kernel_of<double, double>(passes);
}

sxt_status has_kernels_for(const sxt_machine &machine, sxt_message *reason) {
  return sextant::plugin::cuda::needs_own_code(machine, reason);
}

}  // namespace persistent
