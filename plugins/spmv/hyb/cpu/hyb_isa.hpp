// SPDX-License-Identifier: BSD-3-Clause
// The functions for the HYB kernel of the file compiled once an instruction set. No C++ standard header.
#pragma once

#include "plugins/formats/ell_call.hpp"

namespace sextant::spmv_hyb {

struct Table {
  // y = alpha A x + beta y for rows begin .. end-1 of the regular part, all right-hand sides.
  void (*rows[plugin::n_lane_pairs])(const plugin::EllCall &, int64_t begin, int64_t end);
  // y += alpha A x for some coordinates, all right-hand sides.
  void (*rest[plugin::n_lane_pairs])(const plugin::EllCall &, const plugin::CooArrays &, int64_t begin, int64_t end);
};

}  // namespace sextant::spmv_hyb
