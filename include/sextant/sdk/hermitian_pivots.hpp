// SPDX-License-Identifier: BSD-3-Clause
// Checks that a factorisation by Bunch and Kaufman (LAPACK's xHETRF) could have left these pivots: a solve uses them as
// indices into the right-hand sides. Header-only, no part of the ABI.
#pragma once

#include <cstdint>

#include "sextant/types.h"

namespace sextant {

// The place, from 0, of the first pivot that leads out of a system of order n or to where no elimination exchanges
// rows; -1: there is none. O(n).
inline std::int64_t first_wrong_pivot(const std::int32_t *pivots, std::int64_t n, sxt_triangle triangle) noexcept {
  // The upper triangle is eliminated from its last row to the first: its rows count backwards here.
  const bool upper = triangle == SXT_UPPER;
  const auto place = [&](std::int64_t k) { return upper ? n - 1 - k : k; };
  for (std::int64_t k = 0; k < n; ++k) {
    const std::int64_t pivot = pivots[place(k)], row = (pivot < 0 ? -pivot : pivot) - 1;
    if (pivot == 0 || row >= n) return place(k);
    const bool pair = pivot < 0;
    if (pair && (k + 1 == n || pivots[place(k + 1)] != pivot)) return place(k);
    if (place(row) < k + pair) return place(k);
    k += pair;
  }
  return -1;
}

}  // namespace sextant
