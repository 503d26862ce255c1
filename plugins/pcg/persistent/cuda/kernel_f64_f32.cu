// SPDX-License-Identifier: BSD-3-Clause
// The kernels for f64 vectors over A stored in f32.
#include "kernels.cuh"

namespace persistent {

const void *f64_over_f32_kernel(std::int32_t passes, bool clustered) {
  return clustered ? cluster_kernel_of<double, float>(passes) : kernel_of<double, float>(passes);
}

}  // namespace persistent
