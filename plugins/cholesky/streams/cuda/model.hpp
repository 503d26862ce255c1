// SPDX-License-Identifier: BSD-3-Clause
// What a factorisation costs with a mapping of tasks on so many streams, and a solve.
#pragma once

#include "plan.hpp"
#include "sextant/sdk/cuda/exec.hpp"

namespace sextant_cholesky_streams {

// Real operations of a multiplication and an addition.
inline double operations_of(sxt_value_type type) { return type == SXT_C64 || type == SXT_C128 ? 8 : 2; }

// A call; what the host issues for supernodes or panels, and for the ancestors that they reach; levels of the tree, and
// columns of the widest front of those that have wide ones; columns and fronts of the largest leaf subtree; bytes of
// the factor and of what fronts hand on; operations of that subtree, of fronts of up to 256 columns and of wider ones.
inline constexpr const char *stream_terms[] = {"launches",
                                               "launches.tasks",
                                               "launches.ancestors",
                                               "latency.levels",
                                               "latency.columns",
                                               "latency.subtree_columns",
                                               "latency.subtree_fronts",
                                               "stream_bytes",
                                               "stream_bytes.fronts",
                                               "flops.subtree",
                                               "flops.middle",
                                               "flops.wide",
                                               nullptr};
extern const double stream_defaults[];

void fill_factor_model(sxt_candidate &candidate, const sxt_cholesky_query &query, int streams, Mapping mapping);
void fill_solve_model(sxt_candidate &candidate, const sxt_cholesky_query &query);
// Without a structure.
void estimate_bytes(const sxt_cholesky_query &query, int streams, std::uint64_t *host, std::uint64_t *device);

}  // namespace sextant_cholesky_streams
