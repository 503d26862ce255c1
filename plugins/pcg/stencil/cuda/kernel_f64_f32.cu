// SPDX-License-Identifier: BSD-3-Clause
// The kernels for f64 over A in f32.
#include "kernels.cuh"

namespace stencil {

Kernel f64_over_f32_kernel(const Form &form) { return kernel_of<double, float>(form); }

}  // namespace stencil
