// SPDX-License-Identifier: BSD-3-Clause
// vector.stream.cuda on f32.
#define SEXTANT_VECTOR_STREAM_TYPE float
#include "vector_stream.cuh"
