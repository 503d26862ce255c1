// SPDX-License-Identifier: BSD-3-Clause
// The kernels for f64 vectors over A in f64.
#include "kernels.cuh"

namespace persistent {

const void *f64_kernel(std::int32_t passes) { return kernel_of<double, double>(passes); }

}  // namespace persistent
