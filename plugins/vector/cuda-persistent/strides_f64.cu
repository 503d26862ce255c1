// SPDX-License-Identifier: BSD-3-Clause
// vector.persistent.cuda on f64.
#define SEXTANT_VECTOR_PERSISTENT_TYPE double
#include "vector_persistent.cuh"
