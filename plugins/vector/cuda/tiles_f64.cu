// SPDX-License-Identifier: BSD-3-Clause
// vector.stream.cuda on f64.
#define SEXTANT_VECTOR_STREAM_TYPE double
#include "vector_stream.cuh"
