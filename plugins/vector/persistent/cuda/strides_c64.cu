// SPDX-License-Identifier: BSD-3-Clause
// vector.persistent.cuda on c64.
#include "vector_persistent.cuh"

SXT_VECTOR_WAYS(, sextant::vector_persistent::Strides, sextant::plugin::cuda::Complex<float>);
