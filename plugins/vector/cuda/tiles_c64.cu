// SPDX-License-Identifier: BSD-3-Clause
// vector.stream.cuda on c64.
#define SEXTANT_VECTOR_STREAM_TYPE sextant::plugin::cuda::vectors::Complex<float>
#include "vector_stream.cuh"
