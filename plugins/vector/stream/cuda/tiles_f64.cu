// SPDX-License-Identifier: BSD-3-Clause
// vector.stream.cuda on f64.
#include "vector_stream.cuh"

SXT_VECTOR_WAYS(, sextant::vector_cuda::Tiles, double);
