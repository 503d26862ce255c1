// SPDX-License-Identifier: BSD-3-Clause
// The kernels for f32.
#include "kernels.cuh"

namespace stencil {

Kernel f32_kernel(const Form &form) { return kernel_of<float, float>(form); }

}  // namespace stencil
