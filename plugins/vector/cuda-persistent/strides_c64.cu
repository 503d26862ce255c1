// SPDX-License-Identifier: BSD-3-Clause
// vector.persistent.cuda on c64.
#define SEXTANT_VECTOR_PERSISTENT_TYPE sextant::plugin::cuda::vectors::Complex<float>
#include "vector_persistent.cuh"
