// SPDX-License-Identifier: BSD-3-Clause
// vector.stream.cuda on c128.
#define SEXTANT_VECTOR_STREAM_TYPE sextant::plugin::cuda::vectors::Complex<double>
#include "vector_stream.cuh"
