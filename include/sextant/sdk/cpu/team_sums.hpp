// SPDX-License-Identifier: BSD-3-Clause
// Common parts of CPU kernels that share sums among threads: their state, its preparation, and their candidates' terms.
// The plugin has a table of its kernels for each instruction set (sdk/cpu/simd.hpp). Header-only, no part of the ABI.
#pragma once

#include <cstdint>

#include "sextant/sdk/cpu/isa.hpp"
#include "sextant/sdk/cpu/threads.hpp"

namespace sextant::plugin {

template <class Table>
struct TeamSums {
  const Table *table;  // of the instruction set
  std::int64_t threads;
  sxt_value_type type;  // of an element
};

// isa_table: the plugin's table of a level.
template <class Table, const Table &(*isa_table)(int)>
sxt_status prepare_team_sums(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *,
                             const sxt_exec *exec, void **state) {
  return guard(exec, [&] {
    return give(new TeamSums<Table>{&isa_table(isa_level(candidate)), candidate ? candidate->launch[0] : exec->threads,
                                    problem->query->value_type},
                state);
  });
}

// One candidate of operation number `operation`, whose steps are what is spent beside the elements.
inline sxt_candidate &fill_team_sums(sxt_candidate &candidate, int level, int threads, const CpuCost &cost,
                                     std::int32_t operation, double steps) {
  fill(candidate, threads, cost);
  candidate.launch[1] = level;
  candidate.model_class = static_cast<std::uint32_t>(2 * operation + (threads > 1));
  candidate.terms[5] = steps;
  candidate.n_terms = 6;
  return candidate;
}

// A team shares whole leaves. Returns how many it would sum if all threads were as busy as the busiest, and sets the
// imbalance.
inline double share_leaves(std::int64_t leaves, int threads, CpuCost &cost) {
  const std::int64_t busiest = (leaves + threads - 1) / threads;
  cost.imbalance = leaves ? static_cast<double>(busiest * threads) / static_cast<double>(leaves) : 1;
  return static_cast<double>(busiest * threads);
}

}  // namespace sextant::plugin
