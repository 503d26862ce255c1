// SPDX-License-Identifier: BSD-3-Clause
// The functions for the COO kernels of the file compiled once an instruction set. No C++ standard header.
#pragma once

#include "plugins/formats/ell_call.hpp"

namespace sextant::spmv_coo {

// A segment of coordinates and the vectors of one right-hand side; alpha is exact in double for f32 and f64.
struct SegmentCall {
  plugin::CooArrays a;
  const void *x;
  void *y;
  double alpha;
};

struct Table {
  // y += alpha A x for coordinates begin .. end-1, but the sums of the first row and of the last one go to first and
  // last (last is 0 when there is one row only).
  void (*segment[plugin::n_lane_pairs])(const SegmentCall &, int64_t begin, int64_t end, void *first, void *last);
};

}  // namespace sextant::spmv_coo
