// SPDX-License-Identifier: BSD-3-Clause
// vector.persistent.cuda on f32.
#define SEXTANT_VECTOR_PERSISTENT_TYPE float
#include "vector_persistent.cuh"
