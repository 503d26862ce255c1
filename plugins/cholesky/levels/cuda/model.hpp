// SPDX-License-Identifier: BSD-3-Clause
// What a factorisation costs with block columns and small fronts of some size, and a solve.
#pragma once

#include <algorithm>

#include "plan.hpp"
#include "sextant/sdk/cuda/exec.hpp"

namespace sextant_cholesky_levels {

// Real operations of a multiplication and an addition.
inline double operations_of(sxt_value_type type) { return type == SXT_C64 || type == SXT_C128 ? 8 : 2; }

// Sets of values and right-hand sides that a session takes at once: as many as are asked for, while their memory is no
// more than half of that of all factors, or little. More right-hand sides than one group has are whole groups.
struct Room {
  std::int64_t sets = 1, columns = 1;
  std::int64_t group() const { return std::min<std::int64_t>(columns, tile_columns); }
};
Room factor_room(const sxt_cholesky_query &query, double update_values);
Room solve_room(const sxt_cholesky_query &query);

// Launches beside those of levels; levels of the tree; columns of the widest front of a level, where that is narrow and
// where it is cut into panels; rows of the longest front and children of the one with most, level by level; bytes of
// the factor and of what fronts hand on; operations by the widths of fronts; fronts.
inline constexpr const char *level_terms[] = {
    "launches",     "latency.levels",      "latency.columns", "latency.panels", "latency.rows", "latency.children",
    "stream_bytes", "stream_bytes.fronts", "flops.narrow",    "flops.middle",   "flops.wide",   "steps.fronts",
    nullptr};
extern const double level_defaults[];

void fill_factor_model(sxt_candidate &candidate, const sxt_cholesky_query &query, const Widths &widths);
void fill_solve_model(sxt_candidate &candidate, const sxt_cholesky_query &query);
// Without a structure.
void estimate_bytes(const sxt_cholesky_query &query, std::uint64_t *host, std::uint64_t *device);

}  // namespace sextant_cholesky_levels
