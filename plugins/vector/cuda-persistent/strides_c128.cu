// SPDX-License-Identifier: BSD-3-Clause
// vector.persistent.cuda on c128.
#define SEXTANT_VECTOR_PERSISTENT_TYPE sextant::plugin::cuda::vectors::Complex<double>
#include "vector_persistent.cuh"
