// SPDX-License-Identifier: BSD-3-Clause
// Scalars of the vectors' type in device memory, by a type that is known when the kernel runs.
#pragma once

#include "sextant/types.h"

namespace graph {

__device__ inline bool is_single(sxt_value_type type) { return type == SXT_F32 || type == SXT_C64; }
__device__ inline int parts_of(sxt_value_type type) { return type == SXT_C64 || type == SXT_C128 ? 2 : 1; }

__device__ inline void set_real(void *place, double value, sxt_value_type type) {
  if (is_single(type)) {
    static_cast<float *>(place)[0] = static_cast<float>(value);
    if (parts_of(type) == 2) static_cast<float *>(place)[1] = 0;
  } else {
    static_cast<double *>(place)[0] = value;
    if (parts_of(type) == 2) static_cast<double *>(place)[1] = 0;
  }
}

}  // namespace graph
