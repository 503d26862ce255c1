// SPDX-License-Identifier: BSD-3-Clause
// What a scheduler holds: the plan and the structure on the device, shared by all who factor or solve on it; and what
// one caller works in.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lanes.hpp"
#include "plan.hpp"
#include "plugins/cholesky/shared/tables.hpp"
#include "sextant/sdk/cholesky.hpp"

namespace sextant_cholesky_streams {

using sextant::plugin::cuda::DeviceArray;
using sextant_cholesky::Tables;

inline constexpr std::int64_t most_columns = 8;  // right-hand sides that a sweep takes at once

struct State {
  std::optional<Plan> plan;
  sxt_value_type type = SXT_F64;
  std::int32_t phase = SXT_CHOLESKY_FACTOR;
  int streams = 1;
  std::int64_t sets = 1, columns = 1;
  Tables tables{};
  DeviceArray super_ptr, row_ptr, value_ptr, rows, super_of;
  // The factorisation's.
  DeviceArray entry_from, entry_to, subtrees, contributed, column_at, from_tree, from_row;
  // The solves'. jobs: of all levels, narrow ones, (first, last) each.
  DeviceArray perm, place, child_at, children, jobs;
};

// Bytes in device space; the same sums as the arrays are made of.
std::uint64_t state_bytes(const Plan &plan, bool solves);
std::uint64_t session_bytes(const Plan &plan, sxt_value_type type, bool solves, int streams, std::int64_t sets,
                            std::int64_t columns);

// Copies the structure. Throws cuda::Failure.
void fill(State &state, const sxt_exec *exec);

struct FactorSession {
  explicit FactorSession(int streams) : lanes(streams) {}
  Lanes lanes;
  DeviceArray updates, buffers, tickets, verdicts, marks;
  std::vector<Mark> last;  // of each block column: the task that wrote it last
  std::vector<Target> targets;
  std::vector<std::uint64_t> told;  // verdicts, on the host
  std::vector<std::uint8_t> changed;
  std::vector<const sxt_bound *> dense;  // a part a stream
};

struct SolveSession {
  DeviceArray x, fronts;
};

struct Session {
  std::optional<FactorSession> factor;
  std::optional<SolveSession> solve;
};

void fill(Session &session, const State &state, const sxt_filled *slots, const sxt_exec *exec);

sxt_status load_factor(const sxt_exec *exec, sxt_value_type type, const Limits &limits);
sxt_status load_solve(const sxt_exec *exec, sxt_value_type type);
sxt_status run_factor(const State &state, FactorSession &session, const sxt_cholesky_args &args, const sxt_exec *exec);
sxt_status run_solve(const State &state, const SolveSession &session, const sxt_cholesky_args &args,
                     const sxt_exec *exec);
sxt_status run_pivots(const State &state, const sxt_cholesky_args &args, const sxt_exec *exec);

}  // namespace sextant_cholesky_streams
