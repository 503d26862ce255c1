// SPDX-License-Identifier: BSD-3-Clause
// The width of HYB's regular part on a device, by one rule for its storage and for the features of models.
#pragma once

#include <cstdint>

#include "sextant/plugin/kinds/storage.h"
#include "sextant/sdk/kernel.hpp"

namespace sextant::plugin {

struct HybWidth {
  std::int64_t width = 0;
  double rest = 0;  // entries beyond it
};

// The width that is expected to cost the least, in bytes: coordinates take about twice the time of their bytes, and
// having any costs a microsecond, in which 4 MB are read. counts[l]: rows of l entries, l < bins; no width beyond is
// tried.
template <class Count>
HybWidth hyb_cheapest_width(const sxt_storage &a, const Count *counts, int bins) {
  constexpr double having_a_rest = 4e6, slowness = 2;
  const double value = static_cast<double>(value_bytes(a.value_type)), rows = static_cast<double>(a.rows);
  double at_least = rows, rest = static_cast<double>(a.nnz), least = -1;  // rows of h entries or more
  HybWidth best;
  for (int h = 0; h < bins; ++h) {
    if (h > 0) {
      at_least -= static_cast<double>(counts[h - 1]);
      rest -= at_least;
    }
    const double regular = h * rows * (value + 4);
    if (least >= 0 && regular >= least) break;  // and wider ones cost more still
    const double cost = regular + (rest > 0 ? having_a_rest + slowness * rest * (value + 8) : 0);
    if (least >= 0 && cost >= least) continue;
    least = cost;
    best = {h, rest};
  }
  return best;
}

}  // namespace sextant::plugin
