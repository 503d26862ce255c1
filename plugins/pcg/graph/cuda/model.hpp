// SPDX-License-Identifier: BSD-3-Clause
// The length of blocks, and the cost of a solve.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "session.hpp"

namespace graph {

// Iterations of a block. After convergence a block idles for half of its length on average, and every block costs the
// host's time once: the sum is least where both are equal.
inline std::int64_t block_length(double iterations, double iteration_s, double host_s) {
  const double best = std::sqrt(2 * iterations * host_s / iteration_s);
  return static_cast<std::int64_t>(std::clamp(std::round(best), 4.0, 64.0));
}

sxt_status candidates(const pcg::Recurrence &recurrence, const sxt_pcg_query &query, const sxt_filled *slots,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count);

}  // namespace graph
