// SPDX-License-Identifier: BSD-3-Clause
#include "core/pcg/knowing.hpp"

#include <algorithm>
#include <cmath>

namespace sextant {

double value_of_knowing(std::span<const Considered> considered, double assumed, double expected, double solves,
                        int octaves) {
  const auto taken =
      std::find_if(considered.begin(), considered.end(), [](const Considered &each) { return each.chosen; });
  if (taken == considered.end()) return HUGE_VAL;
  double loss_s = 0;
  for (int octave = -octaves; octave <= octaves; ++octave) {
    const double times = solves * std::max(1.0, expected * std::exp2(octave)) / assumed;
    const auto total = [&](const Considered &each) { return each.setup_s + times * each.run_s; };
    double best_s = total(*taken);
    for (const Considered &each : considered)
      if (each.applicable && each.run_s > 0) best_s = std::min(best_s, total(each));
    loss_s += total(*taken) - best_s;
  }
  return loss_s / (2 * octaves + 1);
}

}  // namespace sextant
